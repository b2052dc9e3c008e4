"""What every test stands on: one event loop, and no network but loopback."""

import ipaddress
import sys
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
