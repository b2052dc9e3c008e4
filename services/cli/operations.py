"""`anvil operation`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from services.cli import ledger
from services.cli.arguments import Limit, idempotency_key
from services.cli.exits import Exit, Usage
from services.cli.noun import Noun
from services.cli.output import Json, Line, Record, Rows, fields
from services.cli.session import Session
from services.kernel import strict_json
from services.kernel.errors import Ambiguous, AnvilError, Invalid, OperationOutcomeUnknown
from services.kernel.wire import api
from services.kernel.wire.model import PageQuery
from services.kernel.wire.operations import LONGEST_EXECUTION, Execute, Executed, Operation

noun = Noun("operation", about="Approved calls to other systems.")

OperationArgument = Annotated[str, typer.Argument(metavar="OPERATION", help="Its id in the catalogue.")]
InputFile = Annotated[str, typer.Option("--input", metavar="FILE|-", help="What it takes, as JSON; - reads it.")]
KeyOption = Annotated[
    str | None, typer.Option("--key", metavar="KEY", help="Names the request: asked again, it is done at most once.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check, and show what would be sent; nobody is called.")]
Confirm = Annotated[bool, typer.Option("--confirm", help="It cannot be undone or repeated, and is meant.")]


@noun.verb("list")
async def list_(session: Session, *, limit: Limit = 20) -> None:
    """The operations of the catalogue, and how long and up to which size results are replayed."""
    page = await session.api.pages(api.LIST_OPERATIONS, PageQuery(), limit=limit)
    columns = ("operation", "title", "approved", "mode", "method", "upstream", "path", "replayed")
    rows = [{**fields(each), "replayed": _replayed(each)} for each in page.items]
    session.out.show(page, Rows(rows, columns))


@noun.verb("execute")
async def execute(
    session: Session,
    operation: OperationArgument,
    *,
    source: InputFile,
    key: KeyOption = None,
    dry_run: DryRun = False,
    confirm: Confirm = False,
) -> Exit:
    """Call another system as the catalogue says; 1 if it refused."""
    body = Execute(input=_input(session, source), dry_run=dry_run, confirm=confirm)
    headers = {} if key is None else {"Idempotency-Key": idempotency_key(key)}
    try:
        executed = await session.api.call(
            api.EXECUTE_OPERATION,
            path={"operation": operation},
            body=body,
            headers=headers,
            patience=LONGEST_EXECUTION,
        )
    except Ambiguous as error:
        raise _lost(error, key=key, dry_run=dry_run) from error
    _show(session, executed)
    return Exit.OK if executed.status is None or executed.status < 400 else Exit.ERROR


def _lost(error: Ambiguous, *, key: str | None, dry_run: bool) -> AnvilError:
    """What it means that no answer came: without a key, nothing would notice that it is done twice."""
    if dry_run:
        return Ambiguous(f"{error.detail}; nobody was called, so ask again", retry_after=error.retry_after)
    if key is not None:
        # Failures are kept in logs, and keys in none.
        return Ambiguous(f"{error.detail}; ask again with the same --key", retry_after=error.retry_after)
    if error.retry_after is not None:
        return error  # An answer, in which Anvil says so only of what may be repeated.
    said = "the other system may have acted, and asking again may do it twice: see what became of it first"
    return OperationOutcomeUnknown(f"{error.detail}; {said}")


def _show(session: Session, executed: Executed) -> None:
    result = json.dumps(executed.result, ensure_ascii=False)
    head: dict[str, Json] = {"status": executed.status, "replayed": executed.replayed}
    session.out.show(executed, Record(head), Line(result))
    if executed.status is None:
        session.out.note("a dry run: nobody was called")
    if executed.ledger_ref is not None:
        session.out.note("it succeeded, but its result could not be stored; its key is refused until that is settled")
        session.out.note(ledger.next_step(executed.ledger_ref))


def _replayed(operation: Operation) -> Json:
    """For how long, and up to which size of result (R143)."""
    if operation.replays is None:
        return None
    return f"{operation.replays.ttl_seconds} s, at most {operation.replays.ceiling_bytes} bytes"


def _input(session: Session, source: str) -> dict[str, JsonValue]:
    try:
        raw = session.read().encode() if source == "-" else Path(source).read_bytes()
        value = strict_json.parse(raw)
    except (OSError, UnicodeError, Invalid) as error:
        raise Usage(f"--input: expected a JSON file: {error}") from error
    if not isinstance(value, dict):
        raise Usage("--input: expected a JSON object")
    return dict(value)
