"""Something happens to a runner at each of its moments in turn; every time all must come to its end rightly."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from services.kernel.errors import OwnershipLost
from services.kernel.runs import Status
from tests.simulation.node import Issuer
from tests.simulation.ports import Side
from tests.simulation.runner_service import mishaps
from tests.simulation.runner_service.line import Mishap, Moment, Port
from tests.simulation.runner_service.mishaps import All, CutOff, Once, Place
from tests.simulation.runner_service.stage import Stage, own_stage

FENCED = OwnershipLost.code

Made = Callable[[Stage, Place], Mishap]
Wanted = Callable[[Moment], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A mishap, and at which moments it may happen."""

    title: str
    made: Made
    wanted: Wanted = lambda moment: True


def _once(happens: mishaps.Happens, *, port: Port | None = None) -> Made:
    return lambda stage, place: Once(place, happens, port)


def _stopped(seconds: int) -> Made:
    return lambda stage, place: Once(place, mishaps.stopped(stage, duration=timedelta(seconds=seconds)))


def _slow(seconds: int) -> Made:
    return lambda stage, place: Once(place, mishaps.slow(stage, duration=timedelta(seconds=seconds)))


def _cut_off(seconds: int) -> Made:
    return lambda stage, place: CutOff(stage, place, timedelta(seconds=seconds))


def _before_call(moment: Moment) -> bool:
    return moment.port is Port.CALL and moment.side is Side.BEFORE


def _after_call(moment: Moment) -> bool:
    return moment.port is Port.CALL and moment.side is Side.AFTER


def _call(moment: Moment) -> bool:
    return moment.port is Port.CALL


def _before(moment: Moment) -> bool:
    return moment.side is Side.BEFORE


KINDS: dict[str, Kind] = {
    each.title: each
    for each in (
        Kind(title="killed", made=_once(mishaps.killed)),
        Kind(title="stopped for 60 s", made=_stopped(60)),
        Kind(title="stopped for 40 s", made=_stopped(40), wanted=_before),
        Kind(title="stopped for 20 s", made=_stopped(20), wanted=_before),
        Kind(title="terminated", made=_once(mishaps.terminated)),
        Kind(title="not reached", made=_once(mishaps.not_reached, port=Port.CALL), wanted=_before_call),
        Kind(title="not heard", made=_once(mishaps.not_heard, port=Port.CALL), wanted=_after_call),
        Kind(title="cut off for 20 s", made=_cut_off(20), wanted=_before_call),
        Kind(title="cut off for 100 s", made=_cut_off(100), wanted=_before_call),
        Kind(title="slow by 9 s", made=_slow(9), wanted=_call),
        Kind(title="canceled", made=lambda stage, place: Once(place, mishaps.canceled(stage))),
    )
}


Happening = tuple[Kind, Moment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """`calls` is how many the undisturbed run makes, `tried` at how many moments something happened.

    `reached` is how the first run ended, by status or reason, and that a runner was told that the run is not its own.
    """

    title: str
    calls: int
    tried: int
    reached: Counter[str]
    violations: tuple[str, ...]


async def moments(issuer: Issuer) -> Sequence[Moment]:
    """Those of the first run, when nothing happens; it passes then, and the next one fails."""
    async with own_stage(issuer) as made:
        wrong = await made.rest()
        ended = [made.world.state.runs[run].status for run in (made.world.pushed, made.world.asked)]
        if wrong or ended != [Status.PASSED, Status.FAILED]:
            raise AssertionError(f"undisturbed: {ended}, {wrong}")
        return [each for each in made.line.moments if each.run == made.world.pushed]


async def explore(issuer: Issuer, title: str) -> Seen:
    """Let it happen at every moment at which it may."""
    kind = KINDS[title]
    known = await moments(issuer)
    wanted = [moment for moment in known if kind.wanted(moment)]
    violations: list[str] = []
    reached: Counter[str] = Counter()
    for moment in wanted:
        violations += [f"{title} {moment}: {each}" for each in await play(issuer, (kind, moment), reached=reached)]
    calls = len({moment.number for moment in known})
    return Seen(title=title, calls=calls, tried=len(wanted), reached=reached, violations=tuple(violations))


async def explore_pairs(issuer: Issuer, *, count: int, seed: int = 0) -> list[str]:
    """Let two things happen in one world, this many times; what was wrong."""
    random, known = Random(f"pairs {seed}"), await moments(issuer)
    violations: list[str] = []
    for _ in range(count):
        both: list[Happening] = []
        for title in random.choices(list(KINDS), k=2):
            kind = KINDS[title]
            both.append((kind, random.choice([moment for moment in known if kind.wanted(moment)])))
        told = " and ".join(f"{kind.title} {moment}" for kind, moment in both)
        violations += [f"{told}: {each}" for each in await play(issuer, *both)]
    return violations


async def play(issuer: Issuer, *happenings: Happening, reached: Counter[str] | None = None) -> list[str]:
    """What is wrong if each of these happens at its moment; what was reached is counted in `reached`."""
    async with own_stage(issuer) as made:
        made.line.now = All(tuple(kind.made(made, (moment.number, moment.side)) for kind, moment in happenings))
        wrong = await made.rest()
        if reached is not None:
            run = made.world.state.runs[made.world.pushed]
            reached[run.reason or run.status] += 1
            reached[FENCED] += any(said.answer is not None and said.answer.code == FENCED for said in made.truth.said)
        return wrong


def table(seen: Iterable[Seen]) -> str:
    """For people."""
    lines = [f"{'F18: a runner, at each of its calls':<40}{'calls':>7}{'tried':>7}{'violations':>12}"]
    lines += [f"{each.title:<40}{each.calls:>7}{each.tried:>7}{len(each.violations):>12}" for each in seen]
    return "\n".join(lines)
