"""What operators find out about a row of the ledger: a verdict on one version, on evidence, and never by age."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta

import pytest

from services.coordinator.ledger.rows import Completed
from services.kernel.errors import (
    AlreadySettled,
    Ambiguous,
    AnvilError,
    AttemptRunning,
    Invalid,
    LedgerUnavailable,
    NotFound,
    StaleVersion,
)
from services.kernel.wire import internal
from services.kernel.wire.ledger import LedgerQuery, RowStatus
from services.kernel.wire.operations import RESULT_CEILING
from tests.unit.coordinator.book import COLLECTION, EVIDENCE, LONGEST, Book, book, document
from tests.unit.coordinator.driver import ADA, Driver
from tests.unit.coordinator.instance import Place

pytestmark = pytest.mark.anyio

Verdict = Callable[[Book, str], Awaitable[object]]

VERDICTS: dict[str, Verdict] = {
    "it happened": lambda desk, version: desk.complete(version, {"id": 1}),
    "it did not": lambda desk, version: desk.release(version),
}


@pytest.fixture
async def desk(place: Place) -> AsyncGenerator[Book]:
    async with book(place) as made:
        yield made


async def test_a_row_is_shown_without_key_caller_and_result(desk: Book) -> None:
    version = await desk.answered()
    row = await desk.show()

    assert row.model_dump(mode="json", by_alias=True, exclude={"version"}) == {
        "ledgerRef": f"firestore/{COLLECTION}/{document(1)}",
        "status": "completed",
        "operation": "make-invoice",
        "traceId": "t" * 32,
        "fingerprint": "f" * 12,
        "startedAt": "2026-11-30T12:00:00.000Z",
        "maxUntil": "2026-11-30T12:00:40.000Z",
        "responseStatus": 201,
        "resultBytes": 8,
        "expiresAt": "2026-11-30T12:10:00.000Z",
        "history": [],
    }
    assert row.version == version


async def test_rows_are_listed_by_state_and_by_age_to_be_read(desk: Book) -> None:
    await desk.unknown(1)
    await desk.answered(2)
    newest_first = [row.ledger_ref[-1] for row in await desk.listed()]
    unresolved = await desk.listed(LedgerQuery(status=RowStatus.IN_PROGRESS))
    old = await desk.listed(LedgerQuery(older_than=desk.anvil.instance.clock.now() - timedelta(seconds=1)))

    assert newest_first == ["2", "1"]
    assert [row.ledger_ref[-1] for row in unresolved] == ["1"]
    assert [row.ledger_ref[-1] for row in old] == ["1"]


@pytest.mark.req("R136")
async def test_what_provably_happened_is_completed_with_its_answer(desk: Book) -> None:
    settled = await desk.complete(await desk.unknown(), {"id": 7})
    held = await desk.ledger.read(document(1))

    assert isinstance(held.value, Completed)
    assert (held.value.response_status, held.value.result_json) == (201, '{"id":7}')
    assert held.value.expires_at == desk.anvil.instance.clock.now() + timedelta(seconds=600)
    assert settled.row is not None
    assert (settled.row.status, settled.row.version) == (RowStatus.COMPLETED, held.version)
    assert settled.row == (await desk.listed())[0]


@pytest.mark.req("R135")
async def test_what_provably_did_not_happen_is_released_and_its_key_is_free(desk: Book) -> None:
    settled = await desk.release(await desk.unknown())

    assert settled.row is None
    assert await desk.listed() == ()
    assert (await desk.reserve()).document == document(1)


@pytest.mark.req("R112")
@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_verdict_is_in_the_audit_with_its_evidence(desk: Book, verdict: str) -> None:
    await VERDICTS[verdict](desk, await desk.unknown())
    (entry,) = await desk.entries()

    act = {"it happened": "ledger.complete", "it did not": "ledger.release"}[verdict]
    reason = {"it happened": "it is in the export", "it did not": "it is not in the export"}[verdict]
    assert (entry.act, entry.actor, entry.outcome, entry.code) == (act, ADA, "done", None)
    assert (entry.reason, entry.evidence_sha256) == (reason, EVIDENCE)


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_the_intent_is_written_before_anything_is_changed(desk: Book, verdict: str) -> None:
    version = await desk.unknown()
    seen: list[list[tuple[str, str | None, str | None]]] = []

    async def meanwhile() -> None:
        seen.append(await desk.history())

    desk.rows.meanwhile = meanwhile
    await VERDICTS[verdict](desk, version)

    ((_, outcome, _),) = seen[0]
    assert outcome is None
    assert [outcome for _, outcome, _ in await desk.history()] == ["done"]


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_without_an_audit_nothing_is_settled(desk: Book, verdict: str) -> None:
    version = await desk.unknown()
    desk.anvil.instance.store.away = True
    with pytest.raises(Ambiguous):
        await VERDICTS[verdict](desk, version)

    desk.anvil.instance.store.away = False
    assert ((await desk.show()).version, await desk.history()) == (version, [])


@pytest.mark.req("R134")
@pytest.mark.inv("I12")
@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_verdict_on_another_version_is_refused_however_old_the_row(desk: Book, verdict: str) -> None:
    version = await desk.unknown()
    desk.anvil.instance.clock.move(timedelta(days=3650))
    with pytest.raises(StaleVersion, match=f"in progress at version {version}, not at 1; nothing was changed"):
        await VERDICTS[verdict](desk, "1")

    assert (await desk.show()).version == version
    assert [(outcome, code) for _, outcome, code in await desk.history()] == [("refused", "stale_version")]


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_nothing_is_settled_while_a_call_may_be_running(desk: Book, verdict: str) -> None:
    reserved = await desk.reserve()
    desk.anvil.instance.clock.move(LONGEST)
    with pytest.raises(AttemptRunning, match="until 2026-11-30T12:00:40"):
        await VERDICTS[verdict](desk, reserved.version)

    assert [(outcome, code) for _, outcome, code in await desk.history()] == [("refused", "ledger_attempt_running")]
    desk.anvil.instance.clock.move(timedelta(milliseconds=1))
    await VERDICTS[verdict](desk, reserved.version)


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_what_is_completed_is_not_settled(desk: Book, verdict: str) -> None:
    version = await desk.answered()
    desk.anvil.instance.clock.move(LONGEST * 2)
    with pytest.raises(AlreadySettled) as refused:
        await VERDICTS[verdict](desk, version)

    assert refused.value.ledger_ref == f"firestore/{COLLECTION}/{document(1)}"
    assert (await desk.show()).version == version


@pytest.mark.parametrize("first", VERDICTS)
@pytest.mark.parametrize("second", VERDICTS)
async def test_of_two_operators_the_second_is_told_what_the_first_did(desk: Book, first: str, second: str) -> None:
    version = await desk.unknown()
    await VERDICTS[first](desk, version)
    if (first, second) == ("it happened", "it happened"):
        await VERDICTS[second](desk, version)
        return
    said = {"it happened": "the row is completed at version", "it did not": f"released at .* by {ADA}"}[first]
    with pytest.raises(StaleVersion, match=said):
        await VERDICTS[second](desk, version)


async def test_of_operators_at_once_one_settles_it(desk: Book) -> None:
    version = await desk.unknown()
    tried = [desk.release(version), desk.complete(version, {"id": 1}), desk.complete(version, {"id": 2})]
    ended = await asyncio.gather(*tried, return_exceptions=True)

    assert sum(not isinstance(each, BaseException) for each in ended) == 1
    assert sorted(outcome or "none" for _, outcome, _ in await desk.history()).count("done") == 1


@pytest.mark.parametrize("verdict", VERDICTS)
@pytest.mark.parametrize("drops", [False, True], ids=["applied", "not applied"])
async def test_a_verdict_whose_write_got_no_answer_is_settled_all_the_same(
    desk: Book, verdict: str, drops: bool
) -> None:
    version = await desk.unknown()
    desk.rows.forget()
    desk.rows.loses, desk.rows.drops = 0, drops
    await VERDICTS[verdict](desk, version)

    assert [outcome for _, outcome, _ in await desk.history()] == ["done"]


async def test_a_completion_that_is_asked_again_finds_itself_applied(desk: Book) -> None:
    version = await desk.unknown()
    first = await desk.complete(version, {"id": 1}, act=1)
    again = await desk.complete(version, {"id": 1}, act=1)

    assert again == first
    assert await desk.history() == [("ledger.complete", "done", None)]


async def test_a_release_that_is_asked_again_finds_itself_applied_also_when_the_key_is_in_use_again(
    desk: Book,
) -> None:
    version = await desk.unknown()
    first = await desk.release(version, act=1)
    await desk.reserve()
    again = await desk.release(version, act=1)

    assert again == first
    assert await desk.history() == [("ledger.release", "done", None)]
    assert len(await desk.listed()) == 1


async def test_a_release_that_was_cut_off_before_its_outcome_was_written_is_its_own(desk: Book) -> None:
    version = await desk.unknown()
    desk.anvil.instance.store.forget()

    async def no_outcome() -> None:
        desk.anvil.instance.store.away = True

    desk.rows.meanwhile = no_outcome
    await desk.release(version, act=1)
    desk.anvil.instance.store.away = False
    assert await desk.history() == [("ledger.release", None, None)]

    with pytest.raises(StaleVersion, match="released"):
        await desk.release(version, act=2)
    await desk.release(version, act=1)
    assert await desk.history() == [("ledger.release", "refused", "stale_version"), ("ledger.release", "done", None)]


async def test_an_act_that_was_refused_may_be_done_when_it_is_asked_again(desk: Book) -> None:
    reserved = await desk.reserve()
    with pytest.raises(AttemptRunning):
        await desk.release(reserved.version, act=1)
    desk.anvil.instance.clock.move(LONGEST * 2)
    await desk.release(reserved.version, act=1)

    assert await desk.history() == [("ledger.release", "done", None)]


async def test_a_note_leaves_the_row_as_it_is(desk: Book) -> None:
    reserved = await desk.reserve()
    desk.rows.forget()
    settled = await desk.note(reserved.version, act=1)
    await desk.note(reserved.version, act=1)

    assert desk.rows.commits == []
    assert settled.row is not None
    assert settled.row.version == reserved.version
    assert [(entry.act, entry.reason, entry.outcome) for entry in (await desk.show()).history] == [
        ("ledger.note", "asked them", "done")
    ]
    with pytest.raises(StaleVersion):
        await desk.note("1")


@pytest.mark.inv("I13")
async def test_what_the_catalogue_calls_secret_is_not_stored_of_an_operators_answer(desk: Book) -> None:
    await desk.complete(await desk.unknown(), {"id": 7, "token": "planted-secret"})
    held = await desk.ledger.read(document(1))

    assert isinstance(held.value, Completed)
    assert held.value.result_json == '{"id":7,"token":"[redacted]"}'


async def test_a_text_in_which_a_secret_may_be_anywhere_is_not_stored(desk: Book) -> None:
    await desk.complete(await desk.unknown(), "token=planted-secret")
    held = await desk.ledger.read(document(1))

    assert isinstance(held.value, Completed)
    assert held.value.result_json == '"[redacted]"'


async def test_an_answer_of_which_nobody_knows_what_is_secret_is_refused(desk: Book) -> None:
    version = await desk.unknown(operation="make-coffee")
    with pytest.raises(Invalid, match="no operation make-coffee"):
        await desk.complete(version, {"id": 1})

    assert ((await desk.show()).version, await desk.history()) == (version, [])
    await desk.release(version)


async def test_an_answer_that_no_row_can_hold_is_refused(desk: Book) -> None:
    version = await desk.unknown()
    fits, too_large = "x" * (RESULT_CEILING - len('{"a":""}')), "é" * (RESULT_CEILING // 2 - 3)
    with pytest.raises(Invalid, match="a row holds 819200"):
        await desk.complete(version, {"a": too_large})

    assert (await desk.show()).version == version
    assert (await desk.complete(version, {"a": fits})).row is not None


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_row_that_never_was_is_not_found(desk: Book, verdict: str) -> None:
    with pytest.raises(NotFound):
        await VERDICTS[verdict](desk, "1")
    with pytest.raises(NotFound):
        await desk.show()
    with pytest.raises(NotFound):
        await desk.note("1")


async def test_a_row_of_another_deployment_is_not_found(desk: Book) -> None:
    await desk.unknown()
    path = {"collection": "anvil_idempotency_0123456789abcdef", "document": document(1)}
    with pytest.raises(NotFound):
        await desk.anvil.console.call(internal.GET_LEDGER_ROW, path=path)


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_ledger_that_is_away_settles_nothing(desk: Book, verdict: str) -> None:
    version = await desk.unknown()
    desk.rows.away = True
    questions: list[Awaitable[object]] = [desk.listed(), desk.show(), VERDICTS[verdict](desk, version)]
    for question in questions:
        with pytest.raises(LedgerUnavailable):
            await question

    desk.rows.away = False
    assert (await desk.show()).version == version


async def test_where_no_ledger_is_configured_that_is_the_answer(anvil: Driver) -> None:
    asked: list[AnvilError] = []
    for endpoint, path in ((internal.LIST_LEDGER, {}), (internal.GET_LEDGER_ROW, {"collection": "c", "document": "d"})):
        with pytest.raises(LedgerUnavailable) as refused:
            await anvil.console.call(endpoint, path=path)
        asked.append(refused.value)

    assert [error.detail for error in asked] == ["no idempotency ledger is configured here"] * 2
