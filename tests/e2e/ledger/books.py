"""Another system, as a process: it writes down each thing that it does, and can keep its answer to itself.

python books.py PORT FILE

POST /invoices     do it, and write a line with the idempotency key
PUT  /answers      'at once', 'never' (it does it and closes the connection) or 'late' (it does it and hangs)
"""

import json
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock


class Books(BaseHTTPRequestHandler):
    answers = "at once"
    file = Path()
    lock = Lock()

    def do_PUT(self) -> None:
        Books.answers = self.body().decode()
        self.answer(200, {})

    def do_POST(self) -> None:
        self.body()
        with Books.lock, Books.file.open("a") as file:
            file.write(f"{self.headers['Idempotency-Key']}\n")
        if Books.answers == "never":
            return
        if Books.answers == "late":
            time.sleep(1.5)
        with suppress(BrokenPipeError):
            self.answer(201, {"invoice": "i-1", "token": "canary-answer"})

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, status: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    Books.file = Path(sys.argv[2])
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Books).serve_forever()
