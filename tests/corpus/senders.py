"""Git hosts as senders: the headers that each sends, signed as it signs. Written from their documentation, by hand."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qs, urlencode

SECRET = "correct horse battery staple"
SIGNING_TOKEN = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


class Sender(StrEnum):
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"
    FORGEJO = "forgejo"
    GOGS = "gogs"

    @property
    def route(self) -> str:
        """The provider whose route is its own."""
        return self.value if self in (Sender.GITHUB, Sender.GITLAB) else "gitea"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    headers: Mapping[str, str]
    body: bytes

    def but(self, **changed: str | None) -> "Sent":
        """With other headers, named with underscores; None leaves one out."""
        others = {name.replace("_", "-").lower(): value for name, value in changed.items()}
        kept = {name: value for name, value in self.headers.items() if name.lower() not in others}
        return Sent(headers=kept | {name: value for name, value in others.items() if value is not None}, body=self.body)


def form(text: bytes) -> bytes:
    return urlencode({"payload": text.decode()}).encode()


def hexdigest(secret: str, text: bytes) -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def send(
    sender: Sender,
    body: bytes,
    *,
    id_: str,
    event: str | None = None,
    secret: str = SECRET,
    media_type: str = JSON,
) -> Sent:
    """`body` as it goes over the wire, with this sender's headers."""
    match sender:
        case Sender.GITHUB:
            headers = _github(body, id_=id_, event=event or "push", secret=secret)
        case Sender.GITLAB:
            headers = _gitlab(id_=id_, event=event or "Push Hook", secret=secret)
        case Sender.GITEA | Sender.FORGEJO | Sender.GOGS:
            headers = _family(sender, body, id_=id_, event=event or "push", secret=secret, media_type=media_type)
    return Sent(headers={"Content-Type": media_type, **headers}, body=body)


def sign(token: str, body: bytes, *, id_: str, at: int | str) -> str:
    """A signature as Standard Webhooks has it."""
    key = base64.b64decode(token.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id_}.{at}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def send_signed(body: bytes, *, id_: str, at: int, event: str = "Push Hook", token: str = SIGNING_TOKEN) -> Sent:
    """GitLab with a signing token; `at` in seconds since 1970."""
    headers = {
        "Content-Type": JSON,
        "X-Gitlab-Event": event,
        "Idempotency-Key": id_,
        "webhook-id": id_,
        "webhook-timestamp": str(at),
        "webhook-signature": sign(token, body, id_=id_, at=at),
    }
    return Sent(headers=headers, body=body)


def _github(body: bytes, *, id_: str, event: str, secret: str) -> dict[str, str]:
    return {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": id_,
        "X-Hub-Signature-256": f"sha256={hexdigest(secret, body)}",
    }


def _gitlab(*, id_: str, event: str, secret: str) -> dict[str, str]:
    return {
        "X-Gitlab-Event": event,
        "X-Gitlab-Token": secret,
        "Idempotency-Key": id_,
        "X-Gitlab-Webhook-UUID": f"request-{id_}",
        "X-Gitlab-Event-UUID": "chain",
    }


def _family(sender: Sender, body: bytes, *, id_: str, event: str, secret: str, media_type: str) -> dict[str, str]:
    """Gitea and its kin: Forgejo sends Gitea's headers too, Gitea those of Gogs, and all of them GitHub's."""
    digest = hexdigest(secret, signed_text(body, media_type))
    hub = {"X-GitHub-Event": event, "X-GitHub-Delivery": id_}
    gogs = {"X-Gogs-Event": event, "X-Gogs-Delivery": id_, "X-Gogs-Signature": digest}
    if sender is Sender.GOGS:
        return {**hub, **gogs}
    hub["X-Hub-Signature-256"] = f"sha256={digest}"
    gitea = {"X-Gitea-Event": event, "X-Gitea-Delivery": id_, "X-Gitea-Signature": digest}
    if sender is Sender.GITEA:
        return {**hub, **gogs, **gitea}
    return {**hub, **gogs, **gitea, **{name.replace("Gitea", "Forgejo"): value for name, value in gitea.items()}}


def signed_text(body: bytes, media_type: str) -> bytes:
    """What Gitea and its kin sign: the JSON text, also of a form."""
    return parse_qs(body.decode())["payload"][0].encode() if media_type == FORM else body
