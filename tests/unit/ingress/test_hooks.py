"""What a Git host is answered."""

import json
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from services.kernel.errors import Ambiguous, Forbidden, NotFound, RepositoryMismatch, Unavailable
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Outcome
from tests.unit.ingress.github_deliveries import GUID, SHA, push, signed
from tests.unit.ingress.site import Site

pytestmark = pytest.mark.anyio

BODY = json.dumps(push()).encode()
HEADERS = signed(BODY)


@pytest.mark.req("C2")
async def test_a_first_acceptance_is_202_and_names_the_run(site: Site) -> None:
    site.webhook()
    answer = await site.deliver(BODY, HEADERS)
    [accepted] = site.coordinator.accepted
    assert answer.status_code == 202
    assert answer.json() == {
        "outcome": "accepted",
        "duplicate": False,
        "deliveryId": GUID,
        "runId": accepted.run_id,
        "firstSeenAt": "2026-11-30T09:30:00.000Z",
        "hint": f"The run is queued; `anvil run watch {accepted.run_id}` follows it.",
    }


@pytest.mark.req("R84")
async def test_the_coordinator_gets_the_canonical_payload_and_the_version_that_verified_it(site: Site) -> None:
    site.webhook(version="v7")
    body = json.dumps(push(pusher={"email": "ada@in.the.body"})).encode()
    await site.deliver(body, signed(body))
    [accepted] = site.coordinator.accepted
    assert accepted.webhook_version == "v7"
    assert (accepted.canonical.branch, accepted.canonical.commit_sha) == ("main", SHA)
    assert "ada@in.the.body" not in accepted.model_dump_json()


async def test_a_form_is_a_delivery_too(site: Site) -> None:
    site.webhook()
    form = urlencode({"payload": BODY.decode()}).encode()
    answer = await site.deliver(form, signed(form, media_type="application/x-www-form-urlencoded"))
    assert answer.status_code == 202


async def test_a_replay_is_200_and_names_the_command_that_runs_again(site: Site) -> None:
    site.webhook()
    site.coordinator.duplicate = True
    answer = await site.deliver(BODY, HEADERS)
    said = answer.json()
    assert (answer.status_code, said["duplicate"]) == (200, True)
    assert "replays the stored outcome" in said["hint"]
    assert f"`anvil run rerun {said['runId']}`" in said["hint"]


@pytest.mark.parametrize("outcome", [Outcome.IGNORED_PING, Outcome.IGNORED_EVENT, Outcome.IGNORED_BRANCH])
async def test_what_is_ignored_is_200(site: Site, outcome: Outcome) -> None:
    site.webhook()
    site.coordinator.outcome = outcome
    answer = await site.deliver(BODY, HEADERS)
    assert (answer.status_code, answer.json()["outcome"], answer.json()["runId"]) == (200, outcome.value, None)


@pytest.mark.req("R46")
@pytest.mark.req("R47")
async def test_a_full_queue_is_503_and_to_be_tried_after_a_minute(site: Site) -> None:
    site.webhook()
    site.coordinator.outcome = Outcome.QUEUE_FULL
    answer = await site.deliver(BODY, HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (503, "project_queue_full")
    assert answer.headers["retry-after"] == "60"


async def test_a_full_queue_that_is_only_replayed_is_200_so_that_nobody_sends_for_ever(site: Site) -> None:
    site.webhook()
    site.coordinator.outcome, site.coordinator.duplicate = Outcome.QUEUE_FULL, True
    answer = await site.deliver(BODY, HEADERS)
    assert (answer.status_code, answer.json()["outcome"]) == (200, "queue_full")


async def test_another_repository_is_403(site: Site) -> None:
    site.webhook()
    site.coordinator.fail(internal.ACCEPT_DELIVERY, RepositoryMismatch())
    answer = await site.deliver(BODY, HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (403, "webhook_repo_mismatch")


@pytest.mark.parametrize("provider", ["bitbucket", "GitHub", "github.com", "x" * 300])
async def test_a_provider_that_does_not_exist_is_404_before_all_else(site: Site, provider: str) -> None:
    answer = await site.deliver(b"", {"Content-Encoding": "gzip"}, provider=provider)
    assert (answer.status_code, site.coordinator.called) == (404, [])


@pytest.mark.parametrize("media_type", ["text/plain", "application/jsonp", "multipart/form-data; boundary=x", ""])
async def test_what_is_neither_json_nor_the_hosts_form_is_415(site: Site, media_type: str) -> None:
    site.webhook()
    answer = await site.deliver(BODY, signed(BODY, media_type=media_type))
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


async def test_parameters_and_case_of_the_content_type_do_not_matter(site: Site) -> None:
    site.webhook()
    assert (await site.deliver(BODY, signed(BODY, media_type="Application/JSON; charset=utf-8"))).status_code == 202


async def test_the_signature_comes_before_the_delivery_id_and_that_before_the_payload(site: Site) -> None:
    site.webhook()
    codes = [
        (await site.deliver(b"{", signed(b"{", secret=b"another secret 00", guid=""))).json()["code"],
        (await site.deliver(b"{", signed(b"{", guid=""))).json()["code"],
        (await site.deliver(b"{", signed(b"{"))).json()["code"],
    ]
    assert codes == ["invalid_signature", "invalid_delivery_id", "invalid_payload"]
    assert site.coordinator.accepted == []


async def test_a_store_that_is_away_is_503_and_to_be_tried_again(site: Site) -> None:
    site.webhook()
    site.coordinator.fail(internal.ACCEPT_DELIVERY, Unavailable("the vault"), Unavailable("the vault"))
    answer = await site.deliver(BODY, HEADERS)
    assert "vault" not in answer.text
    assert (answer.status_code, answer.json()["code"], answer.json()["retryable"]) == (503, "unavailable", True)
    assert answer.headers["retry-after"] == "5"


@pytest.mark.inv("H5")
async def test_past_the_deadline_the_answer_is_503_and_the_coordinator_is_not_asked_any_more(site: Site) -> None:
    site.webhook()

    async def dawdle() -> None:
        site.clock.passed += timedelta(seconds=5)

    site.coordinator.meanwhile(internal.VERIFICATION, dawdle)
    answer = await site.deliver(BODY, HEADERS)
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "unavailable", "5")
    assert site.coordinator.accepted == []


async def test_a_deadline_that_a_stranger_sends_along_counts_for_nothing(site: Site) -> None:
    site.webhook()
    assert (await site.deliver(BODY, {**HEADERS, "X-Anvil-Deadline-Ms": "0"})).status_code == 202


async def test_an_answer_that_was_lost_is_asked_for_again_under_the_same_run(site: Site) -> None:
    site.webhook()
    site.coordinator.fail(internal.ACCEPT_DELIVERY, Ambiguous())
    assert (await site.deliver(BODY, HEADERS)).status_code == 202
    assert site.coordinator.called.count(internal.ACCEPT_DELIVERY.path) == 2


@pytest.mark.parametrize("fault", [Forbidden(), NotFound("no such path")])
async def test_what_the_coordinator_holds_against_ingress_is_not_held_against_the_sender(
    site: Site, fault: Forbidden | NotFound
) -> None:
    site.webhook()
    site.coordinator.fail(internal.VERIFICATION, fault)
    answer = await site.deliver(BODY, HEADERS)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
