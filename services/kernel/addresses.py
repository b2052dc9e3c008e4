"""Which hosts are out there for everybody: the one judgement about where a connection of ours may go.

Pure. A host is read as a resolver would read it (`0x7f.1`, `2130706433` and `127.0.0.1` are one address), or refused; a
name is judged by every address that it resolves to. What is not known to be public is not.

Tables: the IANA registries of special-purpose addresses. IPv6 is public in 2000::/3 alone, less what is listed.
"""

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, TypeAlias

from services.kernel.errors import Invalid

Address: TypeAlias = IPv4Address | IPv6Address


class NotAHost(Invalid):
    """It is not a host that two readers would take for the same."""


_NOT_PUBLIC_4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the metadata server
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, and Oracle's metadata server
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_PUBLIC_6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID and others
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries any IPv4 address
        "3fff::/20",  # documentation
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")

_IPV4_PART = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_ENDS_IN_A_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9a-fA-F]*)")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_LONGEST_NAME: Final = 253


def is_global(address: Address) -> bool:
    """Whether anybody on the internet would reach the same machine there.

    A form that carries an IPv4 address (IPv4-mapped, and NAT64's well-known prefix) is judged by that address; one that
    may carry any, as 6to4 and Teredo do, is not public, and neither is one with a zone.
    """
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    if (carried := _carried(address)) is not None:
        return is_global(carried)
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)


def refused(addresses: Iterable[Address]) -> Address | None:
    """The first address that is not public; one is enough, for who answers a query chooses which is used."""
    return next((address for address in addresses if not is_global(address)), None)


def host(text: str) -> str | Address:
    """A host as it is written in a URL: an address in whatever notation, or a name in lower case without its last dot.

    Raises:
        NotAHost: not ASCII, an escape, a zone, or anything that is neither a name nor a whole address.
    """
    if not text.isascii():
        raise NotAHost("a host is written in ASCII; a name in another script by its xn-- form")
    if text.startswith("[") and text.endswith("]"):
        return _ipv6(text[1:-1])
    name = text.lower()
    if _ENDS_IN_A_NUMBER.fullmatch(name.removesuffix(".")):
        return _ipv4(name)
    name = name.removesuffix(".")
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise NotAHost("it is neither a name nor an address")
    return name


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None


def _ipv6(text: str) -> IPv6Address:
    try:
        address = IPv6Address(text)
    except AddressValueError as error:
        raise NotAHost("it is not an IPv6 address") from error
    if address.scope_id is not None:
        raise NotAHost("an address with a zone means another machine on each machine")
    return address


def _ipv4(text: str) -> IPv4Address:
    """As inet_aton(3) reads it: one to four parts, each decimal, octal or hexadecimal, the last one fills what is left.

    Nothing else that ends in a number is left to resolvers, which do not agree on it.
    """
    parts = text.split(".")
    if len(parts) > 4 or not all(_IPV4_PART.fullmatch(part) for part in parts):
        raise NotAHost("it ends in a number and is no IPv4 address")
    *leading, last = (_number(part) for part in parts)
    if any(part > 0xFF for part in leading) or last >= 256 ** (4 - len(leading)):
        raise NotAHost("a part of this IPv4 address is too large")
    return IPv4Address(sum(part << 8 * (3 - place) for place, part in enumerate(leading)) + last)


def _number(part: str) -> int:
    if len(part) > 16:
        raise NotAHost("a part of this IPv4 address is too large")
    try:
        if part.lower().startswith("0x"):
            return int(part, 16)
        return int(part, 8 if part.startswith("0") else 10)
    except ValueError as error:
        raise NotAHost("a part of this IPv4 address is no number") from error
