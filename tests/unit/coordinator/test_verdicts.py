"""What operators find out about a row of the ledger: a verdict on one version, on evidence, and never by age."""

from collections.abc import Awaitable
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
from tests.unit.coordinator.book import COLLECTION, EVIDENCE, LONGEST, VERDICTS, Book, document
from tests.unit.coordinator.driver import ADA, Driver

pytestmark = pytest.mark.anyio


async def test_a_row_is_shown_without_key_caller_and_result(book: Book) -> None:
    version = await book.answered()
    row = await book.show()

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


async def test_rows_are_listed_by_state_and_by_age_to_be_read(book: Book) -> None:
    await book.unknown(1)
    await book.answered(2)
    newest_first = [row.ledger_ref[-1] for row in await book.listed()]
    unresolved = await book.listed(LedgerQuery(status=RowStatus.IN_PROGRESS))
    old = await book.listed(LedgerQuery(older_than=book.anvil.instance.clock.now() - timedelta(seconds=1)))

    assert newest_first == ["2", "1"]
    assert [row.ledger_ref[-1] for row in unresolved] == ["1"]
    assert [row.ledger_ref[-1] for row in old] == ["1"]


@pytest.mark.req("R136")
async def test_what_provably_happened_is_completed_with_its_answer(book: Book) -> None:
    settled = await book.complete(await book.unknown(), {"id": 7})
    held = await book.ledger.read(document(1))

    assert isinstance(held.value, Completed)
    assert (held.value.response_status, held.value.result_json) == (201, '{"id":7}')
    assert held.value.expires_at == book.anvil.instance.clock.now() + timedelta(seconds=600)
    assert settled.row is not None
    assert (settled.row.status, settled.row.version) == (RowStatus.COMPLETED, held.version)
    assert settled.row == (await book.listed())[0]


@pytest.mark.req("R135")
async def test_what_provably_did_not_happen_is_released_and_its_key_is_free(book: Book) -> None:
    settled = await book.release(await book.unknown())

    assert settled.row is None
    assert await book.listed() == ()
    assert (await book.reserve()).document == document(1)


@pytest.mark.req("R112")
@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_verdict_is_in_the_audit_with_its_evidence(book: Book, verdict: str) -> None:
    await VERDICTS[verdict](book, await book.unknown())
    (entry,) = await book.entries()

    act = {"it happened": "ledger.complete", "it did not": "ledger.release"}[verdict]
    reason = {"it happened": "it is in the export", "it did not": "it is not in the export"}[verdict]
    assert (entry.act, entry.actor, entry.outcome, entry.code) == (act, ADA, "done", None)
    assert (entry.reason, entry.evidence_sha256) == (reason, EVIDENCE)


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_the_intent_is_written_before_anything_is_changed(book: Book, verdict: str) -> None:
    version = await book.unknown()
    seen: list[list[tuple[str, str | None, str | None]]] = []

    async def meanwhile() -> None:
        seen.append(await book.history())

    book.rows.meanwhile = meanwhile
    await VERDICTS[verdict](book, version)

    ((_, outcome, _),) = seen[0]
    assert outcome is None
    assert [outcome for _, outcome, _ in await book.history()] == ["done"]


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_without_an_audit_nothing_is_settled(book: Book, verdict: str) -> None:
    version = await book.unknown()
    book.anvil.instance.store.away = True
    with pytest.raises(Ambiguous):
        await VERDICTS[verdict](book, version)

    book.anvil.instance.store.away = False
    assert ((await book.show()).version, await book.history()) == (version, [])


@pytest.mark.req("R134")
@pytest.mark.inv("I12")
@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_verdict_on_another_version_is_refused_however_old_the_row(book: Book, verdict: str) -> None:
    version = await book.unknown()
    book.anvil.instance.clock.move(timedelta(days=3650))
    with pytest.raises(StaleVersion, match=f"in progress at version {version}, not at 1; nothing was changed"):
        await VERDICTS[verdict](book, "1")

    assert (await book.show()).version == version
    assert [(outcome, code) for _, outcome, code in await book.history()] == [("refused", "stale_version")]


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_nothing_is_settled_while_a_call_may_be_running(book: Book, verdict: str) -> None:
    reserved = await book.reserve()
    book.anvil.instance.clock.move(LONGEST)
    with pytest.raises(AttemptRunning, match="until 2026-11-30T12:00:40"):
        await VERDICTS[verdict](book, reserved.version)

    assert [(outcome, code) for _, outcome, code in await book.history()] == [("refused", "ledger_attempt_running")]
    book.anvil.instance.clock.move(timedelta(milliseconds=1))
    await VERDICTS[verdict](book, reserved.version)


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_what_is_completed_is_not_settled(book: Book, verdict: str) -> None:
    version = await book.answered()
    book.anvil.instance.clock.move(LONGEST * 2)
    with pytest.raises(AlreadySettled) as refused:
        await VERDICTS[verdict](book, version)

    assert refused.value.ledger_ref == f"firestore/{COLLECTION}/{document(1)}"
    assert (await book.show()).version == version


async def test_a_note_leaves_the_row_as_it_is(book: Book) -> None:
    reserved = await book.reserve()
    book.rows.forget()
    settled = await book.note(reserved.version, act=1)
    await book.note(reserved.version, act=1)

    assert book.rows.commits == []
    assert settled.row is not None
    assert settled.row.version == reserved.version
    assert [(entry.act, entry.reason, entry.outcome) for entry in (await book.show()).history] == [
        ("ledger.note", "asked them", "done")
    ]
    with pytest.raises(StaleVersion):
        await book.note("1")


@pytest.mark.inv("I13")
async def test_what_the_catalogue_calls_secret_is_not_stored_of_an_operators_answer(book: Book) -> None:
    await book.complete(await book.unknown(), {"id": 7, "token": "planted-secret"})
    held = await book.ledger.read(document(1))

    assert isinstance(held.value, Completed)
    assert held.value.result_json == '{"id":7,"token":"[redacted]"}'


async def test_a_text_in_which_a_secret_may_be_anywhere_is_not_stored(book: Book) -> None:
    await book.complete(await book.unknown(), "token=planted-secret")
    held = await book.ledger.read(document(1))

    assert isinstance(held.value, Completed)
    assert held.value.result_json == '"[redacted]"'


async def test_an_answer_of_which_nobody_knows_what_is_secret_is_refused(book: Book) -> None:
    version = await book.unknown(operation="make-coffee")
    with pytest.raises(Invalid, match="no operation make-coffee"):
        await book.complete(version, {"id": 1})

    assert ((await book.show()).version, await book.history()) == (version, [])
    await book.release(version)


@pytest.mark.parametrize("status", [100, 199, 300, 302, 400, 404, 409, 422, 500, 599])
async def test_an_answer_that_says_no_success_completes_nothing(book: Book, status: int) -> None:
    version = await book.unknown()
    with pytest.raises(Invalid, match="from 200 to 299") as refused:
        await book.complete(version, {"id": 1}, status=status)

    assert [problem.field for problem in refused.value.fields] == ["response.status"]
    assert ((await book.show()).version, await book.history()) == (version, [])


async def test_an_answer_that_no_row_can_hold_is_refused(book: Book) -> None:
    version = await book.unknown()
    fits, too_large = "x" * (RESULT_CEILING - len('{"a":""}')), "é" * (RESULT_CEILING // 2 - 3)
    with pytest.raises(Invalid, match="a row holds 819200"):
        await book.complete(version, {"a": too_large})

    assert (await book.show()).version == version
    assert (await book.complete(version, {"a": fits})).row is not None


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_row_that_never_was_is_not_found(book: Book, verdict: str) -> None:
    with pytest.raises(NotFound):
        await VERDICTS[verdict](book, "1")
    with pytest.raises(NotFound):
        await book.show()
    with pytest.raises(NotFound):
        await book.note("1")


async def test_a_row_of_another_deployment_is_not_found(book: Book) -> None:
    await book.unknown()
    path = {"collection": "anvil_idempotency_0123456789abcdef", "document": document(1)}
    with pytest.raises(NotFound):
        await book.anvil.console.call(internal.GET_LEDGER_ROW, path=path)


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_a_ledger_that_is_away_settles_nothing(book: Book, verdict: str) -> None:
    version = await book.unknown()
    book.rows.away = True
    questions: list[Awaitable[object]] = [book.listed(), book.show(), VERDICTS[verdict](book, version)]
    for question in questions:
        with pytest.raises(LedgerUnavailable):
            await question

    book.rows.away = False
    assert (await book.show()).version == version


async def test_where_no_ledger_is_configured_that_is_the_answer(anvil: Driver) -> None:
    asked: list[AnvilError] = []
    for endpoint, path in ((internal.LIST_LEDGER, {}), (internal.GET_LEDGER_ROW, {"collection": "c", "document": "d"})):
        with pytest.raises(LedgerUnavailable) as refused:
            await anvil.console.call(endpoint, path=path)
        asked.append(refused.value)

    assert [error.detail for error in asked] == ["no idempotency ledger is configured here"] * 2
