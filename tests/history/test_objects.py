"""The delivery row and the webhook, as specifications: which histories of them are good ones."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from services.kernel.wire import deliveries as wire
from tests.history.delivery_row import FOREVER, Accept, DeliveryRow, Told
from tests.history.operations import Operation, Outcome
from tests.history.register import linearisable
from tests.history.webhook_version import Answer, Change, Name, Said, Webhook, WebhookVersion

ACCEPTED, FULL, PING = wire.Outcome.ACCEPTED, wire.Outcome.QUEUE_FULL, wire.Outcome.IGNORED_PING
NOW, TWO_DAYS, THREE_DAYS = timedelta(), timedelta(hours=48), timedelta(hours=72)

Accepting = Operation[Accept, Told]
Asking = Operation[Change, Answer]


def accept(run_id: str, *, since: timedelta = NOW, until: timedelta | None = None) -> Accept:
    return Accept(run_id=run_id, wants=ACCEPTED, since=since, until=since if until is None else until)


def answered(args: Accept, outcome: wire.Outcome, run_id: str | None, *, again: bool, at: int) -> Accepting:
    told = Told(outcome=outcome, run_id=run_id, duplicate=again)
    return Operation(
        process="hooks", name="accept", args=args, invoked=at, completed=at, outcome=Outcome.OK, answer=told
    )


def unanswered(args: Accept, *, at: int) -> Accepting:
    return Operation(process="hooks", name="accept", args=args, invoked=at, completed=at, outcome=Outcome.UNKNOWN)


GOOD_ROWS: dict[str, Sequence[Accepting]] = {
    "decided, then told again": [
        answered(accept("a"), ACCEPTED, "a", again=False, at=1),
        answered(accept("b", since=TWO_DAYS), ACCEPTED, "a", again=True, at=2),
    ],
    "full, then accepted, then told again": [
        answered(accept("a"), FULL, None, again=False, at=1),
        answered(accept("b"), ACCEPTED, "b", again=False, at=2),
        answered(accept("c"), ACCEPTED, "b", again=True, at=3),
    ],
    "accepted by whoever was not answered": [
        unanswered(accept("a", until=FOREVER), at=1),
        answered(accept("b"), ACCEPTED, "a", again=True, at=2),
    ],
    "decided anew after three days": [
        answered(accept("a"), ACCEPTED, "a", again=False, at=1),
        answered(accept("b", since=THREE_DAYS), ACCEPTED, "b", again=False, at=2),
    ],
}

BAD_ROWS: dict[str, Sequence[Accepting]] = {
    "decided twice": [
        answered(accept("a"), ACCEPTED, "a", again=False, at=1),
        answered(accept("b"), ACCEPTED, "b", again=False, at=2),
    ],
    "told of a run that nobody offered": [answered(accept("a"), ACCEPTED, "x", again=True, at=1)],
    "accepted, then full": [
        answered(accept("a"), ACCEPTED, "a", again=False, at=1),
        answered(accept("b"), FULL, None, again=False, at=2),
    ],
    "decided anew too early": [
        answered(accept("a"), ACCEPTED, "a", again=False, at=1),
        answered(accept("b", since=TWO_DAYS), ACCEPTED, "b", again=False, at=2),
    ],
    "told again after three days": [
        answered(accept("a"), ACCEPTED, "a", again=False, at=1),
        answered(accept("b", since=THREE_DAYS), ACCEPTED, "a", again=True, at=2),
    ],
    "told two things by two who were not answered": [
        unanswered(accept("a", until=FOREVER), at=1),
        unanswered(accept("b", until=FOREVER), at=2),
        answered(accept("c"), ACCEPTED, "b", again=True, at=3),
        answered(accept("d"), ACCEPTED, "a", again=True, at=4),
    ],
}


def asked(name: Name, change: Change, answer: Answer, *, at: tuple[int, int]) -> Asking:
    return Operation(
        process="console", name=name, args=change, invoked=at[0], completed=at[1], outcome=Outcome.OK, answer=answer
    )


def rotate(seen: str, version: str) -> Change:
    return Change(version=version, seen=seen)


V1 = Webhook(version="v1", secret="v1", enabled=True)

GOOD_WEBHOOKS: dict[str, Sequence[Asking]] = {
    "of two rotations at once one wins": [
        asked(Name.ROTATE, rotate("v1", "v2"), Said.YES, at=(1, 4)),
        asked(Name.ROTATE, rotate("v1", "v3"), Said.CHANGED, at=(2, 3)),
        asked(Name.VERIFY, Change(version="v2"), Said.YES, at=(5, 6)),
    ],
    "switched off, it verifies nothing; switched on, it has its secret": [
        asked(Name.SWITCH, Change(version="v2", enabled=False), Said.YES, at=(1, 2)),
        asked(Name.VERIFY, Change(version="v2"), Said.CHANGED, at=(3, 4)),
        asked(Name.SWITCH, Change(version="v3"), Said.YES, at=(5, 6)),
        asked(Name.LOOK, Change(), Webhook(version="v3", secret="v1", enabled=True), at=(7, 8)),
    ],
    "deleted by two, and made again": [
        asked(Name.DELETE, Change(), Said.YES, at=(1, 4)),
        asked(Name.DELETE, Change(), Said.YES, at=(2, 3)),
        asked(Name.SWITCH, Change(version="v8"), Said.MISSING, at=(5, 6)),
        asked(Name.CREATE, Change(version="v9"), Said.YES, at=(7, 8)),
        asked(Name.CREATE, Change(version="v9"), Said.YES, at=(9, 10)),
    ],
}

BAD_WEBHOOKS: dict[str, Sequence[Asking]] = {
    "two rotations of one version": [
        asked(Name.ROTATE, rotate("v1", "v2"), Said.YES, at=(1, 4)),
        asked(Name.ROTATE, rotate("v1", "v3"), Said.YES, at=(2, 3)),
    ],
    "the old secret after a rotation": [
        asked(Name.ROTATE, rotate("v1", "v2"), Said.YES, at=(1, 2)),
        asked(Name.VERIFY, Change(version="v1"), Said.YES, at=(3, 4)),
    ],
    "a rotation that was refused, and is there": [
        asked(Name.ROTATE, rotate("v1", "v2"), Said.CHANGED, at=(1, 2)),
        asked(Name.LOOK, Change(), Webhook(version="v2", secret="v2", enabled=True), at=(3, 4)),
    ],
    "a deletion that took what was made after it": [
        asked(Name.DELETE, Change(), Said.YES, at=(1, 6)),
        asked(Name.CREATE, Change(version="v9"), Said.YES, at=(2, 3)),
        asked(Name.LOOK, Change(), Webhook(version="v9", secret="v9", enabled=True), at=(4, 5)),
        asked(Name.LOOK, Change(), None, at=(7, 8)),
    ],
    "verified by one that is switched off": [
        asked(Name.SWITCH, Change(version="v2", enabled=False), Said.YES, at=(1, 2)),
        asked(Name.VERIFY, Change(version="v2"), Said.YES, at=(3, 4)),
    ],
}


@pytest.mark.parametrize("name", GOOD_ROWS)
def test_a_row_that_keeps_its_word_is_accepted(name: str) -> None:
    assert linearisable(GOOD_ROWS[name], DeliveryRow())


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_row_that_breaks_its_word_is_refused(name: str) -> None:
    assert not linearisable(BAD_ROWS[name], DeliveryRow())


def test_a_delivery_that_wants_no_run_is_told_of_a_full_queue_again() -> None:
    full = answered(accept("a"), FULL, None, again=False, at=1)
    ping = Accept(run_id="b", wants=PING, since=NOW, until=NOW)

    assert linearisable([full, answered(ping, FULL, None, again=True, at=2)], DeliveryRow())
    assert not linearisable([full, answered(ping, PING, None, again=False, at=2)], DeliveryRow())


@pytest.mark.parametrize("name", GOOD_WEBHOOKS)
def test_a_webhook_that_keeps_its_word_is_accepted(name: str) -> None:
    assert linearisable(GOOD_WEBHOOKS[name], WebhookVersion(V1))


@pytest.mark.parametrize("name", BAD_WEBHOOKS)
def test_a_webhook_that_breaks_its_word_is_refused(name: str) -> None:
    assert not linearisable(BAD_WEBHOOKS[name], WebhookVersion(V1))
