"""Storms around the ledger: few keys, two callers, operators who come late, and another system that does anything."""

from collections.abc import Mapping
from datetime import timedelta
from random import Random
from typing import cast as typed

from services.kernel.errors import AnvilError
from services.kernel.wire.ledger import LedgerRow
from tests.simulation import works
from tests.simulation.calls import Calls
from tests.simulation.cast import Cast, Deed
from tests.simulation.faults import Faults
from tests.simulation.node import Issuer
from tests.simulation.operations_people import ADA, BOB, Customer, Operator, SettledWorld
from tests.simulation.operations_upstream import Behaviour
from tests.simulation.operations_world import INVOICE, ORDER, TTL
from tests.simulation.ports import Calm, Life
from tests.simulation.profile import LEDGER, Profile
from tests.simulation.storm import Storm
from tests.simulation.world import World

STATES: Mapping[str, str] = {
    "an expired row, taken over": "it is as good as absent, deleted or not, and one caller gets its place (I4)",
    "an expired row, deleted": "the database may do so at any time",
    "an ambiguous reservation, found to be one's own": "it must not be told as another's (I15)",
    "an ambiguous reservation, found to be another's": "nor the other way round (I1)",
    "two callers with one key, of whom one is refused": "neither a second effect nor the other's result (I6)",
    "a call that was refused, and its key free again": "the catalogue's word is a proof (I10)",
    "a replay": "the first answer (I13)",
    "a result that no row holds": "its row stays (I9)",
    "an unknown outcome, completed": "by what the other system did (I12)",
    "an unknown outcome, released": "by what the other system did not do (I12)",
    "a verdict on what changed since, refused": "a compare-and-set (I12)",
    "a verdict while a call may be running, refused": "there is nothing to judge yet",
    "a late completion of what was settled, refused": "whoever stood still must not win over a verdict (I2)",
    "a call that was too late, and not made": "all calls have ended when the row says so",
    "a stopped process that went on": "in the middle of what it was doing, after others did more",
    "an instance started anew": "an empty memory",
    "all that was told about a key, put in an order": "what more do at once than can be searched says nothing (I1)",
}
"""By name, with why it is of interest."""

_BEHAVIOURS = (
    *[Behaviour.ACTS] * 8,
    *[Behaviour.ACTS_UNHEARD] * 3,
    *[Behaviour.IS_LOST] * 2,
    Behaviour.ACTS_AND_FAILS,
    Behaviour.FAILS,
    Behaviour.CONFLICTS,
    *[Behaviour.REFUSES] * 2,
    Behaviour.IS_AWAY,
)
_HUGELY = 0.06
_STANDSTILL = 0.1
_HOUR = 3600


def missing(reached: Mapping[str, int]) -> list[str]:
    return [state for state in STATES if not reached.get(state)]


class LedgerStorm(Storm):
    """One seed's world, in which nothing but operations goes on."""

    @classmethod
    async def begin(cls, issuer: Issuer, seed: int, profile: Profile = LEDGER) -> "LedgerStorm":
        world = SettledWorld(issuer, seed=seed, nodes=2, gates=2, profile=profile)
        random = Random(f"ledger {seed}")
        world.route = lambda: random.choice(world.running())
        world.books.behaves = lambda: _behaviour(random)
        world.answered = lambda life: _stopped(world, random, life)
        world.weather.now = Faults(world, random)
        return cls(world, random, Cast(world=world, random=random, profile=profile))

    async def end(self) -> list[str]:
        world = _settled(self.world)
        world.answered = lambda life: None
        world.weather.now = Calm()
        # Not `super()`: a dataclass with slots is another class than the one that this is written in.
        found = await Storm.end(self)
        return [*found, *world.history.wrong(ttl=TTL, reach=world.reach)]

    async def _does(self) -> None:
        deeds = _Deeds(_settled(self.world))
        chosen: list[Deed] = [
            *[deeds.execute] * 10,
            *[deeds.look] * 3,
            *[deeds.judge] * 3,
            *[deeds.settle] * 3,
            deeds.note,
            deeds.expire,
            *[deeds.wait] * 3,
            *[deeds.outlive] * 2,
            works.go_on,
        ]
        await self._did(self.random.choice(chosen))


class _Deeds:
    """What may be done at any time."""

    def __init__(self, world: SettledWorld) -> None:
        self._world = world

    async def execute(self, cast: Cast, calls: Calls) -> str:
        customer = Customer(
            world=self._world,
            actor=cast.random.choice((*[ADA] * 7, BOB)),
            key=cast.random.choice(cast.profile.ids),
            number=cast.random.choice((*[1] * 9, 2)),
            operation=cast.random.choice((INVOICE, ORDER)),
        )
        try:
            executed = await customer.tries(cast.gate())
        except AnvilError as error:
            return f"{customer.actor} {customer.key}: {error.code} {error.detail}"
        return f"{customer.actor} {customer.key}: {executed.status} replayed: {executed.replayed}"

    async def look(self, cast: Cast, calls: Calls) -> str | None:
        documents = sorted(self._world.rows)
        if not documents:
            return None
        row = await Operator(world=self._world).looks(cast.gate(), cast.random.choice(documents))
        self._world.seen.append(row)
        return f"{row.status} {row.version}"

    async def judge(self, cast: Cast, calls: Calls) -> str | None:
        """By a row as it was seen, perhaps long ago; mostly after its calls have ended."""
        row = self._seen(cast)
        if row is None:
            return None
        try:
            await Operator(world=self._world, actor=cast.random.choice((ADA, BOB))).judges(cast.gate(), row)
        except AnvilError as error:
            return f"{row.version}: {error.code}"
        return f"{row.version}: settled"

    async def settle(self, cast: Cast, calls: Calls) -> str | None:
        """Look at a row that is open for long, and judge it at once."""
        now = cast.world.clock.now()
        old = sorted(document for document, row in self._world.in_progress().items() if row.max_until < now)
        if not old:
            return None
        operator, document = Operator(world=self._world), cast.random.choice(old)
        try:
            await operator.judges(cast.gate(), await operator.looks(cast.gate(), document))
        except AnvilError as error:
            return f"{document[:8]}: {error.code}"
        return f"{document[:8]}: settled"

    async def outlive(self, cast: Cast, calls: Calls) -> str | None:
        """What a stopped process was doing is settled without it, and then it goes on."""
        if not self._world.stopped or not self._world.in_progress():
            return None
        await self.wait(cast, calls)
        came = await self.settle(cast, calls)
        await works.go_on(cast, calls)
        return came or ""

    async def note(self, cast: Cast, calls: Calls) -> str | None:
        row = self._seen(cast)
        if row is None:
            return None
        try:
            await Operator(world=self._world).notes(cast.gate(), row)
        except AnvilError as error:
            return f"{row.version}: {error.code}"
        return f"{row.version}: noted"

    async def expire(self, cast: Cast, calls: Calls) -> str:
        return f"{await self._world.delete_expired()} rows"

    async def wait(self, cast: Cast, calls: Calls) -> str:
        seconds = cast.random.choices((1, 20, 70, _HOUR + 1), (2, 2, 5, 1))[0]
        cast.world.clock.move(timedelta(seconds=seconds))
        return f"{seconds} s"

    def _seen(self, cast: Cast) -> LedgerRow | None:
        return cast.random.choice(self._world.seen[-6:]) if self._world.seen else None


def _behaviour(random: Random) -> Behaviour:
    return Behaviour.ACTS_HUGELY if random.random() < _HUGELY else random.choice(_BEHAVIOURS)


def _settled(world: World) -> SettledWorld:
    return typed("SettledWorld", world)


def _stopped(world: SettledWorld, random: Random, life: Life) -> None:
    """At times a process stops right when the answer comes."""
    if random.random() < _STANDSTILL and world.may_stop(life):
        life.running.clear()


async def rage(issuer: Issuer, seed: int, *, profile: Profile = LEDGER) -> tuple[SettledWorld, list[str]]:
    """One storm from its beginning to its rest: the world then, and what was wrong."""
    storm = await LedgerStorm.begin(issuer, seed, profile)
    try:
        for _ in range(profile.steps):
            await storm.step()
        return _settled(storm.world), await storm.end()
    finally:
        storm.world.close()
