"""Which hosts are public: in every notation, in every form that may carry another address."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel.addresses import NotAHost, host, is_global, refused

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.88.98.255",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2600::",
    "2a00:1450:4001:801::200e",
    "3ffe::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
]

NOT_PUBLIC = {
    "unspecified": ["0.0.0.0", "::"],
    "this network": ["0.1.2.3", "0.255.255.255"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fdff::1"],
    "link-local": ["169.254.0.1", "fe80::1", "febf::1"],
    "metadata servers": ["169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "192.0.0.192", "100.100.100.200"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.255"],
    "protocol assignments": ["192.0.0.1", "192.0.0.171", "2001::1", "2001:1ff:ffff::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1", "3fff:fff::1"],
    "benchmarking": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.254", "4000::1", "8000::1", "fec0::1", "5f00::1", "100::1"],
    "broadcast": ["255.255.255.255"],
    "6to4": ["2002:7f00:1::1", "2002:808:808::1", "192.88.99.1"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001::7f00:1"],
    "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0"],
    "IPv4-compatible": ["::127.0.0.1", "::8.8.8.8", "::2"],
    "IPv4-translated": ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
    "NAT64": ["64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8"],
    "with a zone": ["2600::1%eth0", "fe80::1%1"],
}

LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0X7F000001",
    "0x7F.0x0.0x0.0x1",
    "0177.0.0.1",
    "0177.0.0.01",
    "00000177.0.0.1",
    "127.0x1",
    "0x7f.1",
    "127.000.000.001",
]

METADATA = ["169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "169.16689662"]

REFUSED = [
    "",
    ".",
    "..",
    "127.0.0.1.",
    "127.0.0.1..",
    "1.2.3.4.5",
    "256.0.0.1",
    "1.2.3.256",
    "1.2.65536",
    "1.16777216",
    "4294967296",
    "0x100000000",
    "040000000001" * 3,
    "99999999999999999999999999",
    "08.0.0.1",
    "0x",
    "0x.1",
    "1.2.3.0xg.5",
    "example.123",
    "example.0x7f",
    "1..2",
    "-1",
    "+1",
    " 127.0.0.1",
    "127.0.0.1 ",
    "127.0.0.1\n",
    "127.0.0.1\t",
    "127.0.0.1\0",
    "127%2e0.0.1",
    "%31%32%37.0.0.1",
    "example.com%00",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "ⓔxample.com",
    "exämple.com",
    "٣.example.com",
    "::1",
    "[::1",
    "[]",
    "[fe80::1%eth0]",
    "[fe80::1%25eth0]",
    "[::1]x",
    "[127.0.0.1]",
    "[example.com]",
    "[v1.x]",
    "user@example.com",
    "example.com:80",
    "example.com/",
    "example.com?x",
    "example.com#x",
    "exam\\ple.com",
    "exa mple.com",
    "-example.com",
    "example-.com",
    "a" * 64 + ".com",
    ".".join(["a" * 49] * 6),
    ".example.com",
    "example..com",
    "*.example.com",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_what_anybody_reaches_is_public(text: str) -> None:
    assert is_global(ip_address(text))


@pytest.mark.threat("A27")
@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in NOT_PUBLIC.items() for text in texts])
def test_nothing_else_is(kind: str, text: str) -> None:
    assert not is_global(ip_address(text)), kind


@pytest.mark.threat("A27")
@pytest.mark.parametrize(
    ("texts", "stands_for"), [(LOOPBACK, "127.0.0.1"), (METADATA, "169.254.169.254"), (["134744072"], "8.8.8.8")]
)
def test_an_address_is_one_address_in_every_notation(texts: list[str], stands_for: str) -> None:
    assert {host(text) for text in texts} == {IPv4Address(stands_for)}


@pytest.mark.parametrize(
    ("text", "stands_for"),
    [("[::1]", "::1"), ("[0:0:0:0:0:0:0:1]", "::1"), ("[::FFFF:127.0.0.1]", "::ffff:7f00:1"), ("[2600::]", "2600::")],
)
def test_an_ipv6_address_stands_in_brackets(text: str, stands_for: str) -> None:
    assert host(text) == IPv6Address(stands_for)


@pytest.mark.threat("A27")
@pytest.mark.parametrize("text", REFUSED)
def test_what_two_readers_might_read_differently_is_refused(text: str) -> None:
    with pytest.raises(NotAHost):
        host(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("example.com", "example.com"),
        ("EXAMPLE.Com.", "example.com"),
        ("xn--exmple-cua.com", "xn--exmple-cua.com"),
        ("localhost", "localhost"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("1.example", "1.example"),
        ("0x7f.example", "0x7f.example"),
        ("metadata.google.internal", "metadata.google.internal"),
        ("a", "a"),
    ],
)
def test_a_name_is_lower_case_and_has_no_last_dot(text: str, name: str) -> None:
    assert host(text) == name


@pytest.mark.threat("A27")
def test_one_address_that_is_not_public_is_enough() -> None:
    found = [ip_address(text) for text in ("8.8.8.8", "2600::1", "10.0.0.1", "127.0.0.1")]
    assert refused(found) == ip_address("10.0.0.1")
    assert refused(found[:2]) is None


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_reads_the_same_in_every_notation(address: IPv4Address) -> None:
    number, parts = int(address), address.packed
    last_two = parts[2] << 8 | parts[3]
    texts = [
        str(address),
        str(number),
        hex(number),
        "0" + oct(number)[2:],
        ".".join(hex(part) for part in parts),
        ".".join(f"0{part:o}" for part in parts),
        f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{last_two}",
    ]
    assert {host(text) for text in texts} == {address}


@given(st.ip_addresses(v=4))
def test_an_ipv6_form_is_never_more_public_than_the_address_that_it_carries(address: IPv4Address) -> None:
    number = int(address)
    forms = [
        0xFFFF << 32 | number,
        0x64FF9B << 96 | number,
        number,
        0x2002 << 112 | number << 80,
        0x20010000 << 96 | number,
    ]
    for form in forms:
        assert is_global(address) or not is_global(IPv6Address(form))


@given(st.ip_addresses(v=4))
def test_no_address_is_public_that_the_registry_calls_private(address: IPv4Address) -> None:
    assert not (is_global(address) and (address.is_private or address.is_multicast or address.is_reserved))
    assert not (is_global(address) and address in IPv4Network("100.64.0.0/10"))


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_is_public_that_the_registry_calls_private(address: IPv6Address) -> None:
    assert not (is_global(address) and (address.is_private or address.is_multicast or address.is_link_local))


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_whatever_the_text_it_is_a_host_or_refused(text: str) -> None:
    try:
        found = host(text)
    except NotAHost:
        return
    assert isinstance(found, IPv4Address | IPv6Address) or (found.isascii() and found == found.lower())
