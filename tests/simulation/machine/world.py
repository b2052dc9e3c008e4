"""The simulated world as a state machine plays in it, one rule after the other, and all that it knows of it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from services.kernel.errors import AnvilError, Permanent, QueueFull, StaleVerification, Transient
from services.kernel.ids import ProjectId, keyed_run_id
from services.kernel.ports import Target
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Canonical, EventKind, Outcome
from services.kernel.wire.model import Empty
from tests.history.delivery_row import FOREVER, Accept, Told
from tests.history.register import WIDTH
from tests.history.webhook_version import Change, Name, Said, Webhook
from tests.simulation.callers import new_run_id, project_id
from tests.simulation.calls import Calls
from tests.simulation.machine.faults import Arsenal
from tests.simulation.machine.witness import Witness, witnessed
from tests.simulation.node import Issuer
from tests.simulation.ports import Calm
from tests.simulation.rest import drain, hand
from tests.simulation.runner import Phase, Runner
from tests.simulation.testimony import Answered
from tests.simulation.world import World
from tests.unit.coordinator import callers
from tests.unit.coordinator.builders import canonical

SLUGS = ("site", "other")
RUNNERS = 3
TOGETHER = WIDTH - 2
"""At most so many deeds begin at once: fewer than can be searched for an order."""

Deed = Callable[[Calls], Awaitable[object]]

WANTS = {"push": Outcome.ACCEPTED, "branch": Outcome.IGNORED_BRANCH, "ping": Outcome.IGNORED_PING}
"""Kinds of deliveries, and what each comes to if there is room."""


class Stage:
    """`later` are deeds that begin together with the next one, `open` those that have begun and not ended.

    `versions` are those that callers know each webhook to have had, the newest last.
    """

    def __init__(self, issuer: Issuer) -> None:
        self.loop = asyncio.Runner()
        self.world = World(issuer, nodes=2, gates=0)
        self.arsenal = Arsenal(self.world)
        self.versions = {slug: [f"{slug}-v1"] for slug in SLUGS}
        begins = {slug: Webhook(version=f"{slug}-v1", secret=f"{slug}-v1", enabled=True) for slug in SLUGS}
        self.witness = Witness(begins)
        self.runners: list[Runner] = []
        self.busy: set[int] = set()
        self.later: list[tuple[int, Deed]] = []
        self.open: list[asyncio.Task[None]] = []
        self.loop.run(self._begins())
        self.world.weather.now = self.arsenal

    async def _begins(self) -> None:
        for slug in SLUGS:
            await self.world.calls().create_project(slug, project_id(slug))
            await self.world.calls().create_webhook(slug, f"{slug}-v1")

    # Time goes by rules

    def does(self, deed: Deed, *, at: int, later: bool = False) -> None:
        """Ask this instance, or one that is not stopped; at once, or when the next deed begins."""
        self.later.append((at, deed))
        if not later or len(self.later) + len(self.open) >= TOGETHER:
            self.loop.run(self._together())

    def wrong(self) -> list[str]:
        """What is wrong by now."""
        failed = [f"H3: {path} was answered with 500" for node in self.world.nodes for path in node.failures]
        self.witness.looks(self.world.state, self.runners)
        return [*self.world.violations, *failed, *self.witness.misplaced(self.world.state)]

    def ends(self) -> list[str]:
        """Faults are over and everything comes to rest; what is wrong then, or was on the way."""
        return self.loop.run(self._ends())

    def close(self) -> None:
        self.loop.close()
        self.world.close()

    async def _together(self) -> None:
        deeds, self.later = self.later, []
        self.open += [asyncio.ensure_future(self._dares(deed, at)) for at, deed in deeds]
        await self._quiet()

    async def _dares(self, deed: Deed, at: int) -> None:
        try:
            await deed(self.world.calls(self._running(at)))
        except AnvilError:
            # A refusal, or no answer: the witness keeps which.
            return

    def _running(self, at: int) -> int:
        running = self.world.running()
        return running[at % len(running)]

    async def _quiet(self) -> None:
        """Until all that was begun has ended, or waits for a stopped process."""
        turns = 0
        while any(not each.done() for each in self.open) and turns < 200:
            turns = turns + 1 if len(self.world.running()) < len(self.world.nodes) else 0
            await asyncio.sleep(0)
        for each in [each for each in self.open if each.done()]:
            self.open.remove(each)
            each.result()
        self._learn()
        self.witness.looks(self.world.state, self.runners)

    async def _ends(self) -> list[str]:
        self.world.weather.now = Calm()
        for node in self.world.nodes:
            node.life.running.set()
        await self._together()
        # Each row and each webhook is looked at once more, or nobody would know what they came to.
        for slug, delivery_id in list(self.witness.rows):
            await self._dares(self.deliver(slug, delivery_id, kind="push"), 0)
        for slug in SLUGS:
            await self._dares(self.change(slug, Name.LOOK), 0)
        found = await drain(self.world)
        self.witness.looks(self.world.state, self.runners)
        return [*found, *self.witness.misplaced(self.world.state), *self.witness.wrong()]

    # What callers do

    def deliver(self, slug: str, delivery_id: str, *, kind: str, ago: int = 0) -> Deed:
        """A delivery that the webhook's version of so many changes ago verified."""
        version = self._version(slug, ago)
        delivered = _delivered(delivery_id, kind)

        async def deed(calls: Calls) -> None:
            world, run_id, asked_at = self.world, new_run_id(self.world), self.world.clock.now()
            args = Accept(run_id=run_id, wants=WANTS[kind], since=world.clock.elapsed(), until=FOREVER)
            row = self.witness.delivers((slug, delivery_id), args)
            webhook = self.witness.changes(slug, Name.VERIFY, Change(version=version))
            self.witness.offers(run_id)

            async def asking() -> Said:
                answer = await calls.deliver(slug, delivered, version=version, run_id=run_id)
                told = Told(outcome=answer.outcome, run_id=answer.run_id, duplicate=answer.duplicate)
                row.args = replace(args, until=world.clock.elapsed())
                row.ok(told)
                answered = Answered(key=(slug, delivery_id), asked_at=asked_at, at=world.clock.now(), answer=answer)
                world.testimony.delivered(answered)
                self._told(offered=run_id, run_id=answer.run_id)
                return Said.YES

            try:
                await witnessed(webhook, asking())
            except Transient:
                row.unknown()
                raise
            except AnvilError as error:
                self.world.testimony.reached["an old secret, refused"] += isinstance(error, StaleVerification)
                row.fail()
                self.witness.withdrawn(run_id)
                raise

        return deed

    def ask(self, slug: str, *, key: str | None = None, source: str | None = None) -> tuple[str, Deed]:
        """A person asks for a run, or for one again; the run that it will be if it becomes one."""
        run_id = new_run_id(self.world) if key is None else str(keyed_run_id(ProjectId(project_id(slug)), key))

        async def deed(calls: Calls) -> None:
            self.witness.offers(run_id)
            try:
                told = await calls.ask_for_run(slug, run_id, source=source, key=key)
            except Permanent as error:
                self.world.testimony.reached["a run refused by a full queue"] += isinstance(error, QueueFull)
                if key is None:
                    self.witness.withdrawn(run_id)
                raise
            self.world.testimony.acked.add(told)
            self._told(offered=run_id, run_id=told)

        return run_id, deed

    def change(self, slug: str, name: Name, *, enabled: bool = True, ago: int = 0) -> Deed:
        """Change a webhook, or look what is there; a rotation names its version of so many changes ago."""
        seen = self._version(slug, ago)
        on = enabled or name is not Name.SWITCH
        args = Change(version=f"{slug}-{self.world.ids.token()}", seen=seen, enabled=on)
        self.world.testimony.rotations[args.version] = seen

        async def deed(calls: Calls) -> None:
            await witnessed(self.witness.changes(slug, name, args), _changed(calls, slug, name, args))

        return deed

    def _version(self, slug: str, ago: int) -> str:
        return self.versions[slug][max(0, len(self.versions[slug]) - 1 - ago)]

    def _learn(self) -> None:
        """Callers hear of each version that a webhook came to have."""
        for project in self.world.state.projects.values():
            webhook, known = project.webhooks.get("github"), self.versions[project.slug]
            if webhook is not None and webhook.version not in known:
                known.append(webhook.version)

    def _told(self, *, offered: str, run_id: str | None) -> None:
        if run_id is not None:
            self.witness.acknowledged(run_id)
        if run_id != offered:
            self.witness.withdrawn(offered)

    # Runs and runners

    def run_ids(self, slug: str, at: int) -> list[str]:
        """The active run and those that wait, as people are shown them."""
        seen: list[str] = []

        async def deed(calls: Calls) -> None:
            console = self.world.nodes[self._running(at)].client(callers.CONSOLE)
            queue = await console.call(internal.GET_QUEUE, path={"project": slug}, body=Empty())
            seen.extend([] if queue.active_run is None else [queue.active_run.run_id])
            seen.extend(each.run_id for each in queue.queued)

        self.does(deed, at=at)
        return seen

    def hand_over(self, number: int, *, again: bool, at: int) -> Runner | None:
        """Deliver any task that waits, and leave it there too if it is to come again; a runner, if it went to one."""
        waiting = self.world.queue.waiting
        if not waiting:
            return None
        task = waiting[number % len(waiting)]
        free = sum(each.phase is not Phase.IDLE for each in self.runners) < RUNNERS
        if task.target is Target.RUNNER and not free:
            return None
        if not again:
            waiting.remove(task)
        runner = Runner(world=self.world, peers=self.runners)
        self.does(lambda calls: hand(self.world, task, runner, calls), at=at)
        if task.target is not Target.RUNNER:
            return None
        self.runners.append(runner)
        return runner

    def goes_on(self, runner: Runner, step: Deed, *, at: int) -> None:
        """A runner does one thing; nothing, while it waits for an answer."""
        if id(runner) in self.busy:
            return

        async def deed(calls: Calls) -> None:
            self.busy.add(id(runner))
            try:
                await step(calls)
            finally:
                self.busy.discard(id(runner))

        self.does(deed, at=at)

    def dies(self, runner: Runner) -> None:
        if id(runner) not in self.busy:
            runner.dies()

    def stops(self, at: int) -> None:
        if len(self.world.running()) > 1:
            self.world.nodes[at].life.running.clear()

    def continues(self) -> None:
        """Stopped processes run again, each in the middle of what it was doing."""
        for node in self.world.nodes:
            self.world.testimony.reached["a stopped process that went on"] += not node.life.running.is_set()
            node.life.running.set()
        self.loop.run(self._together())


def _delivered(delivery_id: str, kind: str) -> Canonical:
    push = canonical(delivery_id)
    if kind == "ping":
        return push.model_copy(update={"event_kind": EventKind.PING, "event_name": "ping", "ref": None, "branch": None})
    return push if kind == "push" else push.model_copy(update={"ref": "refs/heads/topic", "branch": "topic"})


async def _changed(calls: Calls, slug: str, name: Name, args: Change) -> Said | Webhook | None:
    match name:
        case Name.CREATE:
            await calls.create_webhook(slug, args.version)
        case Name.SWITCH:
            await calls.switch_webhook(slug, args.version, enabled=args.enabled)
        case Name.ROTATE:
            await calls.rotate(slug, args.version, if_version=args.seen)
        case Name.DELETE:
            await calls.delete_webhook(slug)
        case Name.LOOK | Name.VERIFY:
            found = await calls.verification(slug)
            if found.version is None or found.secret is None:
                return None
            secret = found.secret.secret_id.removeprefix("secret-")
            return Webhook(version=found.version, secret=secret, enabled=found.enabled)
    return Said.YES
