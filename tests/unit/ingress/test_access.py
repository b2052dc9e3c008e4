"""Who gets in at all, and to which project."""

import pytest

from services.kernel.errors import Forbidden
from services.kernel.wire import internal
from tests.unit.ingress.site import ADMIN, NEIGHBOUR, OPERATOR, STRANGER, VIEWER, Site

pytestmark = pytest.mark.anyio

PROJECT_ROUTES = [
    ("GET", ""),
    ("PATCH", ""),
    ("DELETE", ""),
    ("GET", "/queue"),
    ("GET", "/runs"),
    ("POST", "/runs"),
    ("GET", "/webhooks"),
    ("PUT", "/webhooks/github"),
    ("POST", "/webhooks/github/rotate-secret"),
    ("DELETE", "/webhooks/github"),
    ("GET", "/deliveries"),
    ("GET", "/deliveries/dlv_0000000000000000000001"),
]


@pytest.mark.threat("A53")
@pytest.mark.parametrize(("method", "path"), PROJECT_ROUTES)
async def test_anothers_project_does_not_exist_on_any_path(site: Site, method: str, path: str) -> None:
    anothers = await site.call(method, f"/projects/site{path}", by=NEIGHBOUR)
    assert (anothers.status_code, anothers.json()["code"]) == (404, "not_found")
    assert site.coordinator.called == []


@pytest.mark.parametrize(("method", "path"), [route for route in PROJECT_ROUTES if route[0] != "GET"])
async def test_a_viewer_changes_nothing_in_a_project(site: Site, method: str, path: str) -> None:
    answer = await site.call(method, f"/projects/site{path}", by=VIEWER)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert site.coordinator.called == []


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_an_operator_is_no_admin(site: Site, method: str) -> None:
    assert (await site.call(method, "/projects/site", by=OPERATOR)).status_code == 403


async def test_nobody_gets_in_without_a_token(site: Site) -> None:
    answer = await site.http.get("/api/private/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_a_token_for_another_service_does_not_get_one_in(site: Site) -> None:
    token = site.issuer.token(ADMIN, "anvil-coordinator").value
    answer = await site.http.get("/api/private/me", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401


async def test_who_has_no_role_anywhere_stays_outside(site: Site) -> None:
    assert (await site.call("GET", "/me", by=STRANGER)).status_code == 403


@pytest.mark.parametrize(("by", "role"), [(ADMIN, "admin"), (OPERATOR, "operator"), (VIEWER, "viewer")])
async def test_one_is_told_who_one_is(site: Site, by: str, role: str) -> None:
    assert (await site.call("GET", "/me", by=by)).json() == {"principal": by, "role": role}


async def test_a_fault_between_the_services_is_not_the_persons(site: Site) -> None:
    site.coordinator.fail(internal.GET_PROJECT, Forbidden())
    answer = await site.call("GET", "/projects/site")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


async def test_what_is_served_describes_itself(site: Site) -> None:
    paths = (await site.http.get("/openapi.json")).json()["paths"]
    assert "/api/public/hooks/{provider}/{project}" in paths
    assert "/api/private/projects/{project}/webhooks/{provider}/rotate-secret" in paths


async def test_ingress_is_ready_although_the_coordinator_is_not(site: Site) -> None:
    answer = await site.http.get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "service": "ingress"})
    assert site.coordinator.called == []
