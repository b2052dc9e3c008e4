"""What never shows, whatever is asked and whatever happened."""

import json
from collections.abc import Iterator
from typing import cast

import pytest
import structlog

from services.coordinator.records.row import RUN_INDEX
from services.coordinator.records.run import RUNS
from services.kernel.runs import Status
from services.kernel.wire import internal
from services.kernel.wire.deliveries import EventKind
from tests.unit.coordinator.builders import canonical, run_id
from tests.unit.coordinator.driver import SEALED, Driver, chunk, token
from tests.unit.coordinator.instance import Instance

pytestmark = pytest.mark.anyio


async def look_around(anvil: Driver) -> None:
    """Everything that the console can ask."""
    for number in range(1, 7):
        await anvil.show(number)
        await anvil.console.call(internal.GET_LOG, path={"run": run_id(number)})
    await anvil.queue()
    await anvil.listed()
    for endpoint in (internal.LIST_WEBHOOKS, internal.LIST_DELIVERIES, internal.GET_PROJECT):
        await anvil.console.call(endpoint, path={"project": "site"})
    await anvil.console.call(internal.LIST_PROJECTS)


async def live(anvil: Driver) -> None:
    """Runs in every state that there is, and a look around while each is in it."""
    for number in range(1, 7):
        await anvil.push(number)
    await anvil.deliver(canonical("ping").model_copy(update={"event_kind": EventKind.PING}), 9)
    await look_around(anvil)
    await anvil.begin(1)
    await anvil.append(1, chunk(0, "hello\n", offset=0))
    await anvil.switch_webhook("v2", enabled=False)
    await anvil.cancel(1)
    await look_around(anvil)
    await anvil.beat(1)
    await anvil.cancel(6)
    await look_around(anvil)
    await anvil.finish(1, Status.CANCELED)
    await anvil.begin(2)
    await anvil.finish(2)
    await anvil.rotate("v3", if_version="v2")
    await anvil.sweep()
    await look_around(anvil)
    await anvil.instance.settle()


def values(document: object) -> Iterator[object]:
    """Every value of a JSON document, however deep."""
    match document:
        case dict():
            for value in cast("dict[str, object]", document).values():
                yield from values(value)
        case list():
            for value in cast("list[object]", document):
                yield from values(value)
        case _:
            yield document


@pytest.mark.req("R5")
@pytest.mark.inv("S1")
async def test_pending_and_executable_are_shown_to_nobody(anvil: Driver, home: Instance) -> None:
    await live(anvil)
    answers = [json.loads(body) for body in home.bodies if body]
    stored = [
        dict(snapshot.data)
        for table in (RUNS, RUN_INDEX)
        for snapshot in await home.store.store.get([table.ref(run_id(number)) for number in range(1, 7)])
        if snapshot is not None
    ]

    assert len(answers) > 80
    assert len(stored) == 12
    assert {"pending", "executable"}.isdisjoint(values(answers))
    assert {"pending", "executable"}.isdisjoint(values(stored))


async def test_neither_secrets_nor_tokens_are_answered_or_logged(anvil: Driver, home: Instance) -> None:
    with structlog.testing.capture_logs() as logged:
        await live(anvil)
    told = repr(home.bodies) + repr(logged)

    assert len(logged) > 80
    assert SEALED not in told
    assert [number for number in (1, 2) if token(number) in told] == []


async def test_only_ingress_is_given_the_sealed_secret(anvil: Driver, home: Instance) -> None:
    await anvil.verification()

    assert SEALED in home.bodies[-1].decode() + home.bodies[-2].decode()
