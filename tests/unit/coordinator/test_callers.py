"""Each caller may ask its own, and nothing else."""

import pytest

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import Forbidden
from services.kernel.wire import internal
from services.kernel.wire.model import Wire
from tests.unit.coordinator import callers
from tests.unit.coordinator.builders import run_id
from tests.unit.coordinator.driver import Driver

pytestmark = pytest.mark.anyio

EMAILS = {
    Audience.HOOKS: callers.HOOKS,
    Audience.CONSOLE: callers.CONSOLE,
    Audience.RUNNER: callers.RUNNER,
    Audience.TASKS: callers.TASKS,
    Audience.SCHEDULER: callers.SCHEDULER,
}
PATH = {
    "project": "site",
    "provider": "github",
    "run": run_id(1),
    "delivery": "dlv_1",
    "operation": "make-invoice",
    "collection": "anvil_idempotency_0123456789abcdef",
    "document": "0" * 64,
}

SERVED: list[Endpoint[Wire, Wire]] = [
    each for each in vars(internal).values() if isinstance(each, Endpoint) and each is not internal.RUN
]


def paths(audience: Audience) -> set[str]:
    return {f"{each.method} {each.path}" for each in SERVED if each.audience is audience}


@pytest.mark.req("R2")
def test_hooks_and_runner_ask_for_decisions_and_write_nothing_themselves() -> None:
    assert paths(Audience.HOOKS) == {
        "GET /v1/projects/{project}/webhooks/{provider}:verification",
        "POST /v1/projects/{project}:acceptDelivery",
        "POST /v1/projects/{project}:countRefusals",
    }
    assert paths(Audience.RUNNER) == {
        "POST /v1/runs/{run}:claim",
        "POST /v1/runs/{run}:start",
        "POST /v1/runs/{run}:heartbeat",
        "POST /v1/runs/{run}:appendLog",
        "POST /v1/runs/{run}:report",
        "POST /v1/runs/{run}:complete",
    }
    assert paths(Audience.TASKS) == {"POST /tasks/reconcile"}
    assert paths(Audience.SCHEDULER) == {"POST /sweep"}


@pytest.mark.parametrize("endpoint", SERVED, ids=lambda each: f"{each.method} {each.path}")
async def test_nobody_else_may_ask(anvil: Driver, endpoint: Endpoint[Wire, Wire]) -> None:
    others = {callers.STRANGER, *EMAILS.values()} - {EMAILS[endpoint.audience]}
    for email in sorted(others):
        with pytest.raises(Forbidden):
            await anvil.instance.client(email).call(endpoint, path=PATH)
