"""Who was asked what and told what, as the checks of a history want it."""

from collections import defaultdict
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from services.kernel.errors import AnvilError, NotFound, StaleVerification, Transient, WebhookChanged
from tests.history import conservation, queue_order, register
from tests.history.conservation import Read
from tests.history.delivery_row import Accept, DeliveryRow, Told
from tests.history.operations import Log, Pending
from tests.history.queue_order import Accepted, Ran
from tests.history.webhook_version import Answer, Change, Name, Said, Webhook, WebhookVersion
from tests.simulation.runner import Runner
from tests.simulation.state import State

Key = tuple[str, str]

REFUSED: Mapping[type[AnvilError], Said] = {
    NotFound: Said.MISSING,
    WebhookChanged: Said.CHANGED,
    StaleVerification: Said.CHANGED,
}


@dataclass(slots=True)
class Asked:
    """When a run was asked for, by whoever offered it first, and when somebody was first told of it."""

    invoked: int
    told: int | None = None


@dataclass(slots=True)
class Witness:
    """`begins` are the webhooks that are there at the beginning, `uncertain` runs that may come of a call, for all that
    is known, `alive` the commands of each runner, and `began` the attempts whose commands ever began.
    """

    begins: Mapping[str, Webhook]
    moment: int = 0
    rows: dict[Key, Log[Accept, Told]] = field(default_factory=dict[Key, Log[Accept, Told]])
    webhooks: dict[str, Log[Change, Answer]] = field(default_factory=dict[str, Log[Change, Answer]])
    asked: dict[str, Asked] = field(default_factory=dict[str, Asked])
    uncertain: set[str] = field(default_factory=set[str])
    positions: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    alive: dict[int, Ran] = field(default_factory=dict[int, Ran])
    began: set[str] = field(default_factory=set[str])
    ran: list[Ran] = field(default_factory=list[Ran])

    def tick(self) -> int:
        self.moment += 1
        return self.moment

    # What callers ask

    def delivers(self, key: Key, args: Accept) -> Pending[Accept, Told]:
        return self.rows.setdefault(key, Log(self.tick)).asks("hooks", "accept", args)

    def changes(self, slug: str, name: Name, args: Change) -> Pending[Change, Answer]:
        return self.webhooks.setdefault(slug, Log(self.tick)).asks("hooks or console", name, args)

    def offers(self, run_id: str) -> None:
        self.uncertain.add(run_id)
        self.asked.setdefault(run_id, Asked(self.tick()))

    def acknowledged(self, run_id: str) -> None:
        self.uncertain.discard(run_id)
        asked = self.asked.setdefault(run_id, Asked(0))
        asked.told = asked.told or self.tick()

    def withdrawn(self, run_id: str) -> None:
        """It was answered otherwise, so no run may come of this offer."""
        self.uncertain.discard(run_id)

    # What is seen between the calls

    def looks(self, state: State, runners: list[Runner]) -> None:
        """Keep positions and which commands are alive; after each deed, since a rule may be many."""
        for project in state.projects.values():
            for entry in project.queue:
                self.positions.setdefault(entry.run_id, (project.slug, entry.position))
        self._commands(state, runners)

    def misplaced(self, state: State) -> Iterator[str]:
        """What is wrong with where the runs are."""
        yield from conservation.violations(self._read(state))

    def wrong(self) -> Iterator[str]:
        """What no history may be, now that it has ended."""
        for key, row in self.rows.items():
            yield from register.violations(" ".join(key), row.operations, DeliveryRow())
        for slug, webhook in self.webhooks.items():
            yield from register.violations(slug, webhook.operations, WebhookVersion(self.begins[slug]))
        yield from queue_order.violations(list(self._accepted()), [*self.ran, *self.alive.values()])

    def _commands(self, state: State, runners: list[Runner]) -> None:
        executing = {id(each): each for each in runners if each.executing}
        for number in [number for number in self.alive if number not in executing]:
            self.ran.append(replace(self.alive.pop(number), ended=self.tick()))
        for number, runner in executing.items():
            if number not in self.alive and runner.token not in self.began:
                # Commands that died with their lease stay dead, though a late heartbeat may renew it.
                self.began.add(runner.token)
                project = state.runs[runner.run_id].project
                self.alive[number] = Ran(project=project, run_id=runner.run_id, began=self.tick(), ended=None)

    def _read(self, state: State) -> Read:
        places: dict[str, set[str]] = defaultdict(set)
        for run in state.runs.values():
            places["ended" if run.status.terminal else "active" if run.status.active else "queued"].add(run.run_id)
        return Read(
            acknowledged={run_id for run_id, asked in self.asked.items() if asked.told is not None},
            unknown=self.uncertain,
            queued=places["queued"],
            active=places["active"],
            ended=places["ended"],
        )

    def _accepted(self) -> Iterator[Accepted]:
        for run_id, (project, position) in self.positions.items():
            asked = self.asked.get(run_id, Asked(0))
            yield Accepted(
                project=project, run_id=run_id, position=position, invoked=asked.invoked, completed=asked.told
            )


async def witnessed(pending: Pending[Change, Answer], asking: Awaitable[Answer]) -> None:
    """Ask about a webhook and keep what was said.

    Raises:
        AnvilError: what was said, if it was a refusal.
    """
    try:
        answer = await asking
    except Transient:
        pending.unknown()
        raise
    except AnvilError as error:
        said = REFUSED.get(type(error))
        if said is None:
            pending.fail()
        else:
            pending.ok(said)
        raise
    pending.ok(answer)
