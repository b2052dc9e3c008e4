"""`anvil ledger`: what is known of calls to other systems, and an operator's word on one whose outcome is unknown."""

import re
from pathlib import Path
from typing import Annotated

import typer

from services.cli import verdict
from services.cli.arguments import Limit, checked, given
from services.cli.exits import Usage
from services.cli.noun import Noun
from services.cli.options import duration
from services.cli.output import Json, Record, Rows, fields
from services.cli.session import Session
from services.cli.verdict import RowRef
from services.kernel.errors import Ambiguous
from services.kernel.wire import api
from services.kernel.wire.ledger import (
    CompleteRow,
    LedgerQuery,
    LedgerRowView,
    Note,
    ReleaseRow,
    RowStatus,
    Settled,
)
from services.kernel.wire.model import Empty, rfc3339
from services.kernel.wire.operations import RESULT_CEILING

noun = Noun("ledger", about="Calls to other systems, and what became of them.")

RowArgument = Annotated[
    str, typer.Argument(metavar="REF", help="firestore/<collection>/<document>, as errors name it.")
]
StatusFilter = Annotated[RowStatus | None, typer.Option("--status", help="Only rows in this state.")]
OlderThan = Annotated[str | None, typer.Option(metavar="TIME", help="Started before then: RFC 3339, or 2h ago.")]
IfVersion = Annotated[str, typer.Option(metavar="V", help="The version that was looked at, from ledger show.")]
ResponseFile = Annotated[Path, typer.Option(metavar="FILE", help='The other system\'s answer: {"status", "body"}.')]
Evidence = Annotated[str, typer.Option(metavar="FILE|sha256:HEX", help="What it rests on; only its SHA-256 is sent.")]
OptionalEvidence = Annotated[
    str | None, typer.Option("--evidence", metavar="FILE|sha256:HEX", help="What it rests on.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; it stays in the audit.")]
NotCommitted = Annotated[bool, typer.Option("--not-committed", help="The other system provably did not act.")]
Apply = Annotated[bool, typer.Option("--apply", help="Do it; else only say what would be done.")]


@noun.verb("list")
async def list_(
    session: Session, *, status: StatusFilter = None, older_than: OlderThan = None, limit: Limit = 20
) -> None:
    """Rows of the ledger, newest first."""
    with checked():
        query = LedgerQuery.model_validate(given(status=status, older_than=_moment(session, older_than)))
    page = await session.api.pages(api.LIST_LEDGER, query, limit=limit)
    columns = ("ledgerRef", "status", "operation", "startedAt", "maxUntil", "responseStatus", "traceId")
    session.out.show(page, Rows([fields(row) for row in page.items], columns))


@noun.verb("show")
async def show(session: Session, row: RowArgument) -> None:
    """One row with its history, and how it can be settled."""
    found = await _read(session, RowRef.parse(row))
    about = {name: value for name, value in fields(found).items() if name != "history"}
    acts = [fields(entry) for entry in found.history]
    columns = ("at", "actor", "act", "outcome", "code", "reason", "evidenceSha256")
    record = Record({**about, "resultCeilingBytes": RESULT_CEILING})
    session.out.show(found, record, *([Rows(acts, columns)] if acts else []))
    for line in _ways_out(found):
        session.out.note(line)


@noun.verb("complete")
async def complete(
    session: Session,
    row: RowArgument,
    *,
    if_version: IfVersion,
    response_file: ResponseFile,
    evidence: Evidence,
    reason: Reason,
    apply: Apply = False,
) -> None:
    """The other system acted, and this was its answer: replay it from now on."""
    ref, at = RowRef.parse(row), verdict.version(if_version)
    answer = verdict.response(response_file)
    with checked():
        body = CompleteRow(response=answer, evidence_sha256=verdict.evidence(evidence), reason=reason)
    if apply:
        await _settle(session, ref, at, body)
    else:
        about: dict[str, Json] = {"responseStatus": answer.status, "responseBytes": verdict.body_size(answer)}
        await _dry_run(session, ref, at, body, about={**about, "resultCeilingBytes": RESULT_CEILING})


@noun.verb("release")
async def release(
    session: Session,
    row: RowArgument,
    *,
    if_version: IfVersion,
    not_committed: NotCommitted = False,
    evidence: Evidence,
    reason: Reason,
    apply: Apply = False,
) -> None:
    """The other system did not act: delete the row, so that its key can be used again."""
    ref, at = RowRef.parse(row), verdict.version(if_version)
    if not not_committed:
        raise Usage("expected --not-committed: a row is released only if the other system provably did not act")
    with checked():
        body = ReleaseRow(evidence_sha256=verdict.evidence(evidence), reason=reason)
    if apply:
        await _settle(session, ref, at, body)
    else:
        await _dry_run(session, ref, at, body, about={})


@noun.verb("note")
async def note(
    session: Session, row: RowArgument, *, if_version: IfVersion, reason: Reason, evidence: OptionalEvidence = None
) -> None:
    """Write down what was found out; the row stays as it is."""
    ref, at = RowRef.parse(row), verdict.version(if_version)
    digest = None if evidence is None else verdict.evidence(evidence)
    with checked():
        body = Note(evidence_sha256=digest, reason=reason)
    settled = await session.api.call(api.NOTE_LEDGER_ROW, path=ref.path, body=body, headers=_if_match(at))
    _show(session, settled, "noted")


def next_step(ledger_ref: str) -> str:
    """What a person can do about a row that stands in the way."""
    return f"next: anvil ledger show {ledger_ref}"


async def _read(session: Session, ref: RowRef) -> LedgerRowView:
    return await session.api.call(api.GET_LEDGER_ROW, path=ref.path, body=Empty())


async def _dry_run(
    session: Session, ref: RowRef, at: str, body: CompleteRow | ReleaseRow, *, about: dict[str, Json]
) -> None:
    """Check the row as it is now, and say what would be asked."""
    row = await _read(session, ref)
    verdict.check(row, if_version=at, now=session.world.clock.now())
    would = "complete" if isinstance(body, CompleteRow) else "release"
    asked: dict[str, Json] = {"dryRun": True, "would": would, "ledgerRef": row.ledger_ref, "ifVersion": at}
    told: dict[str, Json] = {"operation": row.operation, "evidenceSha256": body.evidence_sha256, "reason": body.reason}
    session.out.show({**asked, "request": fields(body)}, Record({**asked, **about, **told}))
    session.out.note("nothing was changed; with --apply it is done")


async def _settle(session: Session, ref: RowRef, at: str, body: CompleteRow | ReleaseRow) -> None:
    try:
        if isinstance(body, CompleteRow):
            settled = await session.api.call(api.COMPLETE_LEDGER_ROW, path=ref.path, body=body, headers=_if_match(at))
            return _show(session, settled, "completed")
        settled = await session.api.call(api.RELEASE_LEDGER_ROW, path=ref.path, body=body, headers=_if_match(at))
        return _show(session, settled, "released")
    except Ambiguous as error:
        raise Ambiguous(f"{error.detail}; asking again with the same version is safe") from error


def _show(session: Session, settled: Settled, what: str) -> None:
    row = {} if settled.row is None else fields(settled.row)
    session.out.show(
        settled, Record({"done": what, "ledgerRef": settled.ledger_ref, **row, "auditId": settled.audit_id})
    )


def _ways_out(row: LedgerRowView) -> list[str]:
    """The two verdicts as commands that only lack what the person alone knows."""
    if row.status is RowStatus.COMPLETED:
        return ["completed: there is nothing to settle"]
    common = f"{row.ledger_ref} --if-version {row.version}"
    rest = "--evidence FILE --reason TEXT"
    return [
        f"not before {rfc3339(row.max_until)}, once you know from the other system (a dry run; --apply does it):",
        f"it acted: anvil ledger complete {common} --response-file FILE {rest}",
        f"it did not act: anvil ledger release {common} --not-committed {rest}",
    ]


def _if_match(at: str) -> dict[str, str]:
    return {"If-Match": f'"{at}"'}


def _moment(session: Session, text: str | None) -> str | None:
    """A time as it is, or one so long ago."""
    if text is None or re.fullmatch(r"[1-9][0-9]{0,5}[smh]", text) is None:
        return text
    return rfc3339(session.world.clock.now() - duration(text))
