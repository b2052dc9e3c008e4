"""Who may do what belongs to no project, and what is known of it later."""

import pytest

from tests.unit.ingress.operations.asking import ROW, VERDICT, unknown
from tests.unit.whole import ADMIN, ELSEWHERE, OPERATOR, VIEWER, Whole

pytestmark = pytest.mark.anyio

ENDPOINTS = [
    ("GET", "/operations", "viewer"),
    ("POST", "/operations/make-required:execute", "operator"),
    ("GET", "/ledger", "operator"),
    ("GET", ROW, "operator"),
    ("POST", f"{ROW}:complete", "operator"),
    ("POST", f"{ROW}:release", "operator"),
    ("POST", f"{ROW}:note", "operator"),
    ("GET", "/audit", "admin"),
]


@pytest.mark.threat("A53")
@pytest.mark.parametrize(("method", "path", "role"), ENDPOINTS, ids=[f"{each[0]} {each[1][:20]}" for each in ENDPOINTS])
async def test_what_belongs_to_no_project_needs_a_role_in_all(anvil: Whole, method: str, path: str, role: str) -> None:
    allowed = {"viewer": {VIEWER, OPERATOR, ADMIN}, "operator": {OPERATOR, ADMIN}, "admin": {ADMIN}}[role]
    for by in (VIEWER, OPERATOR, ADMIN, ELSEWHERE):
        answer = await anvil.call(method, path, by=by)
        assert (answer.status_code == 403) is (by not in allowed), by
    assert anvil.billing.made() == []


async def test_the_audit_has_who_did_it_and_nothing_of_what_was_asked_or_answered(anvil: Whole) -> None:
    path = await unknown(anvil)
    row = await anvil.call("GET", path)
    body = {**VERDICT, "response": {"status": 201, "body": {"invoice": "planted-result"}}}
    await anvil.call("POST", f"{path}:complete", json=body, headers={"If-Match": row.headers["ETag"]})
    page = await anvil.call("GET", "/audit", by=ADMIN)
    acts = [(each["act"], each["actor"], each["outcome"], each["code"]) for each in page.json()["items"]]

    assert acts == [
        ("ledger.complete", OPERATOR, "done", None),
        ("operation.execute", OPERATOR, "unknown", "idempotency_outcome_unknown"),
    ]
    for planted in ("planted-result", "order-4711", "c-1"):
        assert planted not in page.text
    of_row = await anvil.call("GET", "/audit", params={"target": row.json()["ledgerRef"]}, by=ADMIN)
    assert [each["act"] for each in of_row.json()["items"]] == ["ledger.complete"]


async def test_the_audit_has_who_created_and_deleted_a_project(anvil: Whole) -> None:
    new = {"slug": "hello", "name": "Hello", "repositoryUrl": "https://git.example/hello.git"}
    await anvil.call("POST", "/projects", json=new, by=ADMIN)
    await anvil.call("PUT", "/projects/hello/webhooks/github", json={"enabled": True}, by=OPERATOR)
    await anvil.call("DELETE", "/projects/hello/webhooks/github", by=OPERATOR)
    await anvil.call("DELETE", "/projects/hello", by=ADMIN)
    page = await anvil.call("GET", "/audit", by=ADMIN)

    assert [(each["act"], each["actor"]) for each in page.json()["items"]][::-1] == [
        ("project.create", ADMIN),
        ("webhook.create", OPERATOR),
        ("webhook.delete", OPERATOR),
        ("project.delete", ADMIN),
    ]
