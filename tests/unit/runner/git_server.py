"""A Git host on loopback, as odd as a test wants it."""

import os
import subprocess
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

Respond = Callable[[BaseHTTPRequestHandler], None]


def smart(path: Path, *, protocol: int = 2) -> Respond:
    """Git's own server program for HTTP, over the repository at `path`."""

    def respond(request: BaseHTTPRequestHandler) -> None:
        place, _, query = request.path.partition("?")
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "http-backend"],
            input=body,
            env={
                "PATH": os.environ["PATH"],
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROJECT_ROOT": str(path),
                "PATH_INFO": place,
                "QUERY_STRING": query,
                "REQUEST_METHOD": request.command,
                "CONTENT_TYPE": request.headers.get("Content-Type") or "",
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding") or "",
                **({"GIT_PROTOCOL": request.headers.get("Git-Protocol") or ""} if protocol == 2 else {}),
            },
            capture_output=True,
            check=False,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        answer(request, content, headers, status=int(headers.pop("Status", "200").split()[0]))

    return respond


def redirecting(to: str) -> Respond:
    """Sends everybody elsewhere."""

    def respond(request: BaseHTTPRequestHandler) -> None:
        answer(request, b"", {"Location": to + request.path}, status=302)

    return respond


def shouting(text: bytes) -> Respond:
    """Has a repository of one commit, and nothing but this to say, by side-band, about a fetch of it."""
    head = b"1" * 40
    first = head + b" refs/heads/main\0side-band-64k allow-reachable-sha1-in-want allow-tip-sha1-in-want shallow\n"

    def respond(request: BaseHTTPRequestHandler) -> None:
        if request.command == "GET":
            content = _packet(b"# service=git-upload-pack\n") + b"0000" + _packet(first) + b"0000"
            answer(request, content, {"Content-Type": "application/x-git-upload-pack-advertisement"})
        else:
            asked = request.rfile.read(int(request.headers.get("Content-Length") or 0))
            said = _packet(b"NAK\n") + _packet(b"\x02" + text + b"\n") + _packet(b"\x03" + text)
            content = _packet(b"shallow " + head) + b"0000" + (said if b"done" in asked else b"")
            answer(request, content, {"Content-Type": "application/x-git-upload-pack-result"})

    return respond


def answer(request: BaseHTTPRequestHandler, content: bytes, headers: Mapping[str, str], *, status: int = 200) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)


@contextmanager
def listening(respond: Respond) -> Generator[tuple[str, list[str]]]:
    """The server's URL, and the requests that it has got so far."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.command} {self.path}")
            respond(self)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = Thread(target=server.serve_forever)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def _packet(content: bytes) -> bytes:
    """One pkt-line (gitprotocol-common(5))."""
    return f"{len(content) + 4:04x}".encode() + content
