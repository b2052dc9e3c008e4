"""What GitLab sends: `X-Gitlab-Event`, JSON only, and one of two proofs, chosen by the webhook's configuration.

Without a signing token the secret itself comes, as `X-Gitlab-Token`. With one (GitLab 19) the delivery is signed as
Standard Webhooks says, and nothing else counts: since then `webhook-id` and `webhook-timestamp` come with every
delivery, signed or not. Nothing says that a branch was deleted but the zeros after it. A tag push tells the commit of
an annotated tag as `checkout_sha`. System hooks are about a whole instance, whatever is in them.
"""

import base64
import binascii
import hmac
import json
import re
from datetime import datetime, timedelta
from hashlib import sha256
from typing import ClassVar, Final

from services.ingress.providers import headers, payload
from services.ingress.providers.canonical import OTHER, Change, Origin, canonical, pushed
from services.ingress.providers.port import Key, Received, Sample
from services.kernel.errors import InvalidPayload
from services.kernel.wire.deliveries import Canonical, Outcome, Provider
from services.kernel.wire.webhooks import Refusal, WebhookConfig

TOLERANCE: Final = timedelta(minutes=5)
"""How old, or how far ahead, the time of a signed delivery may be (Standard Webhooks)."""

# Each kind of push, and the `object_kind` of its body.
_PUSHES: Final = {"Push Hook": "push", "Tag Push Hook": "tag_push"}
# The first one that is sent: `X-Gitlab-Event-UUID` repeats along a chain of hooks and would lose pushes (C25).
_DELIVERY_IDS: Final = ("webhook-id", "idempotency-key", "x-gitlab-webhook-uuid", "x-gitlab-event-uuid")
# The first one is shown; bodies of old versions have only some, in `repository`.
_REPOSITORY_URLS: Final = (
    "git_http_url", "http_url", "web_url", "homepage", "git_ssh_url", "ssh_url", "url",
)  # fmt: skip
_PREFIX: Final = "whsec_"
_KEY_BYTES: Final = range(24, 65)
_SECONDS: Final = re.compile(r"[0-9]{1,10}")
_HEADER_TEXT: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class GitLab:
    media_types: ClassVar[frozenset[str]] = frozenset({payload.JSON})
    has_signing_token: ClassVar[bool] = True

    def refusal(self, received: Received, key: Key, *, now: datetime) -> Refusal | None:
        # Both, whichever counts: how long it takes must tell neither which, nor whether there is a webhook (H2).
        of_signature, of_token = _refused_signature(received, key, now=now), _refused_token(received, key)
        return of_signature if key.config.signing_token else of_token

    def delivery_id(self, received: Received) -> str:
        sent = (name for name in _DELIVERY_IDS if name in received.headers)
        return headers.delivery_id(received.headers, next(sent, _DELIVERY_IDS[0]))

    def normalise(self, received: Received, *, delivery_id: str) -> Canonical:
        event = headers.event_name(received.headers, "x-gitlab-event")
        body = payload.read(received)
        change = _change(event, body)
        about = payload.part(body, "project") or payload.part(body, "repository")
        urls = payload.urls(about, _REPOSITORY_URLS, required=event in _PUSHES)
        origin = Origin(provider=Provider.GITLAB, flavor="gitlab", delivery_id=delivery_id, event_name=event)
        return canonical(received, origin, change, urls=urls)

    def unfit(self, config: WebhookConfig, *, secret: str) -> str | None:
        if config.signing_token and _signing_key(secret.encode()) is None:
            return f"a signing token is {_PREFIX} and the base64 of {_KEY_BYTES[0]} to {_KEY_BYTES[-1]} bytes"
        if _HEADER_TEXT.fullmatch(secret) is None:
            return "GitLab sends it in a header: printable ASCII without spaces around it"
        return None

    def new_secret(self, config: WebhookConfig, *, entropy: str) -> str:
        if not config.signing_token:
            return entropy
        return _PREFIX + base64.b64encode(sha256(entropy.encode()).digest()).decode()

    def sample(self, key: Key, *, repository_url: str, delivery_id: str, now: datetime) -> Sample:
        deletion: dict[str, object] = {
            "object_kind": "push",
            "ref": "refs/heads/anvil-webhook-test",
            "before": "0" * 40,
            "after": "0" * 40,
            "checkout_sha": None,
            "commits": [],
            "project": {"git_http_url": repository_url},
        }
        body = json.dumps(deletion, separators=(",", ":")).encode()
        sent = {"Content-Type": payload.JSON, "X-Gitlab-Event": "Push Hook", "webhook-id": delivery_id}
        return Sample(headers=sent | _proof(key, delivery_id, body, now), body=body, outcome=Outcome.IGNORED_EVENT)


def _proof(key: Key, delivery_id: str, body: bytes, now: datetime) -> dict[str, str]:
    if not key.config.signing_token:
        return {"X-Gitlab-Token": key.secret.decode("latin-1")}
    at = str(int(now.timestamp()))
    signed = _signature(_signing_key(key.secret) or b"", delivery_id, at, body)
    return {"webhook-timestamp": at, "webhook-signature": signed.decode()}


def _refused_token(received: Received, key: Key) -> Refusal | None:
    given = headers.only(received.headers, "x-gitlab-token") or ""
    genuine = hmac.compare_digest(given.encode("latin-1"), key.secret)
    if "x-gitlab-token" not in received.headers:
        return Refusal.MISSING_SIGNATURE
    return None if genuine and key.secret else Refusal.BAD_SIGNATURE


def _refused_signature(received: Received, key: Key, *, now: datetime) -> Refusal | None:
    """Any signature of version 1 will do: while a key is replaced there are two (Standard Webhooks)."""
    id_ = headers.only(received.headers, "webhook-id") or ""
    at = headers.only(received.headers, "webhook-timestamp") or ""
    given = (headers.only(received.headers, "webhook-signature") or "").encode("latin-1")
    signing_key = _signing_key(key.secret)
    expected = _signature(signing_key or bytes(32), id_, at, received.body)
    matches = [hmac.compare_digest(each, expected) for each in given.split(b" ")]
    if "webhook-signature" not in received.headers:
        return Refusal.MISSING_SIGNATURE
    if signing_key is None:
        return Refusal.UNUSABLE_SECRET
    if not id_ or not any(matches):
        return Refusal.BAD_SIGNATURE
    return None if _is_recent(at, now) else Refusal.STALE_TIMESTAMP


def _signing_key(secret: bytes) -> bytes | None:
    """The key in a signing token; None if it is none."""
    if not secret.startswith(_PREFIX.encode()):
        return None
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX.encode()), validate=True)
    except binascii.Error:
        return None
    return key if len(key) in _KEY_BYTES else None


def _signature(key: bytes, id_: str, at: str, body: bytes) -> bytes:
    signed = f"{id_}.{at}.".encode("latin-1") + body
    return b"v1," + base64.b64encode(hmac.new(key, signed, sha256).digest())


def _is_recent(at: str, now: datetime) -> bool:
    return _SECONDS.fullmatch(at) is not None and abs(now.timestamp() - int(at)) <= TOLERANCE.total_seconds()


def _change(event: str, body: payload.Json) -> Change:
    if (kind := _PUSHES.get(event)) is None:
        return OTHER
    if payload.text(body, "object_kind") not in (kind, None):
        raise InvalidPayload(f"the body is not the one of a {event}")
    return pushed(body, tag_commit=payload.commit(body, "checkout_sha"))
