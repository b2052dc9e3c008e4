"""An operator's verdict on a row: at the version that was looked at, with evidence and a reason."""

import pytest

from tests.unit.coordinator.operations.billing import answers, drops
from tests.unit.ingress.operations.asking import ROW, VERDICT, execute, told, unknown, verdict
from tests.unit.whole import ADMIN, Whole

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("verb", ["complete", "release"])
async def test_a_verdict_whose_answer_is_lost_is_asked_again_and_done_once(anvil: Whole, verb: str) -> None:
    path = await unknown(anvil)
    row = await anvil.call("GET", path)
    body = verdict(verb)
    anvil.line.loses = [f":{verb}"]
    settled = await anvil.call("POST", f"{path}:{verb}", json=body, headers={"If-Match": row.headers["ETag"]})
    acts = (await anvil.call("GET", "/audit", params={"target": row.json()["ledgerRef"]}, by=ADMIN)).json()["items"]

    assert settled.status_code == 200
    assert [(each["auditId"], each["outcome"]) for each in acts] == [(settled.json()["auditId"], "done")]


async def test_a_row_has_its_version_as_etag(anvil: Whole) -> None:
    row = await anvil.call("GET", await unknown(anvil))

    assert row.headers["ETag"] == f'"{row.json()["version"]}"'
    assert row.json()["status"] == "in_progress"


@pytest.mark.parametrize("verb", ["complete", "release", "note"])
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (None, (428, "version_required")),
        ("*", (400, "invalid_request")),
        ('W/"1"', (400, "invalid_request")),
        ("1", (400, "invalid_request")),
        ('"1", "2"', (400, "invalid_request")),
        ('""', (400, "invalid_request")),
        ('"1"', (412, "stale_version")),
    ],
)
async def test_a_verdict_names_the_one_version_that_was_looked_at(
    anvil: Whole, verb: str, sent: str | None, expected: tuple[int, str]
) -> None:
    path = await unknown(anvil)
    body = verdict(verb)
    answer = await anvil.call("POST", f"{path}:{verb}", json=body, headers={} if sent is None else {"If-Match": sent})

    assert (answer.status_code, answer.json()["code"]) == expected
    assert (await anvil.call("GET", path)).json()["status"] == "in_progress"


@pytest.mark.parametrize("verb", ["complete", "release"])
@pytest.mark.parametrize("lacks", ["evidenceSha256", "reason"])
async def test_a_verdict_needs_evidence_and_a_reason(anvil: Whole, verb: str, lacks: str) -> None:
    path = await unknown(anvil)
    body = verdict(verb)
    del body[lacks]
    answer = await anvil.call("POST", f"{path}:{verb}", json=body, headers={"If-Match": '"1"'})

    assert answer.status_code == 400
    assert answer.json()["errors"] == [{"field": lacks, "message": "required"}]


@pytest.mark.parametrize("verb", ["complete", "release", "note"])
async def test_a_reason_is_one_that_can_be_seen(anvil: Whole, verb: str) -> None:
    for blank in ("", " ", "\t\r\n", "\u00a0\u2003", "\u200b\u2060", "\u202e\u00ad", "\x00"):
        answer = await anvil.call("POST", f"{ROW}:{verb}", json={**verdict(verb), "reason": blank})

        assert told(answer) == (400, "invalid_request", False), repr(blank)
        assert [each["field"] for each in answer.json()["errors"]] == ["reason"]


@pytest.mark.parametrize("extra", ["force", "olderThan", "all"])
async def test_there_is_no_force_no_bulk_and_no_age(anvil: Whole, extra: str) -> None:
    path = await unknown(anvil)
    answer = await anvil.call("POST", f"{path}:release", json={**VERDICT, extra: True}, headers={"If-Match": '"1"'})

    assert answer.json()["errors"] == [{"field": extra, "message": "unknown field"}]


async def test_what_an_operator_completed_is_replayed_without_what_is_secret(anvil: Whole) -> None:
    path = await unknown(anvil)
    row = await anvil.call("GET", path)
    body = {**VERDICT, "response": {"status": 201, "body": {"invoice": "i-1", "secret": "planted"}}}
    settled = await anvil.call("POST", f"{path}:complete", json=body, headers={"If-Match": row.headers["ETag"]})
    replayed = await execute(anvil)
    stale = await anvil.call("POST", f"{path}:release", json=VERDICT, headers={"If-Match": row.headers["ETag"]})

    assert settled.json()["row"]["status"] == "completed"
    assert replayed.json() == {
        "status": 201,
        "result": {"invoice": "i-1", "secret": "[redacted]"},
        "replayed": True,
    }
    assert replayed.headers["Idempotent-Replayed"] == "true"
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_version")
    assert settled.json()["row"]["version"] in stale.json()["detail"]
    assert len(anvil.billing.requests) == 1


async def test_what_an_operator_released_may_be_done(anvil: Whole) -> None:
    path = await unknown(anvil)
    row = await anvil.call("GET", path)
    settled = await anvil.call("POST", f"{path}:release", json=VERDICT, headers={"If-Match": row.headers["ETag"]})
    anvil.billing.answers = [answers(201, {"invoice": "i-2"})]

    assert settled.json()["row"] is None
    assert (await anvil.call("GET", path)).status_code == 404
    assert (await execute(anvil)).json()["replayed"] is False


async def test_a_verdict_before_every_attempt_has_ended_is_refused(anvil: Whole) -> None:
    anvil.billing.answers = [drops(acts=True)]
    path = str((await execute(anvil)).json()["ledgerRef"]).replace("firestore", "/ledger")
    row = await anvil.call("GET", path)
    answer = await anvil.call("POST", f"{path}:release", json=VERDICT, headers={"If-Match": row.headers["ETag"]})

    assert told(answer) == (409, "ledger_attempt_running", False)
    assert row.json()["maxUntil"] in answer.json()["detail"]


async def test_rows_that_cannot_be_are_not_found(anvil: Whole) -> None:
    for path in ("/ledger/runs/x", f"/ledger/anvil_idempotency_{'0' * 16}/x", ROW):
        assert told(await anvil.call("GET", path)) == (404, "not_found", False)
