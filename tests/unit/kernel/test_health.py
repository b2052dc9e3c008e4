"""Health, alike in every service (docs/api.md)."""

import asyncio

import pytest

from services.kernel.errors import Unavailable
from services.kernel.web import health
from tests.unit.kernel.service import calling, service

pytestmark = pytest.mark.anyio


async def unavailable() -> None:
    raise Unavailable("the store at 10.1.2.3 refused")


async def never() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("path", ["/livez", "/health/live"])
async def test_a_service_that_serves_is_alive_even_if_it_is_not_ready(path: str) -> None:
    async with calling(service(ready=unavailable)) as http:
        answer = await http.get(path)
    assert (answer.status_code, answer.json()) == (200, {"live": True, "service": "notes"})


@pytest.mark.parametrize("path", ["/readyz", "/health/ready"])
async def test_a_ready_service_says_so(path: str) -> None:
    async with calling(service()) as http:
        answer = await http.get(path)
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "service": "notes"})


@pytest.mark.parametrize("path", ["/readyz", "/health/ready"])
async def test_a_service_that_is_not_ready_says_the_code_and_no_more(path: str) -> None:
    async with calling(service(ready=unavailable)) as http:
        answer = await http.get(path)
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "service": "notes", "code": "unavailable"})


async def test_readiness_is_answered_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert health.READY_WITHIN.total_seconds() == 3
    monkeypatch.setattr(health, "READY_WITHIN", health.READY_WITHIN / 300)
    async with calling(service(ready=never)) as http:
        answer = await http.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


async def test_health_takes_no_other_method() -> None:
    async with calling(service()) as http:
        answer = await http.post("/livez")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
