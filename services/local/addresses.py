"""Where the processes of a local stack listen: loopback only."""

import random
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

HOST = "127.0.0.1"

# Below the range from which the kernel takes the ports of outgoing connections (32768 on), so that no connection of our
# own takes a port while its process is being restarted.
_FREE = range(20_000, 32_000)


class Service(StrEnum):
    """The processes of a local stack. `platform` plays what Google Cloud does around the other three."""

    INGRESS = "ingress"
    COORDINATOR = "coordinator"
    RUNNER = "runner"
    PLATFORM = "platform"


class PortTaken(Exception):
    """Something else listens where the stack should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    ingress: int
    coordinator: int
    runner: int
    platform: int

    def port(self, service: Service) -> int:
        match service:
            case Service.INGRESS:
                return self.ingress
            case Service.COORDINATOR:
                return self.coordinator
            case Service.RUNNER:
                return self.runner
            case Service.PLATFORM:
                return self.platform

    def bind(self, service: Service) -> str:
        return f"{HOST}:{self.port(service)}"

    def url(self, service: Service) -> str:
        return f"http://{self.bind(service)}"


def choose(first: int) -> Addresses:
    """`first` for ingress and the next ones for the others; free ones anywhere if `first` is 0.

    Raises:
        PortTaken: one of them is in use.
    """
    ports = free(len(Service)) if first == 0 else _unless_taken(range(first, first + len(Service)))
    ingress, coordinator, runner, platform = ports
    return Addresses(ingress=ingress, coordinator=coordinator, runner=runner, platform=platform)


def _unless_taken(ports: Iterable[int]) -> Iterable[int]:
    for port in ports:
        if not _is_free(port):
            raise PortTaken(
                f"port {port} is not free; --port names another first one, --port 0 takes any that are free"
            )
    return ports


def free(count: int) -> list[int]:
    """Ports that nobody uses now.

    Raises:
        PortTaken: there are not so many.
    """
    found: list[int] = []
    for port in random.sample(_FREE, len(_FREE)):
        if _is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    raise PortTaken(f"there are no {count} free ports from {_FREE.start} to {_FREE.stop - 1}")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do: a port whose last connections are still in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            return False
    return True
