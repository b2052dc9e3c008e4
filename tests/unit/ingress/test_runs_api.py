"""Runs in the private API."""

import httpx2
import pytest

from services.kernel.wire.runs import AcceptRun, CancelRun
from tests.unit.ingress.coordinator import run
from tests.unit.ingress.site import NEIGHBOUR, OPERATOR, VIEWER, Site

pytestmark = pytest.mark.anyio

RUN = "run_0000000000000000000001"


def commands(site: Site) -> list[AcceptRun]:
    return [each for each in site.coordinator.commands if isinstance(each, AcceptRun)]


async def test_a_manual_run_is_202_with_its_id_and_where_it_is(site: Site) -> None:
    answer = await site.call("POST", "/projects/site/runs", json={"branch": "feature/x"}, by=OPERATOR)
    [command] = commands(site)
    assert answer.status_code == 202
    assert answer.json() == {
        "runId": command.run_id,
        "url": f"https://ci.example.com/api/private/runs/{command.run_id}",
    }
    assert (command.branch, command.source, command.idempotency_key, command.actor) == (
        "feature/x",
        None,
        None,
        OPERATOR,
    )


async def test_without_a_body_the_default_branch_is_asked_for(site: Site) -> None:
    assert (await site.call("POST", "/projects/site/runs", by=OPERATOR)).status_code == 202
    assert commands(site)[0].branch is None


@pytest.mark.parametrize("branch", ["-x", "a..b", "", "a b"])
async def test_a_branch_that_git_would_not_take_starts_nothing(site: Site, branch: str) -> None:
    answer = await site.call("POST", "/projects/site/runs", json={"branch": branch})
    assert (answer.status_code, answer.json()["code"], commands(site)) == (400, "invalid_request", [])


async def test_an_idempotency_key_goes_along(site: Site) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    key = {"Idempotency-Key": "k" * 255}
    await site.call("POST", "/projects/site/runs", headers=key)
    await site.call("POST", f"/runs/{RUN}/rerun", headers=key)
    assert [command.idempotency_key for command in commands(site)] == ["k" * 255, "k" * 255]


@pytest.mark.parametrize("keys", [[b""], [b"a b"], [b"a\xc3\xbc"], [b"k" * 256], [b"a", b"a"]])
async def test_a_key_that_is_none_starts_nothing(site: Site, keys: list[bytes]) -> None:
    token = site.issuer.token(OPERATOR, "anvil-ingress").value.encode()
    headers = [(b"authorization", b"Bearer " + token), *((b"idempotency-key", key) for key in keys)]
    answer = await site.http.post("/api/private/projects/site/runs", headers=httpx2.Headers(headers))
    assert (answer.status_code, answer.json()["code"], commands(site)) == (400, "invalid_request", [])


async def test_a_rerun_names_its_source_and_lands_in_the_same_project(site: Site) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    answer = await site.call("POST", f"/runs/{RUN}/rerun", by=OPERATOR)
    [command] = commands(site)
    assert (answer.status_code, answer.json()["runId"]) == (202, command.run_id)
    assert (command.source, command.actor) == (RUN, OPERATOR)
    assert command.run_id != RUN


async def test_a_cancel_says_who_asked_for_it(site: Site) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    assert (await site.call("POST", f"/runs/{RUN}/cancel", by=OPERATOR)).status_code == 200
    assert site.coordinator.commands[-1] == CancelRun(actor=OPERATOR)


async def test_a_run_says_where_it_and_its_log_are(site: Site) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    answer = await site.call("GET", f"/runs/{RUN}", by=VIEWER)
    assert answer.json()["links"] == {
        "self": f"https://ci.example.com/api/private/runs/{RUN}",
        "log": f"https://ci.example.com/api/private/runs/{RUN}/log",
    }


@pytest.mark.threat("A51")
async def test_a_log_is_plain_text_and_nothing_else(site: Site) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    answer = await site.call("GET", f"/runs/{RUN}/log?after=7", by=VIEWER)
    assert (answer.status_code, answer.text) == (200, "hello\n<b>\n")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert (answer.headers["x-log-cursor"], answer.headers["x-log-complete"]) == ("17", "true")


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=1&after=2", "before=1"])
async def test_a_log_begins_at_a_byte(site: Site, query: str) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    answer = await site.call("GET", f"/runs/{RUN}/log?{query}", by=VIEWER)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


ROUTES = [("GET", ""), ("GET", "/log"), ("POST", "/cancel"), ("POST", "/rerun")]


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_anothers_run_does_not_exist(site: Site, method: str, path: str) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    missing = await site.call(method, f"/runs/{RUN.replace('1', '2')}{path}", by=NEIGHBOUR)
    anothers = await site.call(method, f"/runs/{RUN}{path}", by=NEIGHBOUR)
    assert (missing.status_code, anothers.status_code) == (404, 404)
    assert commands(site) == []


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("name", ["run_1", "dlv_0000000000000000000001", "..", "run_000000000000000000000%0A"])
async def test_what_is_no_run_id_is_not_looked_for(site: Site, method: str, path: str, name: str) -> None:
    assert (await site.call(method, f"/runs/{name}{path}")).status_code == 404
    assert site.coordinator.called == []


@pytest.mark.parametrize("path", ["/cancel", "/rerun"])
async def test_a_viewer_only_looks(site: Site, path: str) -> None:
    site.coordinator.runs[RUN] = run(RUN)
    answer = await site.call("POST", f"/runs/{RUN}{path}", by=VIEWER)
    assert (answer.status_code, answer.json()["code"], commands(site)) == (403, "forbidden", [])
