"""Where a call to another system goes: to the addresses that were judged, to who proves the name, and nowhere else."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.coordinator.audit import Audit
from services.coordinator.layout import INDEXES
from services.coordinator.operations import catalogue
from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.operations import Deployment, Operations
from services.coordinator.operations.upstream import HttpCaller
from services.kernel.adapters.resolver import SystemResolver
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.addresses import Address
from services.kernel.errors import AnvilError, UpstreamUnavailable
from services.kernel.ports import Resolver
from services.kernel.strict_yaml import Refused
from services.kernel.wire.operations import Executed, ExecuteOperation
from tests.unit.kernel.world import CountingIds, MovableClock

pytestmark = pytest.mark.anyio

LOOPBACK = ip_address("127.0.0.1")
PUBLIC = ip_address("8.8.8.8")

LIVE = """\
version: 1
operations:
  - id: ping
    title: Ping
    approved: true
    upstream: {upstream}
    method: POST
    path: /ping
    input: {{type: object}}
    idempotency: {{mode: natural}}
    success: [200]
    timeoutSeconds: 5
"""


@dataclass(slots=True)
class Names:
    """Implements `ports.Resolver`: one answer after another, the last for good; counts the questions."""

    answers: list[tuple[Address, ...]]
    asked: list[str] = field(default_factory=list[str])

    async def resolve(self, host: str) -> tuple[Address, ...]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@dataclass(slots=True)
class Server:
    """Answers 200 to everything, over TLS if it has a certificate; remembers requests and the names asked for."""

    port: int = 0
    requests: list[str] = field(default_factory=list[str])
    names: list[str | None] = field(default_factory=list[str | None])
    connections: int = 0
    location: str | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            self.requests.append((await reader.read(65_536)).decode(errors="replace"))
            status = "200 OK" if self.location is None else f"302 Found\r\nLocation: {self.location}"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}".encode())
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except OSError:
            return


@asynccontextmanager
async def serving(trust: ssl.SSLContext | None = None) -> AsyncGenerator[Server]:
    made = Server()
    if trust is not None:
        trust.sni_callback = lambda _, name, __: made.names.append(name)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=trust)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await server.wait_closed()


@dataclass(frozen=True, slots=True)
class Authority:
    """Issues certificates for names; `trusting` believes them and nobody else's."""

    folder: Path
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def trusting(self) -> ssl.SSLContext:
        root = self._signed("The only authority", self.key, x509.BasicConstraints(ca=True, path_length=None))
        return ssl.create_default_context(cadata=root.public_bytes(serialization.Encoding.PEM).decode())

    def server(self, name: str, *, days: int = 1) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name)])
        certificate = self._signed(name, key, alternatives, days=days)
        file = self.folder / f"{name}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(
        self, name: str, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType, *, days: int = 1
    ) -> x509.Certificate:
        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

        now = datetime.now(UTC)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named("The only authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=10))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
            .add_extension(identifier, critical=False)
            .add_extension(issuer, critical=False)
        )
        return builder.sign(self.key, hashes.SHA256())


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqliteStore]:
    with ThreadPoolExecutor(1) as executor:
        made = SqliteStore(
            tmp_path / "state.sqlite", namespace="test", indexes=INDEXES, executor=executor, clock=MovableClock()
        )
        yield made
        made.close()


async def execute(
    store: SqliteStore,
    upstream: str,
    *,
    resolver: Resolver,
    trust: ssl.SSLContext | None = None,
    allow_local: bool = True,
) -> Executed:
    """Execute an operation at this upstream, which the catalogue may have; `allow_local` is about addresses."""
    clock, ids = MovableClock(), CountingIds()
    found = catalogue.parse(LIVE.format(upstream=upstream).encode(), replay_ttl=timedelta(days=1), allow_local=True)
    operations = Operations(
        found,
        deployment=Deployment(service="anvil", environment="test", allow_local=allow_local),
        caller=HttpCaller(resolver, trust=trust or ssl.create_default_context()),
        credentials=Credentials(None),
        ledger=None,
        trail=Audit(store, clock=clock, ids=ids),
        clock=clock,
        ids=ids,
    )
    return await operations.execute("ping", ExecuteOperation(input={}, actor="ada@example.com"))


async def failed(
    store: SqliteStore,
    upstream: str,
    *,
    resolver: Resolver,
    trust: ssl.SSLContext | None = None,
    allow_local: bool = True,
) -> AnvilError:
    with pytest.raises(AnvilError) as refused:
        await execute(store, upstream, resolver=resolver, trust=trust, allow_local=allow_local)
    return refused.value


async def test_a_call_goes_to_the_address_and_asks_for_the_name(store: SqliteStore, authority: Authority) -> None:
    names = Names([(LOOPBACK,)])
    async with serving(authority.server("billing.example")) as server:
        upstream = f"https://billing.example:{server.port}"
        executed = await execute(store, upstream, resolver=names, trust=authority.trusting())
    assert executed.status == 200
    assert (names.asked, server.names) == (["billing.example"], ["billing.example"])
    (request,) = server.requests
    assert f"\r\nHost: billing.example:{server.port}\r\n" in request


@pytest.mark.threat("A27")
@pytest.mark.parametrize("wrong", ["another name", "another authority", "expired", "no TLS"])
async def test_who_cannot_prove_the_name_gets_not_a_byte(
    store: SqliteStore, authority: Authority, tmp_path: Path, wrong: str
) -> None:
    certificate: ssl.SSLContext | None = None
    match wrong:
        case "another name":
            certificate = authority.server("evil.example")
        case "another authority":
            certificate = Authority(tmp_path).server("billing.example")
        case "expired":
            certificate = authority.server("billing.example", days=-1)
        case _:
            pass
    async with serving(certificate) as server:
        upstream = f"https://billing.example:{server.port}"
        error = await failed(store, upstream, resolver=Names([(LOOPBACK,)]), trust=authority.trusting())
    assert type(error) is UpstreamUnavailable
    assert server.connections > 0 or server.names
    assert not any("ping" in request for request in server.requests)


@pytest.mark.threat("A27")
async def test_a_name_that_changes_its_mind_is_asked_once(store: SqliteStore) -> None:
    """What was public when it was judged must not be loopback when it is called: there is no second question."""
    names = Names([(PUBLIC,), (LOOPBACK,)])
    caller = HttpCaller(names, trust=ssl.create_default_context())
    assert await caller.resolve("rebinding.example") == (PUBLIC,)
    names = Names([(LOOPBACK,), (PUBLIC,)])
    async with serving() as server:
        error = await failed(store, f"http://rebinding.example:{server.port}", resolver=names, allow_local=False)
    assert type(error) is UpstreamUnavailable
    assert (names.asked, server.connections) == (["rebinding.example"], 0)


@pytest.mark.threat("A27")
@pytest.mark.parametrize(
    "found",
    [
        ["127.0.0.1"],
        ["::1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["fd00:ec2::254"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::a9fe:a9fe"],
        ["8.8.8.8", "127.0.0.1"],
        ["2600::1", "8.8.8.8", "fe80::1%eth0"],
        [],
    ],
)
async def test_no_name_leads_to_an_address_that_is_not_public(store: SqliteStore, found: Sequence[str]) -> None:
    names = Names([tuple(ip_address(each) for each in found)])
    async with serving() as server:
        error = await failed(store, f"http://inside.example:{server.port}", resolver=names, allow_local=False)
    assert type(error) is UpstreamUnavailable
    assert server.connections == 0


@pytest.mark.threat("A27")
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "ip6-localhost", "foo.localhost"])
async def test_loopback_by_a_name_of_the_machines_own_is_not_called(store: SqliteStore, host: str) -> None:
    async with serving() as server:
        error = await failed(store, f"http://{host}:{server.port}", resolver=SystemResolver(), allow_local=False)
    assert type(error) is UpstreamUnavailable
    assert server.connections == 0


@pytest.mark.threat("A27")
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "10.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "127.0.0.1.",
        "１２７.０.０.１",
        "127%2e0.0.1",
        "[fe80::1%25eth0]",
        "user@example.com",
        "example.com\\@127.0.0.1",
        "example.com#@127.0.0.1",
        "example.com?@127.0.0.1",
    ],
)
def test_no_catalogue_names_an_address_that_is_not_public(host: str) -> None:
    text = LIVE.format(upstream=f'"https://{host}"').replace("\\", "\\\\")
    with pytest.raises(Refused) as refused:
        catalogue.parse(text.encode(), replay_ttl=timedelta(days=1), allow_local=False)
    assert (refused.value.line, refused.value.field) == (6, "operations[0].upstream")


@pytest.mark.parametrize("upstream", ["http://example.com", "ftp://example.com", "file:///etc/passwd", "//example.com"])
def test_only_https_is_spoken(upstream: str) -> None:
    with pytest.raises(Refused, match="upstream: must begin with https://"):
        catalogue.parse(LIVE.format(upstream=upstream).encode(), replay_ttl=timedelta(days=1), allow_local=False)


@pytest.mark.threat("A28")
async def test_no_redirect_is_followed(store: SqliteStore) -> None:
    async with serving() as inside, serving() as server:
        server.location = f"http://127.0.0.1:{inside.port}/"
        upstream = f"http://billing.example:{server.port}"
        executed = await execute(store, upstream, resolver=Names([(LOOPBACK,)]))
    assert executed.status == 302
    assert (server.connections, inside.connections) == (1, 0)


async def test_no_proxy_of_the_environment_is_used(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as proxy, serving() as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        upstream = f"http://billing.example:{server.port}"
        executed = await execute(store, upstream, resolver=Names([(LOOPBACK,)]))
    assert (executed.status, server.connections, proxy.connections) == (200, 1, 0)


async def test_the_next_address_is_tried_only_while_nothing_was_sent(store: SqliteStore) -> None:
    async with serving() as server:
        upstream = f"http://billing.example:{server.port}"
        executed = await execute(store, upstream, resolver=Names([(ip_address("127.0.0.9"), LOOPBACK)]))
    assert (executed.status, server.connections) == (200, 1)
