"""Anything that may happen, as rules that Hypothesis tries in any order and shortens when something is wrong.

Small domains make collisions and full queues common. A rule with `later` begins together with the next one, so that
calls meet; a runner that nobody lets go on is one that is paused.
"""

from collections import Counter
from datetime import timedelta
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
)

from services.kernel.runs import Status
from tests.history.webhook_version import Name
from tests.simulation.calls import Calls
from tests.simulation.machine.faults import MAY_HAPPEN, Armed, Fault
from tests.simulation.machine.world import SLUGS, WANTS, Stage
from tests.simulation.node import Issuer
from tests.simulation.ports import Side, Site
from tests.simulation.runner import Phase, Runner

Key = tuple[str, str]

slugs = st.sampled_from(SLUGS)
ids = st.sampled_from("abcd")
instances = st.integers(0, 1)
later = st.booleans()
kinds = st.sampled_from(["push", "push", "push", *WANTS])
keys = st.sampled_from([None, None, "nightly", "hourly"])
versions_ago = st.sampled_from([0, 0, 0, 1])
durations = st.sampled_from([1, 20, 31, 46, 61, 301, 3600, *[3 * 86_400] * 3]) | st.integers(0, 3 * 86_400 + 2)


answers_that_get_lost = st.just((Fault.AMBIGUOUS, Site.COMMIT, Side.AFTER))
armed = st.builds(Armed, answers_that_get_lost | st.sampled_from(MAY_HAPPEN), st.sampled_from([0, 0, 1, 2]))

CHANGES = {
    "rotate": [(Name.ROTATE, True)],
    "have": [(Name.CREATE, True), (Name.SWITCH, True)],
    "switch on": [(Name.SWITCH, True)],
    "switch off": [(Name.SWITCH, False)],
    "delete": [(Name.DELETE, True)],
    "create": [(Name.CREATE, True)],
}


async def _sweeps(calls: Calls) -> None:
    await calls.sweep()


class Machine(RuleBasedStateMachine):
    deliveries: Bundle[Key] = Bundle("deliveries")
    runs: Bundle[str] = Bundle("runs")
    attempts: Bundle[Runner] = Bundle("attempts")

    issuer: ClassVar[Issuer]
    reached: ClassVar[Counter[str]]

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(self.issuer)
        self.broken = False

    # Hooks

    @rule(target=deliveries, slug=slugs, id_=ids, kind=kinds, ago=versions_ago, at=instances, later=later)
    def deliver(self, slug: str, id_: str, kind: str, ago: int, at: int, later: bool) -> Key:
        self.stage.does(self.stage.deliver(slug, id_, kind=kind, ago=ago), at=at, later=later)
        return slug, id_

    @rule(delivery=deliveries, times=st.integers(1, 3), days=st.sampled_from([0, 0, 3]), at=instances, later=later)
    def redeliver(self, delivery: Key, times: int, days: int, at: int, later: bool) -> None:
        """To one instance after the other, at once; perhaps when nobody needs to know it any more."""
        slug, id_ = delivery
        self.stage.world.clock.move(timedelta(days=days))
        for number in range(times):
            last = number == times - 1
            self.stage.does(self.stage.deliver(slug, id_, kind="push"), at=at + number, later=later or not last)

    # People

    @rule(target=runs, slug=slugs, key=keys, at=instances, later=later)
    def ask(self, slug: str, key: str | None, at: int, later: bool) -> str:
        run_id, deed = self.stage.ask(slug, key=key)
        self.stage.does(deed, at=at, later=later)
        return run_id

    @rule(target=runs, slug=slugs, many=st.integers(1, 4), at=instances)
    def ask_for_many(self, slug: str, many: int, at: int) -> MultipleResults[str]:
        return self._ask(slug, many, at)

    @rule(target=runs, slug=slugs, source=runs, key=keys, at=instances, later=later)
    def ask_again(self, slug: str, source: str, key: str | None, at: int, later: bool) -> str:
        run_id, deed = self.stage.ask(slug, key=key, source=source)
        self.stage.does(deed, at=at, later=later)
        return run_id

    @rule(target=runs, slug=slugs, at=instances)
    def look(self, slug: str, at: int) -> MultipleResults[str]:
        self.stage.does(self.stage.change(slug, Name.LOOK), at=at)
        return multiple(*self.stage.run_ids(slug, at=at))

    @rule(run_id=runs, at=instances, later=later)
    def cancel(self, run_id: str, at: int, later: bool) -> None:
        self.stage.does(lambda calls: calls.cancel(run_id), at=at, later=later)

    @rule(slug=slugs, name=st.sampled_from(list(CHANGES)), ago=versions_ago, at=instances, later=later)
    def change_a_webhook(self, slug: str, name: str, ago: int, at: int, later: bool) -> None:
        *first, last = CHANGES[name]
        for each, enabled in first:
            self.stage.does(self.stage.change(slug, each, enabled=enabled, ago=ago), at=at)
        self.stage.does(self.stage.change(slug, last[0], enabled=last[1], ago=ago), at=at, later=later)

    # Tasks and runners

    @rule(target=attempts, number=st.integers(0, 9), again=st.booleans(), at=instances)
    def hand_over(self, number: int, again: bool, at: int) -> MultipleResults[Runner]:
        runner = self.stage.hand_over(number, again=again, at=at)
        return multiple() if runner is None else multiple(runner)

    @rule(target=attempts, rounds=st.integers(1, 4), at=instances)
    def work(self, rounds: int, at: int) -> MultipleResults[Runner]:
        """Each task finds its runner, and each runner goes on, so that a schedule gets somewhere."""
        made = [self.stage.hand_over(0, again=False, at=at) for _ in range(2)]
        for attempt in [each for each in self.stage.runners if each.phase is not Phase.IDLE] * rounds:
            self.stage.goes_on(attempt, attempt.goes_on, at=at)
        return multiple(*(runner for runner in made if runner is not None))

    @rule(
        attempt=attempts, what=st.sampled_from(["goes on", "goes on", "beats", "fails", "sticks", "dies"]), at=instances
    )
    def attempt(self, attempt: Runner, what: str, at: int) -> None:
        """`sticks`: its sandbox cannot be torn down."""
        match what:
            case "dies":
                self.stage.dies(attempt)
            case "beats":
                self.stage.goes_on(attempt, attempt.beats, at=at)
            case _:
                attempt.ending = Status.FAILED if what == "fails" else attempt.ending
                attempt.torn_down = attempt.torn_down and what != "sticks"
                self.stage.goes_on(attempt, attempt.goes_on, at=at)

    @rule(seconds=durations)
    def wait(self, seconds: int) -> None:
        self.stage.world.clock.move(timedelta(seconds=seconds))

    @rule(at=instances, later=later)
    def sweep(self, at: int, later: bool) -> None:
        self.stage.does(_sweeps, at=at, later=later)

    # Faults

    @rule(armed=armed, pauses=st.lists(st.integers(0, 3), max_size=8))
    def arm(self, armed: Armed, pauses: list[int]) -> None:
        self.stage.arsenal.armed.append(armed)
        self.stage.arsenal.pauses += pauses

    @rule(what=st.sampled_from(["go on", "stop", "crash"]), at=instances)
    def interrupt(self, what: str, at: int) -> None:
        match what:
            case "stop":
                self.stage.stops(at)
            case "crash":
                self.stage.world.nodes[at].life.end()
            case _:
                self.stage.continues()

    # What holds

    @invariant()
    def nothing_is_wrong(self) -> None:
        self._holds(self.stage.wrong())

    def teardown(self) -> None:
        try:
            if not self.broken:
                self._holds(self.stage.ends())
        finally:
            self.reached.update(self.stage.world.testimony.reached)
            self.stage.close()

    def _ask(self, slug: str, many: int, at: int) -> MultipleResults[str]:
        asked = [self.stage.ask(slug) for _ in range(many)]
        for _, deed in asked:
            self.stage.does(deed, at=at)
        return multiple(*(run_id for run_id, _ in asked))

    def _holds(self, found: list[str]) -> None:
        self.broken = self.broken or bool(found)
        assert not found, "\n".join(found)


class Crowded(Machine):
    """Where twenty may wait."""

    @rule(target=Machine.runs, slug=slugs, many=st.integers(15, 22), at=instances)
    def crowd(self, slug: str, many: int, at: int) -> MultipleResults[str]:
        return self._ask(slug, many, at)


def machines(
    issuer: Issuer, reached: Counter[str] | None = None, *, kind: type[Machine] = Machine
) -> type[RuleBasedStateMachine]:
    """Machines of these worlds; `reached` counts the interesting states that they came through."""
    counted: Counter[str] = Counter() if reached is None else reached
    return type(kind.__name__, (kind,), {"issuer": issuer, "reached": counted})
