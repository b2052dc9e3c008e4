"""Published signatures, byte for byte."""

import json
from datetime import UTC, datetime

import pytest
from starlette.datastructures import Headers

from services.ingress.providers.github import GitHub
from services.ingress.providers.gitlab import GitLab
from services.ingress.providers.port import Key, Received
from services.kernel.wire.webhooks import WebhookConfig
from tests.corpus.entries import ABSENT, FOLDER, REASON, Fields, vectors
from tests.corpus.platform import Platform
from tests.corpus.senders import JSON, Sender, Sent, send

pytestmark = pytest.mark.skipif(ABSENT, reason=REASON)

IN_FILES, INLINE = vectors("file_vectors"), vectors("inline_vectors")
GITHUB, OLD_GITHUB, STANDARD, BARE = "X-Hub-Signature-256", "X-Hub-Signature", "webhook-signature", "sha256"


@pytest.mark.anyio
@pytest.mark.parametrize("vector", IN_FILES, ids=[str(vector["file"]) for vector in IN_FILES])
async def test_a_published_signature_of_a_file_verifies_unless_it_is_a_sha1(anvil: Platform, vector: Fields) -> None:
    sender, body = Sender(str(vector["provider"])), (FOLDER / str(vector["file"])).read_bytes()
    url = str(json.loads(body)["repository"].get("clone_url"))
    slug = await anvil.project(repository_url=url, secret=str(vector["secret"]))
    bare = send(sender, body, id_=anvil.fresh("d"), event=str(vector["event"]))
    sent = bare.but(X_Hub_Signature_256=None, X_Gitea_Signature=None, X_Gogs_Signature=None)
    published = Sent(headers={**sent.headers, str(vector["header"]): str(vector["value"])}, body=body)
    answer = await anvil.deliver(slug, published, to=sender.route)
    assert answer.status_code in ((401,) if vector["alg"] == "sha1" else (200, 202)), answer.text


@pytest.mark.parametrize("vector", INLINE, ids=[str(vector["id"]) for vector in INLINE])
def test_a_published_signature_of_a_text_verifies_if_its_scheme_is_one_that_counts(vector: Fields) -> None:
    file = FOLDER / str(vector.get("body_file"))
    if "body" not in vector and not file.is_file():
        pytest.skip(f"{file.name} is not at hand")
    body = str(vector["body"]).encode() if "body" in vector else file.read_bytes()
    assert _verifies(vector, body) is (not vector.get("reject") and vector["scheme"] != OLD_GITHUB)


def _verifies(vector: Fields, body: bytes) -> bool:
    value, scheme = str(vector["value"]), str(vector["scheme"])
    if scheme.startswith(STANDARD):
        at = str(vector["webhook_timestamp"])
        headers = {"webhook-id": str(vector["webhook_id"]), "webhook-timestamp": at, "webhook-signature": value}
        key = Key(secret=str(vector["secret"]).encode(), config=WebhookConfig(signing_token=True))
        now = datetime.fromtimestamp(int(at), UTC)
        return GitLab().refusal(_received(headers, body), key, now=now) is None
    name, value = (GITHUB, f"sha256={value}") if scheme == BARE else (scheme, value)
    key = Key(secret=str(vector["secret"]).encode(), config=WebhookConfig())
    now = datetime(2026, 11, 30, tzinfo=UTC)
    return GitHub().refusal(_received({name: value}, body), key, now=now) is None


def _received(headers: dict[str, str], body: bytes) -> Received:
    return Received(headers=Headers(headers), media_type=JSON, body=body)
