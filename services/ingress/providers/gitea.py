"""What Gitea, Forgejo and Gogs send, told apart by their own headers; the hub's, which they send too, never count.

Each signs the JSON text, in hex without a prefix, also where that comes as the `payload` of a form. Without a secret
the header is there and empty. A test delivery is a push whose commit before is the one after, since Gitea 1.23 an
all-zero one (go-gitea/gitea, `TestWebhook`). A redelivery has a new id, but for Gogs.
"""

import hmac
import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import ClassVar, Final

from starlette.datastructures import Headers

from services.ingress.providers import headers, payload
from services.ingress.providers.canonical import OTHER, Change, Origin, branch_of, canonical, pushed, ref_alone
from services.ingress.providers.port import Key, Received, Sample
from services.kernel.errors import InvalidPayload
from services.kernel.wire.deliveries import Canonical, EventKind, Outcome, Provider
from services.kernel.wire.webhooks import Refusal, WebhookConfig

# The first one is shown; bodies of old Gogs have `url` alone, which later became the API's.
_REPOSITORY_URLS: Final = ("clone_url", "html_url", "ssh_url", "url")
_UNNAMED: Final = "unnamed"


@dataclass(frozen=True, slots=True)
class _Flavor:
    name: str

    def header(self, what: str) -> str:
        return f"x-{self.name}-{what}"


# Each sends its predecessors' headers as well.
_FLAVORS: Final = (_Flavor("forgejo"), _Flavor("gitea"), _Flavor("gogs"))


class Gitea:
    media_types: ClassVar[frozenset[str]] = frozenset({payload.JSON, payload.FORM})
    has_signing_token: ClassVar[bool] = False

    def refusal(self, received: Received, key: Key, *, now: datetime) -> Refusal | None:
        flavor = _sent_by(received.headers)
        name = _FLAVORS[-1].header("signature") if flavor is None else flavor.header("signature")
        given = headers.only(received.headers, name) or ""
        genuine = hmac.compare_digest(given.encode("latin-1"), _signature(_signed(received), key))
        if flavor is None:
            return Refusal.ANOTHER_HOST
        # Without a secret these hosts send the header, and nothing in it.
        if not any(received.headers.getlist(name)):
            return Refusal.MISSING_SIGNATURE
        return None if genuine and key.secret else Refusal.BAD_SIGNATURE

    def delivery_id(self, received: Received) -> str:
        return headers.delivery_id(received.headers, _flavor(received).header("delivery"))

    def normalise(self, received: Received, *, delivery_id: str) -> Canonical:
        flavor = _flavor(received)
        event = _event(received.headers, flavor)
        body = payload.read(received)
        change = _change(event, body)
        urls = payload.urls(payload.part(body, "repository"), _REPOSITORY_URLS, required=event == "push")
        origin = Origin(
            provider=Provider.GITEA, flavor=flavor.name, delivery_id=delivery_id, event_name=event or _UNNAMED
        )
        return canonical(received, origin, change, urls=urls)

    def unfit(self, config: WebhookConfig, *, secret: str) -> str | None:
        return None

    def new_secret(self, config: WebhookConfig, *, entropy: str) -> str:
        return entropy

    def sample(self, key: Key, *, repository_url: str, delivery_id: str, now: datetime) -> Sample:
        nothing = "0" * 40
        test: dict[str, object] = {
            "ref": "refs/heads/anvil-webhook-test",
            "before": nothing,
            "after": nothing,
            "commits": [],
            "repository": {"clone_url": repository_url},
        }
        body = json.dumps(test, indent=2).encode()
        sent = {
            "Content-Type": payload.JSON,
            "X-Gitea-Event": "push",
            "X-Gitea-Delivery": delivery_id,
            "X-Gitea-Signature": _signature(body, key).decode(),
        }
        return Sample(headers=sent, body=body, outcome=Outcome.IGNORED_PING)


def _signature(text: bytes, key: Key) -> bytes:
    return hmac.new(key.secret, text, sha256).hexdigest().encode()


def _signed(received: Received) -> bytes:
    """The JSON text; of a form that has none the form itself, which nobody signed."""
    try:
        return payload.text_of(received)
    except InvalidPayload:
        return received.body


def _sent_by(sent: Headers) -> _Flavor | None:
    return next((flavor for flavor in _FLAVORS if flavor.header("event") in sent), None)


def _flavor(received: Received) -> _Flavor:
    if (flavor := _sent_by(received.headers)) is None:
        raise InvalidPayload("no event of Gitea, Forgejo or Gogs is named")
    return flavor


def _event(sent: Headers, flavor: _Flavor) -> str:
    """The event's name; of some events old versions of Gitea send the header empty."""
    name = flavor.header("event")
    return "" if headers.only(sent, name) == "" else headers.event_name(sent, name)


def _change(event: str, body: payload.Json) -> Change:
    match event:
        case "push":
            return _tested(body) or pushed(body, tag_commit=payload.commit_of(body, "head_commit"))
        case "create" | "delete":
            return ref_alone(body)
        case _:
            return OTHER


def _tested(body: payload.Json) -> Change | None:
    """A test delivery, if it is one (C25)."""
    ref, before, after = (payload.text(body, name) for name in ("ref", "before", "after"))
    if not ref or after is None or before != after:
        return None
    return Change(kind=EventKind.PING, ref=ref, branch=branch_of(ref), before_sha=payload.commit(body, "before"))
