"""Attacks on the webhook endpoint, over real HTTP: a stranger is refused, learns nothing and leaves nothing behind."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

import pytest
from starlette.types import Message

from services.ingress.settings import MIB
from services.kernel.strict_json import JsonValue
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import WebhookConfig
from tests.contract.serving import served
from tests.corpus.senders import Sender, send
from tests.unit.ingress.coordinator import InMemoryCoordinator, StoredWebhook, project
from tests.unit.ingress.github_deliveries import RawHeaders, push, signature, signed
from tests.unit.ingress.issuer import Issuer
from tests.unit.ingress.site import Site, site

pytestmark = pytest.mark.anyio

HOOK = "/api/public/hooks/github/site"
BODY = json.dumps(push()).encode()
PATIENCE = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def code(self) -> object:
        return json.loads(self.body)["code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A site on a real port. Between tests it forgets what was sent to it."""

    site: Site
    port: int

    def forget(self) -> None:
        self.site.coordinator.accepted.clear()
        self.site.coordinator.called.clear()
        self.site.clock.passed += timedelta(hours=1)
        self.site.webhook()

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def send(self, body: bytes = BODY, *, headers: RawHeaders | None = None, path: str = HOOK) -> Reply:
        """One request; `headers` replaces all but Host and Content-Length."""
        kept = encoded(signed(body)) if headers is None else headers
        return await self.raw(head(path, [*kept, (b"Content-Length", str(len(body)).encode())]) + body)

    async def raw(self, request: bytes) -> Reply:
        """What is answered to these bytes."""
        async with self.connected() as (reader, writer):
            writer.write(request)
            return await reply(reader)


def encoded(headers: Mapping[str, str]) -> RawHeaders:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def head(path: str, headers: RawHeaders) -> bytes:
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return f"POST {path} HTTP/1.1\r\nHost: ci.example.com\r\n".encode() + lines + b"\r\n"


async def reply(reader: asyncio.StreamReader) -> Reply:
    async with asyncio.timeout(PATIENCE.total_seconds()):
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Reply(status=int(status.split()[1]), headers=headers, body=body)


@pytest.fixture(scope="module")
async def listening() -> AsyncGenerator[Target]:
    async with site(Issuer()) as made, served(made.app) as [url]:
        yield Target(site=made, port=urlsplit(url).port or 0)


@pytest.fixture
def target(listening: Target) -> Target:
    listening.forget()
    return listening


def without(name: str, *others: tuple[bytes, bytes]) -> RawHeaders:
    """The headers of a genuine delivery but for one, and `others` in its place."""
    return [*((key, value) for key, value in encoded(signed(BODY)) if key != name.encode()), *others]


GOOD = signature(BODY).encode()
SIGNATURE = b"X-Hub-Signature-256"


async def test_a_genuine_delivery_is_accepted(target: Target) -> None:
    assert (await target.send()).status == 202


@pytest.mark.threat("A2")
async def test_an_empty_secret_in_the_store_verifies_nothing(target: Target) -> None:
    owner = target.site.coordinator.projects["site"].project_id
    empty = target.site.custody.seal("", project_id=owner, provider=Provider.GITHUB)
    target.site.coordinator.webhooks["site", "github"] = StoredWebhook("v9", True, empty)
    refused = await target.send(headers=without("X-Hub-Signature-256", (SIGNATURE, signature(BODY, b"").encode())))
    assert (refused.status, target.site.coordinator.accepted) == (401, [])


@pytest.mark.threat("A3")
@pytest.mark.req("R59")
@pytest.mark.inv("D1")
@pytest.mark.parametrize("value", [None, b"", b"sha256=", b"sha256", GOOD.removeprefix(b"sha256=")])
async def test_without_a_signature_nothing_is_read_and_nothing_written(target: Target, value: bytes | None) -> None:
    headers = without("X-Hub-Signature-256", *([] if value is None else [(SIGNATURE, value)]))
    refused = await target.send(headers=headers)
    assert (refused.status, refused.code) == (401, "invalid_signature")
    assert set(target.site.coordinator.called) <= {internal.VERIFICATION.path}


@pytest.mark.threat("A5")
@pytest.mark.parametrize(
    ("name", "values", "code"),
    [
        ("X-Hub-Signature-256", [GOOD, GOOD], "invalid_signature"),
        ("X-Hub-Signature-256", [GOOD + b", " + GOOD], "invalid_signature"),
        ("X-GitHub-Delivery", [b"one", b"two"], "invalid_delivery_id"),
        ("X-GitHub-Event", [b"push", b"ping"], "invalid_payload"),
        ("Content-Type", [b"application/json", b"application/json"], "unsupported_media_type"),
    ],
)
async def test_a_header_that_decides_something_comes_once(
    target: Target, name: str, values: list[bytes], code: str
) -> None:
    refused = await target.send(headers=without(name, *((name.encode(), value) for value in values)))
    assert (refused.code, target.site.coordinator.accepted) == (code, [])


@pytest.mark.threat("A6")
@pytest.mark.parametrize("byte", [b"\xe9", b"\xff"])
async def test_bytes_beyond_ascii_are_a_wrong_signature(target: Target, byte: bytes) -> None:
    refused = await target.send(headers=without("X-Hub-Signature-256", (SIGNATURE, GOOD[:-1] + byte)))
    assert (refused.status, refused.code) == (401, "invalid_signature")


@pytest.mark.threat("A8")
async def test_a_signed_form_is_read_with_a_limit_of_its_own(target: Target) -> None:
    form = "application/x-www-form-urlencoded"
    good = urlencode({"payload": BODY.decode()}).encode()
    stuffed = b"a=1&" * 200_000 + good
    answers = [await target.send(body, headers=encoded(signed(body, media_type=form))) for body in (good, stuffed)]
    assert [answer.status for answer in answers] == [202, 400]


@pytest.mark.threat("A9")
@pytest.mark.parametrize("header", [b"X-Gitea-Signature", b"X-Gogs-Signature", b"X-Gitlab-Token", b"X-Hub-Signature"])
async def test_only_the_routes_own_host_is_listened_to(target: Target, header: bytes) -> None:
    refused = await target.send(headers=without("X-Hub-Signature-256", (header, GOOD.removeprefix(b"sha256="))))
    assert refused.status == 401


async def test_what_was_signed_for_another_project_is_refused(target: Target) -> None:
    target.site.webhook(slug="other", secret=b"the other one's secret")
    assert (await target.send(path="/api/public/hooks/github/other")).status == 401


@pytest.mark.threat("A10")
async def test_a_signed_body_does_not_become_another_event(target: Target) -> None:
    ping = b'{"zen": "Design for failure.", "hook_id": 1}'
    assert (await target.send(ping, headers=encoded(signed(ping, event="push")))).code == "invalid_payload"


@pytest.mark.threat("A11")
@pytest.mark.inv("H2")
async def test_every_refusal_looks_the_same(target: Target) -> None:
    coordinator: InMemoryCoordinator = target.site.coordinator
    coordinator.projects["bare"] = project("bare", project_id="prj_0000000000000000000003")
    coordinator.projects["off"] = project("off", project_id="prj_0000000000000000000004")
    target.site.webhook(slug="off", enabled=False)
    wrong = without("X-Hub-Signature-256", (SIGNATURE, b"sha256=" + b"0" * 64))
    refused = [
        await target.send(headers=wrong),
        await target.send(headers=without("X-Hub-Signature-256")),
        await target.send(headers=without("X-Hub-Signature-256", (SIGNATURE, GOOD), (SIGNATURE, GOOD))),
        await target.send(headers=[(b"Content-Type", b"application/json")]),
        *[
            await target.send(path=f"/api/public/hooks/github/{name}")
            for name in ("nobody", "bare", "off", "NO-SLUG", "a.b")
        ],
    ]
    assert {answer.status for answer in refused} == {401}
    assert len({seen(answer) for answer in refused}) == 1


@pytest.mark.threat("A11")
@pytest.mark.parametrize("sender", [Sender.GITLAB, Sender.GITEA, Sender.FORGEJO, Sender.GOGS])
async def test_no_route_refuses_otherwise_than_another(target: Target, sender: Sender) -> None:
    provider, path = Provider(sender.route), f"/api/public/hooks/{sender.route}"
    target.site.webhook(provider)
    target.site.webhook(provider, slug="other", enabled=False)
    sent = send(sender, BODY, id_="d-1", secret="not the secret 00")
    signing = WebhookConfig(signing_token=True)
    refused = [
        await target.send(headers=without("X-Hub-Signature-256")),
        await target.send(headers=encoded(sent.headers), path=f"{path}/site"),
        await target.send(headers=encoded(sent.headers), path=f"{path}/other"),
        await target.send(headers=encoded(sent.headers), path=f"{path}/nobody"),
        await target.send(headers=encoded({"Content-Type": "application/json"}), path=f"{path}/site"),
    ]
    target.site.webhook(provider, version="v2", config=signing)
    refused.append(await target.send(headers=encoded(sent.headers), path=f"{path}/site"))
    assert {answer.status for answer in refused} == {401}
    assert len({seen(answer) for answer in refused}) == 1


def seen(answer: Reply) -> str:
    """What a stranger sees, but for what names this one request."""
    said = {name: value for name, value in json.loads(answer.body).items() if name != "traceId"}
    own = {"x-request-id", "date"}
    return json.dumps([answer.status, said, {name: value for name, value in answer.headers.items() if name not in own}])


@pytest.mark.threat("A12")
@pytest.mark.inv("H4")
async def test_a_body_that_says_it_is_too_large_is_not_waited_for(target: Target) -> None:
    request = head(HOOK, [*encoded(signed(BODY)), (b"Content-Length", str(5 * MIB + 1).encode())])
    refused = await target.raw(request)
    assert (refused.status, refused.code, target.site.coordinator.called) == (413, "payload_too_large", [])


@pytest.mark.threat("A12")
async def test_a_body_without_a_length_is_cut_off_where_it_is_too_large(target: Target) -> None:
    piece = b" " * MIB
    async with target.connected() as (reader, writer):
        writer.write(head(HOOK, [*encoded(signed(BODY)), (b"Transfer-Encoding", b"chunked")]))
        for _ in range(6):
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        refused = await reply(reader)
    assert (refused.status, target.site.coordinator.called) == (413, [])


@pytest.mark.threat("A12")
async def test_the_largest_body_is_taken(target: Target) -> None:
    body = BODY + b" " * (5 * MIB - len(BODY))
    assert (await target.send(body)).status == 202


@pytest.mark.threat("A18")
@pytest.mark.parametrize("encoding", [b"gzip", b"br", b"identity", b""])
async def test_no_body_is_decompressed(target: Target, encoding: bytes) -> None:
    refused = await target.send(headers=[*encoded(signed(BODY)), (b"Content-Encoding", encoding)])
    assert (refused.status, target.site.coordinator.called) == (415, [])


@pytest.mark.threat("A19")
async def test_a_body_that_trickles_in_is_given_up(target: Target) -> None:
    length = str(len(BODY)).encode()
    async with target.connected() as (reader, writer):
        writer.write(head(HOOK, [*encoded(signed(BODY)), (b"Content-Length", length), (b"Expect", b"100-continue")]))
        assert (await reply(reader)).status == 100
        target.site.clock.passed += timedelta(seconds=11)
        writer.write(BODY[:1])
        refused = await reply(reader)
    assert (refused.status, refused.code, refused.headers["connection"]) == (408, "request_timeout", "close")


async def test_a_connection_cut_short_is_nobodys_error(target: Target, caplog: pytest.LogCaptureFixture) -> None:
    async with target.connected() as (_, writer):
        writer.write(head(HOOK, [*encoded(signed(BODY)), (b"Content-Length", str(len(BODY)).encode())]) + BODY[:9])
        await writer.drain()
    assert (await target.send()).status == 202
    assert "Traceback" not in caplog.text


@pytest.mark.threat("A20")
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("http://evil.example/api/public/hooks/github/site", 202),
        ("/api/public/hooks/github/%73ite", 202),
        ("/api/public/hooks/github/site/", 404),
        ("//api/public/hooks/github/site", 404),
        ("/api/public/hooks/github/site%2F", 404),
        ("/api/public/hooks/github/..%2Fsite", 404),
        ("/api/public/hooks/github/site%0A", 404),
        ("/api/public/hooks/github/site%00", 404),
        ("/api/public/hooks/github/%FF", 401),
        ("/api/public/hooks//site", 404),
    ],
)
async def test_an_odd_path_is_read_in_one_way_only(target: Target, path: str, status: int) -> None:
    assert (await target.send(path=path)).status == status


@pytest.mark.threat("A20")
async def test_two_lengths_do_not_smuggle_a_second_request(target: Target) -> None:
    smuggled = head(HOOK, [*encoded(signed(BODY)), (b"Content-Length", str(len(BODY)).encode())]) + BODY
    request = head(HOOK, [(b"Content-Length", b"5"), (b"Transfer-Encoding", b"chunked")]) + b"0\r\n\r\n" + smuggled
    assert (await target.raw(request)).status == 400
    assert target.site.coordinator.accepted == []


WRONG: list[JsonValue] = [None, True, 0, 2**63, "", "x", "0" * 40, "\x00", [], {}, [{}]]


def damaged(value: JsonValue) -> Iterator[JsonValue]:
    """Each version of a document in which one value is missing or is another."""
    match value:
        case dict():
            for key, item in value.items():
                yield {name: kept for name, kept in value.items() if name != key}
                yield from ({**value, key: other} for other in (*WRONG, *damaged(item)))
        case list():
            for index, item in enumerate(value):
                yield value[:index] + value[index + 1 :]
                yield from ([*value[:index], other, *value[index + 1 :]] for other in (*WRONG, *damaged(item)))
        case _:
            return


@pytest.mark.threat("A21")
@pytest.mark.inv("H3")
@pytest.mark.parametrize("event", ["push", "ping", "create"])
async def test_no_signed_body_whatever_is_in_it_makes_the_service_fail(target: Target, event: str) -> None:
    whole: JsonValue = json.loads(json.dumps(push(commits=[{"id": "x", "added": ["a"]}])))
    bodies = [json.dumps(body).encode() for body in (*WRONG, *damaged(whole))]
    statuses = {(await target.site.deliver(body, signed(body, event=event))).status_code for body in bodies}
    assert statuses <= {202, 400}


@pytest.mark.threat("A6")
@pytest.mark.parametrize("byte", [b"\x00", b"\xe9"])
async def test_bytes_that_no_server_lets_through_are_a_wrong_signature_too(target: Target, byte: bytes) -> None:
    raw = [(name.lower(), value) for name, value in without("X-Hub-Signature-256", (SIGNATURE, byte + GOOD[1:]))]
    scope = {"type": "http", "method": "POST", "path": HOOK, "query_string": b"", "headers": raw}
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await target.site.app(scope, receive, send)
    assert sent[0]["status"] == 401
