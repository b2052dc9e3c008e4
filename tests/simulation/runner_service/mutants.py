"""Planted bugs: each puts something wrong in the place of a part of the runner."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from services.kernel.errors import Transient
from services.kernel.ids import CommitSha, RunId
from services.kernel.ports import Clock, Ids
from services.kernel.wire.runs import Heartbeat, LogChunk, Orders, StepStatus
from services.runner.attempt import Attempt
from services.runner.coordinator import Coordinator
from services.runner.execute import Execution
from services.runner.logs import RunLog
from services.runner.outcome import Outcome
from services.runner.pipeline import Step
from services.runner.steps import Steps
from services.runner.work import Work
from tests.simulation.quiet import replaced

Planted = AbstractContextManager[None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`rules`: one of these must tell of it, if `happens` does at a call of the name `at`."""

    plant: Callable[[], Planted]
    rules: frozenset[str]
    happens: str
    at: str


def does_not_wait_for_its_start() -> Planted:
    """Commands run before anybody was asked (R15)."""

    async def start(work: Work, commit: CommitSha) -> None:
        return

    return replaced(Work, "_start", start)


def names_its_attempt_after_the_run() -> Planted:
    """A task that comes again finds the claim to be its own, and everything runs again (Q14)."""
    original = vars(Attempt)["__init__"]

    def init(
        attempt: Attempt, run: RunId, coordinator: Coordinator, *, clock: Clock, ids: Ids, lease: timedelta
    ) -> None:
        original(attempt, run, coordinator, clock=clock, ids=ids, lease=lease)
        vars(attempt)["_token"] = run[-22:]

    return replaced(Attempt, "__init__", init)


def works_again_if_its_report_is_not_heard() -> Planted:
    """What is not answered is done again from the beginning, not only said again (Q14)."""
    original = vars(Execution)["_report"]

    async def report(execution: Execution, outcome: Outcome | None) -> None:
        try:
            await original(execution, outcome)
        except Transient:
            await original(execution, await vars(execution)["_work"].outcome())

    return _both(replaced(Execution, "_report", report), says_everything_once())


def says_everything_once() -> Planted:
    """A report that was not answered is not repeated (R6)."""

    async def settled(attempt: Attempt, call: Callable[[], Awaitable[None]]) -> None:
        await call()

    return replaced(Attempt, "_settled", settled)


def believes_that_it_was_heard() -> Planted:
    """A heartbeat renews the lease whatever becomes of it (Q8)."""

    async def heartbeat(attempt: Attempt, steps: tuple[StepStatus, ...]) -> Orders:
        held = vars(attempt)
        attempt.lease.renew(sent_at=held["_clock"].elapsed())
        orders: Orders = await held["_coordinator"].heartbeat(
            held["_run"], Heartbeat(attempt=held["_token"], steps=steps)
        )
        return orders

    return replaced(Attempt, "heartbeat", heartbeat)


def passes_without_the_last_step() -> Planted:
    """A run passes although a step of it did not run."""
    original = Steps.run

    async def run(steps: Steps, given: tuple[Step, ...], *, directory: Path, environment: Mapping[str, str]) -> Outcome:
        return await original(steps, given[:-1], directory=directory, environment=environment)

    return replaced(Steps, "run", run)


def completes_before_it_tears_down() -> Planted:
    """The project is given back while something of the run still works (R24)."""
    complete, tear_down = vars(Execution)["_complete"], vars(Execution)["_tear_down"]

    async def first(execution: Execution, torn_down: bool) -> None:
        await complete(execution, torn_down)
        await tear_down(execution)

    async def nothing(execution: Execution) -> bool:
        return True

    return _both(replaced(Execution, "_complete", first), replaced(Execution, "_tear_down", nothing))


def forgets_what_was_not_heard_of_a_log() -> Planted:
    """A part of a log that was not answered is left out, and the next one follows (R2)."""

    original = vars(RunLog)["_delivered"]

    async def once(log: RunLog, batch: tuple[LogChunk, ...]) -> None:
        await original(log, batch)

    return replaced(RunLog, "_deliver", once)


MUTANTS: dict[str, Mutant] = {
    "does not wait for its start": Mutant(
        plant=does_not_wait_for_its_start, rules=frozenset({"S5"}), happens="slow by 9 s", at="appendLog"
    ),
    "names its attempt after the run": Mutant(
        plant=names_its_attempt_after_the_run, rules=frozenset({"Q14"}), happens="killed", at="report"
    ),
    "works again if its report is not heard": Mutant(
        plant=works_again_if_its_report_is_not_heard, rules=frozenset({"Q14"}), happens="not heard", at="report"
    ),
    "says everything once": Mutant(
        plant=says_everything_once, rules=frozenset({"R6"}), happens="not reached", at="report"
    ),
    "believes that it was heard": Mutant(
        plant=believes_that_it_was_heard, rules=frozenset({"Q8"}), happens="cut off for 100 s", at="heartbeat"
    ),
    "passes without the last step": Mutant(
        plant=passes_without_the_last_step, rules=frozenset({"S4"}), happens="slow by 9 s", at="appendLog"
    ),
    "completes before it tears down": Mutant(
        plant=completes_before_it_tears_down, rules=frozenset({"Q7"}), happens="slow by 9 s", at="complete"
    ),
    "forgets what was not heard of a log": Mutant(
        plant=forgets_what_was_not_heard_of_a_log, rules=frozenset({"R2"}), happens="not reached", at="appendLog"
    ),
}


@contextmanager
def _both(one: Planted, other: Planted) -> Generator[None]:
    with one, other:
        yield
