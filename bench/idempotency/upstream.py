"""The other system: it charges, writes each charge down in a file, and then behaves as it is told to."""

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class Upstream:
    """`effects` is the ground truth: a line for each charge, appended before any answer.

    Its next answer is `late` by so many seconds, is `filler` bytes longer, or, if it `hangs_up`, never comes.
    """

    url: str
    effects: Path
    late: float = 0
    filler: int = 0
    hangs_up: bool = False

    @property
    def charges(self) -> int:
        return len(self.effects.read_text().splitlines()) if self.effects.exists() else 0

    def behave(self, *, late: float = 0, filler: int = 0, hangs_up: bool = False) -> None:
        self.late, self.filler, self.hangs_up = late, filler, hangs_up

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        asked = json.loads(await reader.readexactly(int(length[1]) if length else 0))
        late, filler, hangs_up = self.late, self.filler, self.hangs_up
        number = self._charge(str(asked["payer"]))
        if hangs_up:
            writer.transport.abort()
            return
        await asyncio.sleep(late)
        body = json.dumps({"number": number, "payer": asked["payer"], "filler": "x" * filler}).encode()
        writer.write(
            b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        writer.close()

    def _charge(self, payer: str) -> int:
        handle = os.open(self.effects, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            os.write(handle, f"{payer}\n".encode())
        finally:
            os.close(handle)
        return self.charges


@asynccontextmanager
async def upstream(effects: Path) -> AsyncGenerator[Upstream]:
    charging = Upstream(url="", effects=effects)
    server = await asyncio.start_server(charging.serve, "127.0.0.1", 0)
    async with server:
        charging.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield charging
