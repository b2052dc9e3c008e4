"""Where secrets are and are not, over a whole platform."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2
import pytest
import structlog

from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from tests.corpus.bodies import push, raw
from tests.corpus.platform import Platform
from tests.corpus.senders import SECRET, Sender, send

pytestmark = pytest.mark.anyio

BODY = raw(push(Sender.GITHUB))


@dataclass(slots=True)
class Opened:
    """The files that this process opens to write, while it is asked to look."""

    looking: bool = False
    paths: list[str] = field(default_factory=list[str])

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.looking and event == "open" and isinstance(args[1], str) and set("wax+") & set(args[1]):
            self.paths.append(str(args[0]))


OPENED = Opened()


@pytest.fixture(scope="module", autouse=True)
def _watch() -> None:
    """For good: an audit hook cannot be taken away."""
    sys.addaudithook(OPENED)


@contextmanager
def files_written() -> Generator[list[str]]:
    OPENED.paths.clear()
    OPENED.looking = True
    try:
        yield OPENED.paths
    finally:
        OPENED.looking = False


async def live(anvil: Platform, slug: str) -> list[httpx2.Response]:
    """Everything that a webhook goes through but its making and rotating."""
    path = f"/projects/{slug}/webhooks/gitea"
    version = (await anvil.call("GET", f"/projects/{slug}/webhooks")).json()["items"][0]["version"]
    return [
        await anvil.call("PUT", path, json={"enabled": False}),
        await anvil.call("PUT", path, json={"enabled": True, "config": {"instanceUrl": "https://code.example"}}),
        await anvil.call("PUT", path, json={"secret": SECRET}),
        await anvil.call("POST", f"{path}/rotate-secret", json={"confirm": True, "version": f"not {version}"}),
        await anvil.call("POST", f"{path}/test", json={}),
        await anvil.call("GET", f"/projects/{slug}/webhooks"),
        await anvil.call("GET", f"/projects/{slug}/deliveries"),
        await anvil.call("GET", f"/projects/{slug}"),
        await anvil.deliver(slug, send(Sender.GITEA, BODY, id_="d-1"), to="gitea"),
        await anvil.deliver(slug, send(Sender.GITEA, BODY, id_="d-2", secret="wrong" * 4), to="gitea"),
        await anvil.call("DELETE", path),
    ]


@pytest.mark.req("R78")
async def test_after_its_making_neither_secret_nor_ciphertext_is_answered_or_logged(anvil: Platform) -> None:
    slug = await anvil.project()
    sealed = (
        await anvil.console.call(internal.TEST_MATERIAL, path={"project": slug, "provider": Provider.GITEA})
    ).secret
    assert sealed is not None
    with structlog.testing.capture_logs() as logged:
        answers = await live(anvil, slug)
    assert [answer.status_code for answer in answers] == [200, 200, 400, 409, 200, 200, 200, 200, 202, 401, 204]
    said = "\n".join([*(answer.text for answer in answers), *(str(answer.headers) for answer in answers), str(logged)])
    for hidden in (SECRET, sealed.ciphertext, sealed.nonce, sealed.secret_id):
        assert hidden not in said


@pytest.mark.req("R82")
async def test_a_plain_secret_is_in_no_file(anvil: Platform) -> None:
    with files_written() as paths:
        slug = await anvil.project()
        await anvil.call("DELETE", f"/projects/{slug}/webhooks/gitlab")
        made = await anvil.call("PUT", f"/projects/{slug}/webhooks/gitlab", json={"enabled": True})
        await live(anvil, slug)
    secrets = [SECRET.encode(), made.json()["generatedSecret"].encode()]
    assert [path for path in paths if not path.startswith(str(anvil.folder))] == []
    stored = b"".join(file.read_bytes() for file in anvil.folder.iterdir() if file.is_file())
    assert slug.encode() in stored
    assert not any(secret in stored for secret in secrets)


@pytest.mark.req("R79")
async def test_an_ingress_that_knows_nothing_answers_as_the_one_before_for_the_coordinator_keeps_it_all(
    anvil: Platform,
) -> None:
    slug = await anvil.project()
    sent = send(Sender.GITHUB, BODY, id_="d-1")
    first = (await anvil.deliver(slug, sent, to="github")).json()
    [version] = [
        each["version"]
        for each in (await anvil.call("GET", f"/projects/{slug}/webhooks")).json()["items"]
        if each["provider"] == "gitea"
    ]
    await anvil.call("PUT", f"/projects/{slug}/webhooks/gitlab", json={"enabled": False})
    rotation = {"confirm": True, "version": version}
    rotated = (await anvil.call("POST", f"/projects/{slug}/webhooks/gitea/rotate-secret", json=rotation)).json()
    app = anvil.another()
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://another") as http,
    ):

        async def deliver(sender: Sender, secret: str) -> httpx2.Response:
            fresh = send(sender, BODY, id_="d-1", secret=secret)
            path = f"/api/public/hooks/{sender.route}/{slug}"
            return await http.post(path, content=fresh.body, headers=dict(fresh.headers))

        again = await deliver(Sender.GITHUB, SECRET)
        refused = [await deliver(Sender.GITLAB, SECRET), await deliver(Sender.GITEA, SECRET)]
        taken = await deliver(Sender.GITEA, rotated["secret"])
    assert (again.status_code, again.json()["duplicate"], again.json()["runId"]) == (200, True, first["runId"])
    assert [answer.status_code for answer in refused] == [401, 401]
    assert taken.status_code == 202
