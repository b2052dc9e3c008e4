"""A stack listens on loopback, on ports that nobody else has."""

import socket
from contextlib import suppress

import pytest

from services.local import addresses
from services.local.addresses import Addresses, PortTaken, Service


def test_free_ports_are_four_different_ones_below_those_of_outgoing_connections() -> None:
    where = addresses.choose(0)
    ports = {where.port(service) for service in Service}
    assert len(ports) == 4
    assert max(ports) < 32_768


def following() -> Addresses:
    """Four free ports in a row; others on this machine may take one between the look and the choice."""
    for _ in range(100):
        with suppress(PortTaken):
            return addresses.choose(addresses.choose(0).ingress)
    raise AssertionError("there were never four free ports in a row")


def test_ingress_is_at_the_first_port_and_the_others_follow() -> None:
    where = following()
    first = where.ingress
    assert [where.port(service) for service in Service] == [first, first + 1, first + 2, first + 3]
    assert where.url(Service.INGRESS) == f"http://127.0.0.1:{first}"


def test_a_taken_port_is_named() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {taken} is not free"):
            addresses.choose(taken)


def test_a_port_that_cannot_be_is_refused() -> None:
    with pytest.raises(PortTaken, match="port 65536 is not free"):
        addresses.choose(65_535)
