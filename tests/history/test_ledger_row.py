"""A row of the ledger, as a specification: which histories of it are good ones."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.history.ledger_row import FOREVER, Answer, Asked, Executed, InProgress, LedgerRow, Name, Replayed, Said
from tests.history.operations import Operation, Outcome
from tests.history.register import linearisable, violations

Asking = Operation[Asked, Answer]

TTL = timedelta(hours=1)
NOW, LATER, EXPIRED = timedelta(), timedelta(minutes=59), timedelta(hours=1)
V1 = InProgress(version="v1")


def told(name: Name, args: Asked, answer: Answer, *, at: tuple[int, int]) -> Asking:
    return Operation(
        process="caller", name=name, args=args, invoked=at[0], completed=at[1], outcome=Outcome.OK, answer=answer
    )


def lost(name: Name, args: Asked, *, at: tuple[int, int]) -> Asking:
    args = replace(args, until=FOREVER)
    return Operation(process="caller", name=name, args=args, invoked=at[0], completed=at[1], outcome=Outcome.UNKNOWN)


def asked(execution: str, *, request: str = "pay", acts: tuple[int, ...] = (), when: timedelta = NOW) -> Asked:
    return Asked(since=when, until=when, execution=execution, request=request, acts=acts)


def executed(execution: str, effect: int, *, at: tuple[int, int], when: timedelta = NOW) -> list[Asking]:
    args = asked(execution, acts=(effect,), when=when)
    return [told(Name.TAKE, args, Said.TAKEN, at=at), told(Name.END, args, Executed(effect=effect), at=at)]


def refused(execution: str, *, at: tuple[int, int]) -> list[Asking]:
    args = asked(execution)
    return [told(Name.TAKE, args, Said.TAKEN, at=at), told(Name.END, args, Said.REFUSED, at=at)]


def quarantined(execution: str, *, acts: tuple[int, ...] = (), at: tuple[int, int]) -> list[Asking]:
    args = asked(execution, acts=acts)
    return [told(Name.TAKE, args, Said.TAKEN, at=at), told(Name.END, args, Said.UNKNOWN, at=at)]


def unheard(execution: str, *, acts: tuple[int, ...] = (), at: tuple[int, int]) -> list[Asking]:
    args = asked(execution, acts=acts)
    return [lost(Name.TAKE, args, at=at), lost(Name.END, args, at=at)]


def met(answer: Answer, *, at: tuple[int, int], request: str = "pay", when: timedelta = NOW) -> Asking:
    return told(Name.TAKE, asked("z", request=request, when=when), answer, at=at)


def looked(answer: Answer, *, at: tuple[int, int]) -> Asking:
    seen = answer.version if isinstance(answer, InProgress) else ""
    return told(Name.LOOK, Asked(since=NOW, until=NOW, seen=seen), answer, at=at)


def judged(name: Name, seen: str, answer: Said, *, at: tuple[int, int], effect: int = 0) -> Asking:
    return told(name, Asked(since=NOW, until=NOW, seen=seen, effect=effect), answer, at=at)


GOOD: dict[str, Sequence[Asking]] = {
    "executed, then replayed until it expires, then executed anew": [
        *executed("a", 1, at=(1, 2)),
        met(Replayed(effect=1), at=(3, 4), when=LATER),
        *executed("b", 2, at=(5, 6), when=EXPIRED),
    ],
    "in progress for whoever comes meanwhile, and a conflict for another request": [
        *executed("a", 1, at=(1, 8)),
        met(Said.IN_PROGRESS, at=(2, 3)),
        met(Said.CONFLICT, request="pay more", at=(4, 5)),
        met(Replayed(effect=1), at=(9, 10)),
    ],
    "refused, and its key free again": [*refused("a", at=(1, 2)), *executed("b", 1, at=(3, 4))],
    "executed by whoever was not answered": [
        *unheard("a", acts=(1,), at=(1, 2)),
        met(Said.IN_PROGRESS, at=(3, 4)),
        met(Replayed(effect=1), at=(5, 6)),
    ],
    "unknown, looked at, released and executed": [
        *quarantined("a", at=(1, 2)),
        looked(V1, at=(3, 4)),
        judged(Name.RELEASE, "v1", Said.RUNNING, at=(5, 6)),
        judged(Name.RELEASE, "v1", Said.DONE, at=(7, 8)),
        looked(Said.MISSING, at=(9, 10)),
        *executed("b", 1, at=(11, 12)),
    ],
    "unknown, completed by two who say the same, and replayed": [
        *quarantined("a", acts=(1,), at=(1, 2)),
        looked(V1, at=(3, 4)),
        judged(Name.COMPLETE, "v1", Said.DONE, effect=1, at=(5, 8)),
        judged(Name.COMPLETE, "v1", Said.DONE, effect=1, at=(6, 7)),
        judged(Name.RELEASE, "v1", Said.STALE, at=(9, 10)),
        looked(Said.SETTLED, at=(11, 12)),
        met(Replayed(effect=1), at=(13, 14)),
    ],
    "unknown, and completed after all": [
        *quarantined("a", acts=(1,), at=(1, 2)),
        met(Replayed(effect=1), at=(3, 4)),
    ],
    "unknown when a verdict had completed it": [
        *quarantined("a", acts=(1,), at=(1, 8)),
        looked(V1, at=(2, 3)),
        judged(Name.COMPLETE, "v1", Said.DONE, effect=1, at=(4, 5)),
        met(Replayed(effect=1), at=(6, 7)),
    ],
    "refused when a verdict had released it": [
        *refused("a", at=(1, 8)),
        looked(V1, at=(2, 3)),
        judged(Name.RELEASE, "v1", Said.DONE, at=(4, 5)),
        *executed("b", 1, at=(6, 7)),
        met(Replayed(effect=1), at=(9, 10)),
    ],
}

BAD: dict[str, Sequence[Asking]] = {
    "two executions of one key": [*executed("a", 1, at=(1, 4)), *executed("b", 2, at=(2, 3))],
    "a replay of something else": [*executed("a", 1, at=(1, 2)), met(Replayed(effect=2), at=(3, 4))],
    "a replay for another request": [
        *executed("a", 1, at=(1, 2)),
        met(Replayed(effect=1), request="pay more", at=(3, 4)),
    ],
    "a replay before any execution ended": [
        *quarantined("a", at=(1, 2)),
        met(Replayed(effect=1), at=(3, 4)),
        *executed("b", 1, at=(5, 6)),
    ],
    "a replay of what had expired": [
        *executed("a", 1, at=(1, 2)),
        met(Replayed(effect=1), at=(3, 4), when=EXPIRED),
    ],
    "an execution before the first had expired": [
        *executed("a", 1, at=(1, 2)),
        *executed("b", 2, at=(3, 4), when=LATER),
    ],
    "told of an effect that nobody had": [
        told(Name.TAKE, asked("a"), Said.TAKEN, at=(1, 2)),
        told(Name.END, asked("a"), Executed(effect=1), at=(1, 2)),
    ],
    "refused and released, and it had acted": [
        told(Name.TAKE, asked("a", acts=(1,)), Said.TAKEN, at=(1, 2)),
        told(Name.END, asked("a", acts=(1,)), Said.REFUSED, at=(1, 2)),
    ],
    "a stale verdict that wins": [
        *quarantined("a", at=(1, 2)),
        looked(V1, at=(3, 4)),
        judged(Name.RELEASE, "v1", Said.DONE, at=(5, 6)),
        *quarantined("b", acts=(1,), at=(7, 8)),
        judged(Name.RELEASE, "v1", Said.DONE, at=(9, 10)),
        *executed("c", 2, at=(11, 12)),
    ],
    "a stale verdict that it happened": [
        *quarantined("a", at=(1, 2)),
        looked(V1, at=(3, 4)),
        judged(Name.RELEASE, "v1", Said.DONE, at=(5, 6)),
        *quarantined("b", at=(7, 8)),
        judged(Name.COMPLETE, "v1", Said.DONE, effect=1, at=(9, 10)),
    ],
    "two verdicts that say different things": [
        *quarantined("a", acts=(1,), at=(1, 2)),
        looked(V1, at=(3, 4)),
        judged(Name.COMPLETE, "v1", Said.DONE, effect=1, at=(5, 8)),
        judged(Name.RELEASE, "v1", Said.DONE, at=(6, 7)),
    ],
    "a verdict that was called stale, and was applied": [
        *quarantined("a", at=(1, 2)),
        looked(V1, at=(3, 4)),
        judged(Name.RELEASE, "v1", Said.STALE, at=(5, 6)),
        *executed("b", 1, at=(7, 8)),
    ],
    "execution after quarantine without a release": [
        *quarantined("a", at=(1, 2)),
        looked(V1, at=(3, 4)),
        *executed("b", 1, at=(5, 6)),
    ],
    "quarantined, and gone with time": [
        *quarantined("a", acts=(1,), at=(1, 2)),
        looked(V1, at=(3, 4)),
        *executed("b", 2, at=(5, 6), when=EXPIRED),
    ],
    "one version of two rows": [
        *quarantined("a", at=(1, 2)),
        looked(V1, at=(3, 4)),
        judged(Name.RELEASE, "v1", Said.DONE, at=(5, 6)),
        *quarantined("b", at=(7, 8)),
        looked(V1, at=(9, 10)),
    ],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_row_of_the_ledger_that_keeps_its_word_is_accepted(name: str) -> None:
    assert linearisable(GOOD[name], LedgerRow(TTL))


@pytest.mark.parametrize("name", BAD)
def test_a_row_of_the_ledger_that_breaks_its_word_is_refused(name: str) -> None:
    assert not linearisable(BAD[name], LedgerRow(TTL))


def test_a_violation_names_the_key_and_what_was_told() -> None:
    (found,) = violations("one", BAD["a replay of something else"], LedgerRow(TTL))

    assert found.startswith("one: no order")
    assert "Replayed(effect=2)" in found
