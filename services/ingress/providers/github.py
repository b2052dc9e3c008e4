"""What GitHub sends: `X-GitHub-Event`, `X-GitHub-Delivery`, and `X-Hub-Signature-256` over the raw body.

A form is signed as it is sent, `payload=` and all. `X-GitHub-Delivery` is one per event and stays the same when it is
redelivered. A `ping` is known by its header alone: other events carry `zen` or `hook` too, and an organisation's ping
names no repository.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar, Final

from pydantic import ValidationError

from services.ingress.providers import headers, payload
from services.ingress.providers.port import Received
from services.kernel.errors import InvalidPayload
from services.kernel.wire.deliveries import Canonical, EventKind, Provider

_BRANCH: Final = "refs/heads/"
_TAG: Final = "refs/tags/"
_MERGE_QUEUE: Final = "refs/heads/gh-readonly-queue/"
# The first one is shown; payloads of 2008 to 2013 have `url` alone.
_REPOSITORY_URLS: Final = ("clone_url", "html_url", "url", "ssh_url", "git_url", "svn_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What a delivery says about a ref. Only a push has a branch *and* a commit."""

    kind: EventKind
    ref: str | None = None
    branch: str | None = None
    commit_sha: str | None = None
    before_sha: str | None = None


class GitHub:
    media_types: ClassVar[frozenset[str]] = frozenset({payload.JSON, payload.FORM})

    def verifies(self, received: Received, *, secret: bytes) -> bool:
        expected = b"sha256=" + hmac.new(secret, received.body, sha256).hexdigest().encode()
        given = headers.only(received.headers, "x-hub-signature-256") or ""
        return hmac.compare_digest(given.encode("latin-1"), expected) and bool(secret)

    def delivery_id(self, received: Received) -> str:
        return headers.delivery_id(received.headers, "x-github-delivery")

    def normalise(self, received: Received, *, delivery_id: str) -> Canonical:
        event = headers.event_name(received.headers, "x-github-event")
        body = payload.read(received)
        change = _change(event, body)
        urls = payload.urls(payload.part(body, "repository"), _REPOSITORY_URLS)
        if event == "push" and not urls:
            raise InvalidPayload("a push names its repository")
        try:
            return Canonical(
                provider=Provider.GITHUB,
                flavor="github",
                delivery_id=delivery_id,
                event_kind=change.kind,
                event_name=event,
                repository_url=urls[0] if urls else None,
                repository_urls=urls,
                ref=change.ref,
                branch=change.branch,
                commit_sha=change.commit_sha,
                before_sha=change.before_sha,
                body_sha256=sha256(received.body).hexdigest(),
            )
        except ValidationError as error:
            raise InvalidPayload(f"a field of the {event} event is too long") from error


def _change(event: str, body: payload.Json) -> _Change:
    match event:
        case "ping":
            return _Change(kind=EventKind.PING)
        case "push":
            return _pushed(body)
        case "create" | "delete":
            return _Change(kind=EventKind.OTHER, ref=payload.text(body, "ref"))
        case _:
            return _Change(kind=EventKind.OTHER)


def _pushed(body: payload.Json) -> _Change:
    """What a push did to its ref (C25); the name of a branch is kept verbatim but for the one prefix."""
    ref = payload.text(body, "ref")
    if not ref or payload.text(body, "after") is None:
        raise InvalidPayload("a push names its ref and the commit after it")
    before, after = payload.commit(body, "before"), payload.commit(body, "after")
    branch = ref.removeprefix(_BRANCH) if ref.startswith(_BRANCH) else ""
    if after is None or body.get("deleted") is True:
        return _Change(kind=EventKind.DELETION, ref=ref, branch=branch or None, before_sha=before)
    if ref.startswith(_TAG):
        return _Change(kind=EventKind.TAG, ref=ref, commit_sha=after, before_sha=before)
    if not branch or ref.startswith(_MERGE_QUEUE):
        return _Change(kind=EventKind.OTHER, ref=ref, before_sha=before)
    return _Change(kind=EventKind.PUSH, ref=ref, branch=branch, commit_sha=after, before_sha=before)
