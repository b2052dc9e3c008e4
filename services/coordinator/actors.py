"""A project is an actor: one line of commands, one document that is its lock.

Every change of a project's state goes through `Actors.decide`: take the state, decide with a pure rule, commit once,
conditional on the project document's version. A lost race, or an answer that never came, is read back and decided
again; so every command carries an identity of its own, by which it finds itself already applied.

The line is per process and only saves races: other processes meet in the document. The last committed state is kept, so
that the common command needs no read; but an answer that commits nothing on the project document rests on a fresh read
of it and of every document the command owns, never on a kept state (R77).
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Generic, TypeVar

from services.coordinator.records.project import PROJECTS, Project
from services.coordinator.records.table import Held, Table
from services.kernel import deadline
from services.kernel.errors import (
    AlreadyExists,
    Ambiguous,
    AnvilError,
    Contended,
    NotFound,
    PreconditionFailed,
    Transient,
)
from services.kernel.ids import ProjectId
from services.kernel.ports import Clock, Ids, Ref, Snapshot, Store, Version, Write

Answer = TypeVar("Answer")
Record = TypeVar("Record")

_FIRST_PAUSE = timedelta(milliseconds=10)
_LONGEST_PAUSE = timedelta(milliseconds=400)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a rule sees: the project, and those of the documents it asked for that exist.

    `fresh`: all of it was read for this try; else the project is as this process last left it. `doubtful`: an earlier
    try was perhaps committed, and the project was changed since, by it or by others. A rule that does not find itself
    applied then must know that it was not, or raise `Ambiguous`.
    """

    project: Held[Project]
    found: Mapping[Ref, Snapshot]
    fresh: bool
    doubtful: bool = False

    def held(self, table: Table[Record], id_: str) -> Held[Record] | None:
        return table.load_if(self.found.get(table.ref(id_)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[Answer]):
    """What a rule decided: the answer, and what to write for it.

    `project` is the project's new state, or None if it stays as it is; `ends` deletes the project instead.
    """

    answer: Answer
    project: Project | None = None
    writes: tuple[Write, ...] = ()
    ends: bool = False

    @property
    def changes_project(self) -> bool:
        return self.ends or self.project is not None


Rule = Callable[[View], Decision[Answer]]
Needs = Callable[[Project], Sequence[Ref]]


def nothing(_: Project) -> Sequence[Ref]:
    """The needs of a rule that looks at the project alone."""
    return ()


@dataclass(slots=True)
class _Line:
    """The commands of one project in this process: whose turn it is, how many came, what was last committed."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    commands: int = 0
    kept: Held[Project] | None = None


class Actors:
    """`patience` bounds a command that came without a deadline of its own, `capacity` the kept states."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        ids: Ids,
        patience: timedelta = timedelta(seconds=10),
        capacity: int = 1000,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._patience = patience
        self._capacity = capacity
        self._lines: OrderedDict[ProjectId, _Line] = OrderedDict()

    async def decide(
        self, project_id: ProjectId, rule: Rule[Answer], *, needs: Needs = nothing, creates: bool = False
    ) -> Answer:
        """Apply a rule to a project and commit what it decided.

        `needs` names the documents that the rule looks at besides the project. With `creates`, the first try assumes
        that none of them exists and reads nothing: right for a rule that creates them, since a wrong guess is a lost
        race. The rule may be applied several times; it must not act, only decide.

        Raises:
            NotFound: there is no such project.
            Contended: other commands won every race until the deadline; nothing was written.
            Ambiguous: no answer came until the deadline, or the rule refuses after a try that got none; it was perhaps
                written.
            Unavailable: the store is away; nothing was written.
            AnvilError: whatever the rule raises on a fresh view.
        """
        lost: Transient = Contended(f"{project_id} was changed by others until the deadline")
        doubted: Version | None = None
        async with self._line(project_id) as line:
            async for again in self._tries():
                view = await self._view(project_id, line.kept, needs=needs, again=again, creates=creates)
                view = replace(view, doubtful=doubted not in (None, view.project.version))
                try:
                    decision = _apply(rule, view)
                except AnvilError as refusal:
                    if doubted is None:
                        raise
                    # It is perhaps a refusal of what this command itself has done.
                    raise lost from refusal
                if decision is None:
                    continue
                missed = await self._commit(line, view, decision)
                if missed is None:
                    return decision.answer
                if isinstance(missed, Ambiguous) and doubted is None:
                    doubted = view.project.version
                lost = lost if isinstance(lost, Ambiguous) else missed
        raise lost

    async def answer(self, project_id: ProjectId, rule: Rule[Answer], *, needs: Needs = nothing) -> Answer | None:
        """The rule's answer on a fresh view, if it changes nothing; None if it would.

        Outside of the line, in which what changes nothing need not stand: for what was most likely decided before.

        Raises:
            NotFound: there is no such project.
            Unavailable: the store is away.
            AnvilError: whatever the rule raises.
        """
        decision = rule(await self._view(project_id, None, needs=needs, again=True, creates=False))
        return None if decision.writes or decision.changes_project else decision.answer

    async def read(self, project_id: ProjectId) -> Project:
        """A project as it is stored now.

        Raises:
            NotFound: there is no such project.
        """
        (snapshot,) = await self._store.get([PROJECTS.ref(project_id)])
        return _existing(project_id, snapshot).value

    async def _tries(self) -> AsyncIterator[bool]:
        """False, then True as often as time allows, with a jittered pause that grows before each but the second."""
        left = deadline.left(self._clock, at_most=self._patience)
        until = self._clock.elapsed() + left
        pause = _FIRST_PAUSE
        yield False
        while self._clock.elapsed() < until:
            yield True
            await self._clock.sleep(pause * self._ids.fraction())
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _view(
        self, project_id: ProjectId, kept: Held[Project] | None, *, needs: Needs, again: bool, creates: bool
    ) -> View:
        if kept is not None and not again:
            found = await self._found([] if creates else needs(kept.value))
            return View(project=kept, found=found, fresh=False)
        (snapshot,) = await self._store.get([PROJECTS.ref(project_id)])
        project = _existing(project_id, snapshot)
        # The project first: a document that is newer than the project it is judged by makes the commit fail, not lie.
        return View(project=project, found=await self._found(needs(project.value)), fresh=True)

    async def _found(self, refs: Sequence[Ref]) -> Mapping[Ref, Snapshot]:
        snapshots = await self._store.get(refs) if refs else []
        return {snapshot.ref: snapshot for snapshot in snapshots if snapshot is not None}

    async def _commit(self, line: _Line, view: View, decision: Decision[Answer]) -> Transient | None:
        """None when it is committed, else why it perhaps was not."""
        line.kept = None
        writes = self._writes(view.project, decision)
        try:
            versions = await self._store.commit(writes) if writes else []
        except (PreconditionFailed, AlreadyExists, Contended):
            return Contended(f"{view.project.value.project_id} was changed by others until the deadline")
        except Ambiguous as error:
            return error
        if decision.project is not None:
            line.kept = Held(decision.project, versions[0])
        elif not decision.ends:
            line.kept = view.project
        return None

    def _writes(self, held: Held[Project], decision: Decision[Answer]) -> list[Write]:
        project_id, version = held.value.project_id, held.version
        if decision.ends:
            return [PROJECTS.delete(project_id, at=version), *decision.writes]
        if decision.project is not None:
            return [PROJECTS.replace(project_id, decision.project, at=version, ids=self._ids), *decision.writes]
        return list(decision.writes)

    @asynccontextmanager
    async def _line(self, project_id: ProjectId) -> AsyncGenerator[_Line]:
        """This process's line of the project, when it is the caller's turn.

        Raises:
            Contended: it was not, until the deadline.
        """
        line = self._lines.setdefault(project_id, _Line())
        self._lines.move_to_end(project_id)
        line.commands += 1
        try:
            await self._turn(project_id, line)
            try:
                yield line
            finally:
                line.turn.release()
        finally:
            line.commands -= 1
            self._forget()

    async def _turn(self, project_id: ProjectId, line: _Line) -> None:
        try:
            async with deadline.within(self._clock, at_most=self._patience):
                await line.turn.acquire()
        except Ambiguous as error:
            # Interrupted in the line, before anything was sent.
            raise Contended(f"it was not this command's turn at {project_id} until the deadline") from error

    def _forget(self) -> None:
        """Drop the longest unused lines that nobody stands in."""
        if len(self._lines) <= self._capacity:
            return
        idle = [project_id for project_id, line in self._lines.items() if line.commands == 0]
        for project_id in idle[: len(self._lines) - self._capacity]:
            del self._lines[project_id]


def _apply(rule: Rule[Answer], view: View) -> Decision[Answer] | None:
    """What the rule decides; None if that would rest on a kept state without committing on it."""
    try:
        decision = rule(view)
    except AnvilError:
        if view.fresh:
            raise
        return None
    return decision if view.fresh or decision.changes_project else None


def _existing(project_id: ProjectId, snapshot: Snapshot | None) -> Held[Project]:
    if snapshot is None:
        raise NotFound(f"there is no project {project_id}")
    return PROJECTS.load(snapshot)
