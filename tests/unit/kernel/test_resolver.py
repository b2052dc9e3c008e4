"""The machine's own resolver, and that it and our reading of hosts come to the same address."""

import socket
from ipaddress import IPv4Address, ip_address

import pytest

from services.kernel.adapters.resolver import SystemResolver
from services.kernel.addresses import host
from services.kernel.errors import Unavailable

pytestmark = pytest.mark.anyio


async def test_a_name_stands_for_its_addresses(anyio_backend: str) -> None:
    found = await SystemResolver().resolve("localhost")
    assert set(found) <= {ip_address("127.0.0.1"), ip_address("::1")}
    assert len(set(found)) == len(found) > 0


async def test_a_name_that_nobody_knows_is_told_by_itself(anyio_backend: str) -> None:
    with pytest.raises(Unavailable, match=r"nobody-has-this-name\.invalid"):
        await SystemResolver().resolve("nobody-has-this-name.invalid")


@pytest.mark.threat("A27")
@pytest.mark.parametrize("text", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.0x1", "0X7F.0.1"])
def test_the_c_library_reads_a_number_as_we_do(text: str) -> None:
    assert host(text) == IPv4Address(socket.inet_aton(text)) == IPv4Address("127.0.0.1")
