"""What every test stands on: one event loop, and no network but loopback."""

import ipaddress
import sys
from collections.abc import AsyncGenerator
from typing import cast

import pytest

pytest_plugins = ["tests.emulator.plugin"]


class NotLoopback(BaseException):
    """A test reached for the network. Not an `Exception`, so that no retry can swallow it."""


def _refuse_the_network(event: str, args: tuple[object, ...]) -> None:
    if event != "socket.connect":
        return
    address = args[1]
    if isinstance(address, tuple):
        host = cast("tuple[object, ...]", address)[0]
        if isinstance(host, str) and not _is_loopback(host):
            raise NotLoopback(host)


def _is_loopback(host: str) -> bool:
    return host == "localhost" or ipaddress.ip_address(host.partition("%")[0]).is_loopback


def pytest_configure() -> None:
    sys.addaudithook(_refuse_the_network)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def one_event_loop(anyio_backend: str) -> AsyncGenerator[None]:
    """One loop from here to the end, for whoever uses gRPC: its poller goes on calling a loop that it has met."""
    yield  # noqa: PT022 (the loop lives as long as a generator does)
