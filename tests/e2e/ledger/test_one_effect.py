"""Sixty-four callers with one key at two coordinators have one effect, whatever becomes of the call."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from services.coordinator.layout import AUDIT_BY_AGE
from services.coordinator.ledger.documents import indexes
from services.coordinator.records.audit import AUDIT
from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.firestore import FirestoreStore
from services.kernel.adapters.firestore_database import Database
from services.kernel.namespace import ledger_collection
from services.kernel.ports import Order, Query
from tests.e2e.ledger.conftest import Tells
from tests.e2e.ledger.scene import ANSWER, CREDENTIAL, KEY, PRINCIPAL, Scene, scene

pytestmark = [pytest.mark.anyio, pytest.mark.soak, pytest.mark.timeout(300)]

CALLERS = 64
ROUNDS = int(os.environ.get("ANVIL_ROUNDS", "50"))
IN_PROGRESS, UNKNOWN = "idempotency_in_progress", "idempotency_outcome_unknown"
NAMESPACE = "local"
TRIES = 12
LATE = 3.0
"""Seconds; longer than the other system takes."""
MANY = 1000

STRUCK = {
    signal.SIGKILL: {"unavailable"},
    signal.SIGSTOP: {UNKNOWN, "unavailable"},
}
"""What the caller of the call may be told."""


@pytest.fixture(scope="module")
async def one(
    tmp_path_factory: pytest.TempPathFactory, firestore_emulator: str, anyio_backend: str
) -> AsyncGenerator[Scene]:
    async with scene(tmp_path_factory.mktemp("ledger"), firestore=firestore_emulator) as found:
        yield found


@pytest.mark.inv("I1")
async def test_of_sixty_four_callers_one_calls_and_the_others_wait_or_are_told_what_came(
    one: Scene, tells: Tells
) -> None:
    said: Counter[str] = Counter()
    before = len(one.effects())
    await one.answers("at once")
    for number in range(ROUNDS):
        answers, _ = await one.calls(f"quick-{number}", number=CALLERS)
        assert answers["201"] == 1, answers
        assert answers.keys() <= {"201", "replayed", IN_PROGRESS}, answers
        said += answers
    effects = one.effects()[before:]
    assert len(effects) == len(set(effects)) == ROUNDS
    tells("at once", said, len(effects))


@pytest.mark.inv("I8")
async def test_a_lost_answer_stops_all_others_until_it_is_settled(one: Scene, tells: Tells) -> None:
    before = len(one.effects())
    await one.answers("never")
    answers, reference = await one.calls("lost", number=CALLERS)
    assert answers == {UNKNOWN: 1, IN_PROGRESS: CALLERS - 1}
    again, _ = await one.calls("lost", number=CALLERS)
    assert again == {IN_PROGRESS: CALLERS}
    assert reference is not None
    await one.settled(reference)
    last, _ = await one.calls("lost", number=CALLERS)
    assert last == {"replayed": CALLERS}
    assert one.effects()[before:] == [reference.rpartition("/")[2]]
    tells("unheard", answers + again + last, 1)


@pytest.mark.inv("I2")
@pytest.mark.parametrize("strike", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_coordinator_that_is_struck_in_the_middle_of_a_call_leaves_the_verdict_to_a_person(
    one: Scene, tells: Tells, strike: signal.Signals
) -> None:
    """Stopped until long after the verdict, and then let go on, it changes nothing."""
    for number in range(TRIES):
        name = f"coordinator-{number % 2 + 1}"
        key, before = f"{strike.name}-{number}", len(one.effects())
        await one.answers("late")
        caller = asyncio.ensure_future(one.call(key))
        await one.more_than(before)
        os.killpg(one.running.pid(name), strike)
        await asyncio.wait([caller], timeout=LATE)
        if caller.done() and caller.result()[0] == "201":
            # The other coordinator called.
            await gone_on(one, name, strike)
            continue
        await one.answers("at once")
        document = one.effects()[-1]
        await one.settled(f"firestore/{ledger_collection(NAMESPACE)}/{document}")
        await gone_on(one, name, strike)
        said, _ = await caller
        assert said in STRUCK[strike], said
        last, _ = await one.calls(key, number=CALLERS)
        assert last == {"replayed": CALLERS}
        assert one.effects()[before:] == [document]
        tells(strike.name, last + Counter([said]), 1)
        return
    pytest.fail("it never was the struck one that called")


async def gone_on(one: Scene, name: str, strike: signal.Signals) -> None:
    if strike is signal.SIGSTOP:
        os.killpg(one.running.pid(name), signal.SIGCONT)
    else:
        await one.reports.until(f"{name} is back")


@pytest.mark.inv("I5")
async def test_nothing_that_is_secret_was_written_or_told(one: Scene) -> None:
    """In no document, log or error of all that went on here; who called is in the audit alone."""
    database = Database(project=one.running.places.project, emulator=one.running.places.firestore)
    collection = ledger_collection(NAMESPACE)
    declared = [*indexes(collection), AUDIT_BY_AGE]
    store = FirestoreStore(database, namespace=NAMESPACE, indexes=declared, clock=SystemClock())
    try:
        newest = Query(collection=collection, order=(Order("started_at", descending=True),), limit=MANY)
        rows = repr(await store.query(newest))
        audit = repr(await store.query(Query(collection=AUDIT.collection, order=AUDIT_BY_AGE.order, limit=MANY)))
    finally:
        await store.close()
    logs = "".join(file.read_text() for file in sorted((one.running.state.root / "logs").iterdir()))
    told = "\n".join(one.told)
    assert "[redacted]" in rows
    assert PRINCIPAL in audit
    places = {"rows": rows, "audit": audit, "logs": logs, "told": told}
    found = [(secret, place) for secret in (KEY, CREDENTIAL, ANSWER) for place in places if secret in places[place]]
    assert found == []
    assert [place for place in ("rows", "logs", "told") if PRINCIPAL in places[place]] == []
