"""What every test stands on: one event loop, and no network but loopback."""

import ipaddress
import sys

import pytest


class NotLoopback(BaseException):
    """A test reached for the network. Not an `Exception`, so that no retry can swallow it."""


def _refuse_the_network(event: str, args: tuple[object, ...]) -> None:
    if event != "socket.connect":
        return
    match args[1]:
        case (str(host), *_) if host != "localhost" and not ipaddress.ip_address(host.split("%")[0]).is_loopback:
            raise NotLoopback(host)
        case _:
            return


def pytest_configure() -> None:
    sys.addaudithook(_refuse_the_network)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
