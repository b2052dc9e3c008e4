"""What GitHub sends: `X-GitHub-Event`, `X-GitHub-Delivery`, and `X-Hub-Signature-256` over the raw body.

A form is signed as it is sent, `payload=` and all. `X-GitHub-Delivery` is one per event and stays the same when it is
redelivered. A `ping` is known by its header alone: other events carry `zen` or `hook` too, and an organisation's ping
names no repository. Gitea and its kin send all of these headers besides their own: they have a route of their own.
"""

import hmac
import json
from datetime import datetime
from hashlib import sha256
from typing import ClassVar, Final

from services.ingress.providers import headers, payload
from services.ingress.providers.canonical import OTHER, PING, Change, Origin, canonical, pushed, ref_alone
from services.ingress.providers.port import Key, Received, Sample
from services.kernel.wire.deliveries import Canonical, Outcome, Provider
from services.kernel.wire.webhooks import Refusal, WebhookConfig

# The first one is shown; payloads of 2008 to 2013 have `url` alone.
_REPOSITORY_URLS: Final = ("clone_url", "html_url", "url", "ssh_url", "git_url", "svn_url")
_IMITATORS: Final = ("x-forgejo-event", "x-gitea-event", "x-gogs-event")


class GitHub:
    media_types: ClassVar[frozenset[str]] = frozenset({payload.JSON, payload.FORM})
    has_signing_token: ClassVar[bool] = False

    def refusal(self, received: Received, key: Key, *, now: datetime) -> Refusal | None:
        given = headers.only(received.headers, "x-hub-signature-256") or ""
        genuine = hmac.compare_digest(given.encode("latin-1"), _signature(received.body, key))
        if any(name in received.headers for name in _IMITATORS):
            return Refusal.ANOTHER_HOST
        if "x-hub-signature-256" not in received.headers:
            return Refusal.MISSING_SIGNATURE
        return None if genuine and key.secret else Refusal.BAD_SIGNATURE

    def delivery_id(self, received: Received) -> str:
        return headers.delivery_id(received.headers, "x-github-delivery")

    def normalise(self, received: Received, *, delivery_id: str) -> Canonical:
        event = headers.event_name(received.headers, "x-github-event")
        body = payload.read(received)
        change = _change(event, body)
        urls = payload.urls(payload.part(body, "repository"), _REPOSITORY_URLS, required=event == "push")
        origin = Origin(provider=Provider.GITHUB, flavor="github", delivery_id=delivery_id, event_name=event)
        return canonical(received, origin, change, urls=urls)

    def unfit(self, config: WebhookConfig, *, secret: str) -> str | None:
        return None

    def new_secret(self, config: WebhookConfig, *, entropy: str) -> str:
        return entropy

    def sample(self, key: Key, *, repository_url: str, delivery_id: str, now: datetime) -> Sample:
        ping = {"zen": "Keep it logically awesome.", "repository": {"clone_url": repository_url}}
        body = json.dumps(ping).encode()
        sent = {
            "Content-Type": payload.JSON,
            "X-GitHub-Event": "ping",
            "X-GitHub-Delivery": delivery_id,
            "X-Hub-Signature-256": _signature(body, key).decode(),
        }
        return Sample(headers=sent, body=body, outcome=Outcome.IGNORED_PING)


def _signature(body: bytes, key: Key) -> bytes:
    return b"sha256=" + hmac.new(key.secret, body, sha256).hexdigest().encode()


def _change(event: str, body: payload.Json) -> Change:
    match event:
        case "ping":
            return PING
        case "push":
            return pushed(body, tag_commit=payload.commit_of(body, "head_commit"))
        case "create" | "delete":
            return ref_alone(body)
        case _:
            return OTHER
