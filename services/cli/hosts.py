"""What a Git host's webhook form is told, and where that form is.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import WebhookConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The words of the host's own form; `page` is under the repository's."""

    page: str
    content_type: str
    events: str
    secret: str


FORMS: Final[Mapping[Provider, Form]] = {
    Provider.GITHUB: Form(
        page="settings/hooks/new", content_type="application/json", events="just the push event", secret="Secret"
    ),
    Provider.GITLAB: Form(
        page="-/hooks", content_type="JSON, which is all that GitLab sends", events="Push events", secret="Secret token"
    ),
    Provider.GITEA: Form(
        page="settings/hooks", content_type="POST, application/json", events="Push events", secret="Secret"
    ),
}
_SIGNING_TOKEN: Final = "Signing token, with the secret token left empty"


def setup(provider: Provider, config: WebhookConfig, *, payload_url: str, repository_url: str) -> dict[str, str]:
    """What is entered besides the secret itself."""
    form = FORMS[provider]
    return {
        "form": _page(form.page, config, repository_url),
        "payloadUrl": payload_url,
        "contentType": form.content_type,
        "events": form.events,
        "secretField": _SIGNING_TOKEN if config.signing_token else form.secret,
    }


def _page(page: str, config: WebhookConfig, repository_url: str) -> str:
    """The form's URL on the webhook's instance; without one on the repository's own host."""
    parts = urlsplit(repository_url)
    if not parts.hostname:
        return "the webhook settings of the repository"
    base = (config.instance_url or f"{parts.scheme}://{parts.netloc}").rstrip("/")
    path = parts.path.removeprefix(urlsplit(base).path).strip("/").removesuffix(".git")
    return f"{base}/{path}/{page}"
