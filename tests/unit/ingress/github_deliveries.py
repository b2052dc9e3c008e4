"""Valid GitHub deliveries; a test overrides only what it is about."""

import hashlib
import hmac
import json
from collections.abc import Mapping

from starlette.datastructures import Headers

from services.ingress.providers.port import Received

SECRET = b"correct horse battery staple"
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
BEFORE = "9049f1265b7d61be4a8904a9a27120d2064dab3b"
ZERO = "0" * 40
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
REPOSITORY = {
    "clone_url": "https://github.com/octo/hello.git",
    "html_url": "https://github.com/octo/hello",
    "ssh_url": "git@github.com:octo/hello.git",
    "git_url": "git://github.com/octo/hello.git",
}

Fields = Mapping[str, object]
RawHeaders = list[tuple[bytes, bytes]]


def push(**changed: object) -> dict[str, object]:
    """The body of a push to `main`; a field given as None is left out."""
    whole: dict[str, object] = {
        "ref": "refs/heads/main",
        "before": BEFORE,
        "after": SHA,
        "deleted": False,
        "repository": REPOSITORY,
        "commits": [],
    }
    return {name: value for name, value in (whole | changed).items() if value is not None}


def signature(body: bytes, secret: bytes = SECRET) -> str:
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def signed(
    body: bytes, *, secret: bytes = SECRET, event: str = "push", guid: str = GUID, media_type: str = "application/json"
) -> dict[str, str]:
    """The headers that GitHub sends along with `body`."""
    return {
        "Content-Type": media_type,
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": guid,
        "X-Hub-Signature-256": signature(body, secret),
    }


def received(
    body: Fields | bytes,
    *,
    event: str = "push",
    media_type: str = "application/json",
    headers: RawHeaders | None = None,
) -> Received:
    """A signed request; `headers` replaces all of its headers, as they come from the server: lower-case names."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {name.lower(): value for name, value in signed(raw, event=event, media_type=media_type).items()}
    kept = headers if headers is not None else [(name.encode(), value.encode()) for name, value in sent.items()]
    return Received(headers=Headers(raw=kept), media_type=media_type, body=raw)
