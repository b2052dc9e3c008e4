"""The command beside the whole product, with an operator's files."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import uvicorn

from services.kernel.adapters.clock import SystemClock
from tests.unit.cli.conftest import Anvil, Result
from tests.unit.coordinator.book import COLLECTION, LONGEST, document
from tests.unit.coordinator.callers import KeyFile
from tests.unit.coordinator.instance import Place
from tests.unit.kernel.world import MovableClock
from tests.unit.whole import Whole, whole

ROLES = """[
  {"principal": "admin@anvil.local", "role": "admin", "projects": ["*"]},
  {"principal": "viewer@anvil.local", "role": "viewer", "projects": ["*"]}
]"""
REF = f"firestore/{COLLECTION}/{document(1)}"


class MachineClock(MovableClock):
    """The machine's own time, from which a test may stand apart."""

    def now(self) -> datetime:
        return SystemClock().now() + self.passed

    def elapsed(self) -> timedelta:
        return SystemClock().elapsed() + self.passed


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The command beside a local stack, with an operator's files."""

    anvil: Anvil
    whole: Whole

    async def __call__(self, *arguments: str, stdin: str = "") -> Result:
        return await self.anvil(*arguments, stdin=stdin)

    def file(self, name: str, text: str) -> str:
        (self.anvil.working / name).write_text(text)
        return name

    async def execute(self, mode: str = "required", *more: str) -> Result:
        source = self.file("input.json", '{"customer": "c-1"}')
        return await self("operation", "execute", f"make-{mode}", "--input", source, *more)

    async def unknown(self, number: int = 1) -> str:
        """A row whose attempts ended long ago, by this machine's time as well; its version."""
        clock = self.whole.place.clock
        clock.move(-LONGEST * 2)
        reserved = await self.whole.book.reserve(number, operation="make-required")
        clock.move(LONGEST * 2)
        return reserved.version

    async def complete(self, version: str, *more: str) -> Result:
        answer = self.file("answer.json", '{"status": 201, "body": {"invoice": "i-1", "secret": "planted"}}')
        evidence = self.file("export.csv", "invoice;customer\ni-1;c-1\n")
        settled = (
            "--if-version",
            version,
            "--response-file",
            answer,
            "--evidence",
            evidence,
            "--reason",
            "it is there",
        )
        return await self("ledger", "complete", REF, *settled, *more)

    async def release(self, version: str, *more: str) -> Result:
        said = ("--if-version", version, "--evidence", f"sha256:{'e' * 64}", "--reason", "it is not there")
        return await self("ledger", "release", REF, *said, *more)


@asynccontextmanager
async def desk_of(anvil: Anvil, key_file: Path, folder: Path) -> AsyncGenerator[Desk]:
    with ThreadPoolExecutor(2) as executor:
        place = Place(folder=folder, keys=KeyFile(key_file), executor=executor, clock=MachineClock())
        async with whole(place, roles=ROLES) as made, _listening(made) as endpoint:
            anvil.state.mkdir(mode=0o700, parents=True)
            (anvil.state / "issuer.pem").symlink_to(key_file)
            (anvil.state / "endpoint").write_text(endpoint)
            yield Desk(anvil=anvil, whole=made)


@asynccontextmanager
async def _listening(made: Whole) -> AsyncGenerator[str]:
    """Where the ingress listens."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(made.ingress, log_config=None, lifespan="off"))
    serve = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serve
