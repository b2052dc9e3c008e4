"""The walk-through of docs/operations/unknown-outcome.md does what it says, line by line."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.local_minter import LocalMinter
from services.local import addresses, identities, stack, state
from services.local.stack import Stack
from tests.e2e.walkthrough.console import commands, console
from tests.unit.local.reports import Reports

pytestmark = [pytest.mark.anyio, pytest.mark.soak, pytest.mark.timeout(300)]

PAGES = Path(__file__).parents[3] / "docs" / "operations"
PORT = "9090"
"""The billing system's, on the page."""


def free_port() -> str:
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        return str(probing.getsockname()[1])


@asynccontextmanager
async def billing(port: str) -> AsyncGenerator[None]:
    process = await asyncio.create_subprocess_exec(sys.executable, str(PAGES / "billing.py"), port)
    try:
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", int(port))
            except ConnectionRefusedError:
                await asyncio.sleep(0.1)
                continue
            writer.close()
            break
        yield
    finally:
        process.terminate()
        await process.wait()


async def operator(running: Stack, folder: Path) -> Mapping[str, str]:
    """The environment of the third terminal."""
    tools = folder / "tools"
    tools.mkdir()
    anvil = tools / "anvil"
    anvil.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from services.cli.main import main; main()" "$@"\n')
    anvil.chmod(0o755)
    (folder / "state").symlink_to(running.state.root)
    minter = LocalMinter(
        running.state.issuer_key, email="operator@anvil.local", issuer=identities.ISSUER, clock=SystemClock()
    )
    return {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOME": str(folder),
        "PYTHONPATH": str(PAGES.parents[1]),
        "ANVIL_ENDPOINT": running.endpoint,
        "ANVIL_TOKEN": (await minter.mint(identities.INGRESS_AUDIENCE)).value,
    }


@pytest.mark.req("R135")
@pytest.mark.req("R136")
@pytest.mark.inv("I12")
async def test_the_walk_through_does_what_it_says(tmp_path: Path, anyio_backend: str) -> None:
    port = free_port()
    page = (PAGES / "unknown-outcome.md").read_text().replace(PORT, port)
    with state.held(tmp_path / "stack") as directory:
        directory.operations.write_text((PAGES / "operations.yml").read_text().replace(PORT, port))
        async with (
            billing(port),
            stack.running(directory, addresses=addresses.choose(0), report=Reports()) as running,
            console(tmp_path, await operator(running, tmp_path)) as terminal,
        ):
            for command in commands(page):
                printed = await terminal.run(command.typed)
                assert command.keeps(printed), (
                    f"$ {command.typed}\n{printed}\n--- but the page promises ---\n" + "\n".join(command.promised)
                )
