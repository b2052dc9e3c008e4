"""Programs that behave like a served service, and badly, without any of Anvil in them."""

import os
import sys
from pathlib import Path

import pytest

from services.local import addresses
from services.local.addresses import Addresses, Service
from services.local.program import Program

SERVER = """
import http.server, os, pathlib, sys

class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

master = os.getpid()
if os.fork() == 0:  # As gunicorn does: a worker serves, and goes on if its master is killed.
    http.server.HTTPServer.allow_reuse_address = True
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ready).serve_forever()
os.wait()
"""

DEAF = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{SERVER}"
"""Takes no notice of SIGTERM, nor does its worker."""


@pytest.fixture
def where() -> Addresses:
    return addresses.choose(0)


@pytest.fixture
def serves(tmp_path: Path, where: Addresses) -> Program:
    return program(tmp_path, where, script=SERVER)


def program(folder: Path, where: Addresses, *, script: str, service: Service = Service.RUNNER) -> Program:
    """`script` in Python, told the port to serve on."""
    return Program(
        name=service,
        command=(sys.executable, "-c", script, str(where.port(service))),
        environment=dict(os.environ),
        log=folder / f"{service}.log",
        ready_url=f"{where.url(service)}/health/ready",
    )
