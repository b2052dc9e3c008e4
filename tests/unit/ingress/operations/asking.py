"""What people ask of the private API about operations, in one line each."""

from collections.abc import Mapping

import httpx2

from tests.unit.coordinator.book import EVIDENCE, LONGEST
from tests.unit.coordinator.operations.billing import drops
from tests.unit.whole import OPERATOR, Whole

INPUT = {"customer": "c-1"}
ROW = f"/ledger/anvil_idempotency_0123456789abcdef/{'0' * 64}"
VERDICT = {"evidenceSha256": EVIDENCE, "reason": "looked"}


async def execute(
    anvil: Whole,
    mode: str = "required",
    *,
    key: str | None = "order-4711",
    by: str = OPERATOR,
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, object] | None = None,
) -> httpx2.Response:
    sent = {**({} if key is None else {"Idempotency-Key": key}), **(headers or {})}
    return await anvil.call(
        "POST", f"/operations/make-{mode}:execute", json={"input": INPUT, **(more or {})}, headers=sent, by=by
    )


def told(answer: httpx2.Response) -> tuple[int, object, object]:
    """Status, code and whether the same request may succeed later."""
    return answer.status_code, answer.json().get("code"), answer.json().get("retryable")


async def unknown(anvil: Whole) -> str:
    """The path of a row whose outcome nobody knows, and which may be settled."""
    anvil.billing.answers = [drops(acts=True)]
    answer = await execute(anvil)
    assert told(answer) == (409, "idempotency_outcome_unknown", False)
    anvil.place.clock.move(LONGEST)
    return str(answer.json()["ledgerRef"]).replace("firestore", "/ledger")


def verdict(verb: str) -> dict[str, object]:
    """A body that this verb takes."""
    return {**VERDICT, "response": {"status": 201, "body": None}} if verb == "complete" else {**VERDICT}
