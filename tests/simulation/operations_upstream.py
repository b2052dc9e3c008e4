"""Another system that operations call, and what it truly did; and how a coordinator of one life reaches it."""

import json
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import IPv4Address

import orjson

from services.coordinator.operations.outcome import Answered, Attempt, Lost, NeverSent
from services.coordinator.operations.request import Outbound
from services.coordinator.operations.upstream import TooLate
from services.kernel.addresses import Address
from services.kernel.errors import Ambiguous, Unavailable
from services.kernel.strict_json import JsonValue
from tests.simulation.ports import Life, Site, Weather

SECRET = "canary-answer-"
"""Begins what is secret in every answer."""

HUGE = "x" * 819_200
FORGETS_AFTER = timedelta(minutes=30)
"""Until then a repeat under a key that is honoured is answered like the first, and does nothing."""


class Behaviour(StrEnum):
    ACTS = "acts"
    ACTS_HUGELY = "acts, and answers more than a row holds"
    ACTS_UNHEARD = "acts, and its answer is lost"
    ACTS_AND_FAILS = "acts, and answers with 500"
    IS_LOST = "does not act, and nobody hears of that"
    FAILS = "does not act, and answers with 500"
    CONFLICTS = "does not act, and answers with 409"
    REFUSES = "does not act, and answers with 422, which proves it"
    IS_AWAY = "cannot be reached"


@dataclass(slots=True, kw_only=True)
class Execution:
    """One request of one person, as it goes through every process. `doubted`: its reservation's answer was lost."""

    actor: str
    key: str
    number: int
    operation: str
    doubted: bool = False
    reservations: list[str] = field(default_factory=list[str])

    @property
    def request(self) -> tuple[str, int, str]:
        return self.actor, self.number, self.operation


executing: ContextVar[Execution | None] = ContextVar("executing", default=None)
"""Whose execution it is that what runs now belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Something that the other system did, once and for good. `document` is the key that it was given."""

    document: str
    reservation: str | None
    by: Execution | None
    at: datetime
    body: dict[str, JsonValue]

    @property
    def kept(self) -> dict[str, JsonValue]:
        """What may be stored of the answer."""
        return {**self.body, "token": "[redacted]"}

    @property
    def is_huge(self) -> bool:
        return len(orjson.dumps(self.kept)) > len(HUGE)


@dataclass(slots=True, kw_only=True)
class Books:
    """The other system. `behaves` says what it does next; `called` is told of each request before it is taken."""

    now: Callable[[], datetime]
    called: Callable[[str], str | None]
    behaves: Callable[[], Behaviour] = lambda: Behaviour.ACTS
    script: deque[Behaviour] = field(default_factory=deque[Behaviour])
    effects: list[Effect] = field(default_factory=list[Effect])
    calls: int = 0

    def are_well(self) -> None:
        self.script.clear()
        self.behaves = lambda: Behaviour.ACTS

    def take(self, request: Outbound) -> Attempt:
        self.calls += 1
        document, honours = _key(request)
        reservation = self.called(document)
        behaviour = self.script.popleft() if self.script else self.behaves()
        match behaviour:
            case Behaviour.IS_LOST:
                return Lost(why="scripted")
            case Behaviour.FAILS:
                return Answered(status=500)
            case Behaviour.CONFLICTS:
                return Answered(status=409)
            case Behaviour.REFUSES:
                return Answered(status=422, result={"why": "no"})
            case Behaviour.IS_AWAY:
                return NeverSent(why="scripted")
            case _:
                pass
        known = self._known(document) if honours else None
        effect = known or self._act(document, reservation, huge=behaviour is Behaviour.ACTS_HUGELY)
        match behaviour:
            case Behaviour.ACTS_UNHEARD:
                return Lost(why="scripted")
            case Behaviour.ACTS_AND_FAILS:
                return Answered(status=500)
            case _:
                return Answered(status=201, result=effect.body)

    def of(self, reservation: str) -> list[Effect]:
        return [effect for effect in self.effects if effect.reservation == reservation]

    def latest(self, document: str) -> Effect | None:
        return next((effect for effect in reversed(self.effects) if effect.document == document), None)

    def _act(self, document: str, reservation: str | None, *, huge: bool) -> Effect:
        number = len(self.effects) + 1
        body: dict[str, JsonValue] = {"invoice": number, "token": f"{SECRET}{number}"}
        effect = Effect(
            document=document,
            reservation=reservation,
            by=executing.get(),
            at=self.now(),
            body={**body, "more": HUGE} if huge else body,
        )
        self.effects.append(effect)
        return effect

    def _known(self, document: str) -> Effect | None:
        known = self.latest(document)
        return None if known is None or self.now() >= known.at + FORGETS_AFTER else known


@dataclass(slots=True, kw_only=True)
class Upstream:
    """Implements `upstream.Caller` for one life: the way there may fail before it, or lose what is answered."""

    books: Books
    life: Life
    weather: Weather
    late: Callable[[], None]
    answered: Callable[[], None]

    async def resolve(self, host: str | Address) -> Sequence[Address]:
        return (IPv4Address("93.184.216.34"),)

    async def call(
        self, request: Outbound, found: Sequence[Address], *, within: timedelta, leaving: Callable[[], None]
    ) -> Attempt:
        left = False
        try:
            async with self.weather.around(Site.UPSTREAM, self.life):
                leaving()
                left = True
                answer = self.books.take(request)
                self.answered()
                return answer
        except TooLate:
            self.late()
            return NeverSent(why="too late to begin")
        except Unavailable:
            return Lost(why="disturbed") if left else NeverSent(why="disturbed")
        except Ambiguous:
            return Lost(why="disturbed")


def _key(request: Outbound) -> tuple[str, bool]:
    """The key, and whether it is honoured: where it travels in the body it is."""
    if (key := request.headers.get("Idempotency-Key")) is not None:
        return key, False
    body: dict[str, JsonValue] = json.loads(request.body or b"{}")
    return str(body["key"]), True
