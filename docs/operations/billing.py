"""A billing system to try operations on: it books each invoice once for an idempotency key, and can lose its answers.

    python3 billing.py [PORT]

    POST /invoices          book one
    GET  /invoices?key=…    what was booked under this key
    PUT  /hang-up           'before' or 'after' it has booked, or 'never': when it closes connections without an answer

Everything is forgotten when it stops.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BOOK: dict[str, dict[str, object]] = {}


class Billing(BaseHTTPRequestHandler):
    hang_up = "never"

    def do_PUT(self) -> None:
        Billing.hang_up = self.body().decode()
        self.answer(200, self.hang_up)

    def do_POST(self) -> None:
        asked = json.loads(self.body())
        if self.hang_up == "before":
            return
        key = self.headers["Idempotency-Key"]
        invoice = BOOK.setdefault(key, {"invoice": len(BOOK) + 1, **asked})
        if self.hang_up == "after":
            return
        self.answer(201, invoice)

    def do_GET(self) -> None:
        wanted = parse_qs(urlsplit(self.path).query).get("key", list(BOOK))
        self.answer(200, [BOOK[key] for key in wanted if key in BOOK])

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
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9090
    ThreadingHTTPServer(("127.0.0.1", port), Billing).serve_forever()
