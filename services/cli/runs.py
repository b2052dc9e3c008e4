"""`anvil run`."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import typer

from services.cli.arguments import Key, Limit, RunArgument, checked, given, idempotency_key, run_id
from services.cli.exits import Exit, of_run
from services.cli.noun import Noun
from services.cli.options import Format
from services.cli.output import Block, Line, Record, Rows, fields
from services.cli.session import Session
from services.cli.watch import Watch
from services.kernel.errors import Ambiguous
from services.kernel.wire import api
from services.kernel.wire.model import Empty, PageQuery
from services.kernel.wire.runs import LogPart, RunView, Started, StartRun

noun = Noun("run", about="Runs of a project's commands at one commit.")

Branch = Annotated[str | None, typer.Option("--branch", "-b", metavar="BRANCH", help="Its head; else the default one.")]
WatchIt = Annotated[bool, typer.Option("--watch", help="Wait for it, show its log, and exit with its result.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")]


@noun.verb("start")
async def start(session: Session, *, branch: Branch = None, watch: WatchIt = False, key: Key = None) -> Exit | None:
    """Queue a run of a branch's head."""
    with checked():
        body = StartRun.model_validate(given(branch=branch))
    path = {"project": session.project()}
    with _repeatable(session, key) as headers:
        started = await session.api.call(api.START_RUN, path=path, body=body, headers=headers)
    return await _started(session, started, watch=watch)


@noun.verb("list")
async def list_(session: Session, *, limit: Limit = 20) -> None:
    """A project's runs, newest first."""
    page = await session.api.pages(api.LIST_RUNS, PageQuery(), limit=limit, path={"project": session.project()})
    columns = ("runId", "status", "reason", "branch", "commitSha", "trigger", "queuedAt", "finishedAt")
    session.out.show(page, Rows([fields(run) for run in page.items], columns))


@noun.verb("show")
async def show(session: Session, run: RunArgument) -> None:
    """One run with its steps and the end of its log."""
    view = await session.api.call(api.GET_RUN, path={"run": run_id(run)}, body=Empty())
    session.out.show(view, *_blocks(view), *(Line(line) for line in view.log_tail))


@noun.verb("watch")
async def watch(session: Session, run: RunArgument) -> Exit:
    """Wait for a run, show its log live, and exit with its result."""
    return await _watch(session, run_id(run))


@noun.verb("logs")
async def logs(session: Session, run: RunArgument, *, follow: Follow = False) -> None:
    """A run's log: what there is, or with --follow all of it."""
    parts: list[LogPart] = []

    def take(part: LogPart) -> None:
        parts.append(part)
        match session.out.format:
            case Format.TABLE:
                session.out.text(part.text)
            case Format.JSONL:
                session.out.show(part)
            case Format.JSON | Format.YAML:
                pass

    watching = Watch(session=session, run=run_id(run), show=take)
    await (watching.to_the_end() if follow else watching.so_far())
    if session.out.format is not Format.JSONL:
        text = "".join(part.text for part in parts)
        session.out.show(LogPart(text=text, cursor=watching.cursor, complete=watching.complete))


@noun.verb("cancel")
async def cancel(session: Session, run: RunArgument) -> None:
    """Ask for the end of a run; one that has ended stays as it is."""
    view = await session.api.call(api.CANCEL_RUN, path={"run": run_id(run)}, body=Empty())
    session.out.show(view, *_blocks(view))


@noun.verb("rerun")
async def rerun(session: Session, run: RunArgument, *, watch: WatchIt = False, key: Key = None) -> Exit | None:
    """Queue a finished run again: the same commit, or for a manual one the branch's head."""
    path = {"run": run_id(run)}
    with _repeatable(session, key) as headers:
        started = await session.api.call(api.RERUN, path=path, body=Empty(), headers=headers)
    return await _started(session, started, watch=watch)


@contextmanager
def _repeatable(session: Session, key: str | None) -> Generator[dict[str, str]]:
    """A request under a key, which is told if the answer gets lost: asked again with it, nothing new starts."""
    named = session.world.ids.token() if key is None else idempotency_key(key)
    try:
        yield {"Idempotency-Key": named}
    except Ambiguous as error:
        raise Ambiguous(f"{error.detail}; ask again with --idempotency-key {named}") from error


async def _started(session: Session, started: Started, *, watch: bool) -> Exit | None:
    if watch:
        return await _watch(session, started.run_id)
    session.out.show(started, Line(started.run_id))
    session.out.note(f"see {started.url}, or anvil run watch {started.run_id}")
    return None


async def _watch(session: Session, run: str) -> Exit:
    view = await Watch(session=session, run=run, show=lambda part: session.out.text(part.text)).to_the_end()
    if view.detail or view.reason:
        session.out.note(f"{view.detail or view.reason}")
    session.out.show(view)
    return of_run(view.run.status)


def _blocks(view: RunView) -> list[Block]:
    shown = fields(view.run) | {"place": view.place, "detail": view.detail}
    steps = [fields(step) for step in view.steps]
    return [Record(shown), *([Rows(steps, ("name", "status", "exitCode", "startedAt", "finishedAt"))] if steps else [])]
