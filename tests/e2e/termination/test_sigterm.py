"""A service that is told to go answers what it has taken, comes to its end, and ends well."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.local_minter import LocalMinter
from services.kernel.ids import new_project_id
from services.kernel.wire.internal import CREATE_PROJECT, CreateProject
from services.local import addresses, identities, stack, state
from services.local.addresses import Service
from services.local.stack import Stack
from services.local.story.api import Api
from tests.e2e.stack.workplace import Workplace
from tests.unit.local.reports import Reports

pytestmark = pytest.mark.anyio

SHUTS_DOWN = '"Shutting down"'
LOOKS, LOOK_AGAIN = 100, 0.05


@pytest.fixture(scope="module")
def reports() -> Reports:
    return Reports()


@pytest.fixture(scope="module")
async def running(
    tmp_path_factory: pytest.TempPathFactory, reports: Reports, anyio_backend: str
) -> AsyncGenerator[Stack]:
    with state.held(tmp_path_factory.mktemp("stack")) as directory:
        where = addresses.choose(0)
        chosen = frozenset({Service.PLATFORM, Service.COORDINATOR, Service.INGRESS})
        async with stack.running(directory, addresses=where, report=reports, chosen=chosen) as started:
            yield started


class Request:
    """A request whose body is still to come: the service waits for it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> None:
        self._reader = reader
        self._writer = writer
        self._body = body

    @classmethod
    async def begin(cls, port: int, path: str, headers: Mapping[str, str], body: bytes) -> "Request":
        reader, writer = await asyncio.open_connection(addresses.HOST, port)
        lines = {"Host": "anvil", **headers, "Content-Length": str(len(body)), "Expect": "100-continue"}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode())
        # Said when the application asks for the body (RFC 9110 §10.1.1).
        assert (await reader.readline()).startswith(b"HTTP/1.1 100 ")
        assert await reader.readline() == b"\r\n"
        return cls(reader, writer, body)

    async def finish(self) -> int:
        """Send the body; the answer's status."""
        self._writer.write(self._body)
        status = int((await self._reader.readline()).split()[1])
        self._writer.close()
        return status


async def told_to_go(running: Stack, service: Service) -> Path:
    """The service's log, as soon as it says there that it shuts down."""
    log = running.state.log(service)
    before = log.read_text().count(SHUTS_DOWN)
    os.kill(running.pid(service), signal.SIGTERM)
    for _ in range(LOOKS):
        if log.read_text().count(SHUTS_DOWN) > before:
            return log
        await asyncio.sleep(LOOK_AGAIN)
    raise AssertionError(f"{service} took no notice")


async def test_the_coordinator_answers_what_it_has_taken_before_it_ends(running: Stack, reports: Reports) -> None:
    project = CreateProject(
        project_id=new_project_id(SystemIds()),
        actor=identities.ADMIN,
        slug="late",
        name="late",
        repository_url="https://example.com/late.git",
    )
    minter = LocalMinter(
        running.state.issuer_key, email=identities.CONSOLE, issuer=identities.ISSUER, clock=SystemClock()
    )
    token = (await minter.mint(identities.COORDINATOR_AUDIENCE)).value
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = await Request.begin(
        running.addresses.coordinator,
        CREATE_PROJECT.path,
        headers,
        project.model_dump_json(exclude_unset=True).encode(),
    )

    log = await told_to_go(running, Service.COORDINATOR)
    assert await request.finish() == 201
    await reports.until("coordinator ended with exit code 0")
    assert "Application shutdown complete." in log.read_text()
    await reports.until("coordinator is back")


async def test_ingress_answers_a_push_that_it_has_taken_before_it_ends(
    running: Stack, reports: Reports, tmp_path: Path
) -> None:
    async with Api.of(running) as api:
        workplace = await Workplace.make(api, "pushed", folder=tmp_path)
    push = workplace.push("1" * 40)
    headers = push.headers(secret=workplace.secret)
    request = await Request.begin(running.addresses.ingress, "/api/public/hooks/github/pushed", headers, push.body)

    log = await told_to_go(running, Service.INGRESS)
    assert await request.finish() == 202
    await reports.until("ingress ended with exit code 0")
    assert "Application shutdown complete." in log.read_text()
    await reports.until("ingress is back")
