"""Planted bugs: each puts something wrong in the place of a part of the coordinator, or of what its commits promise."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime

from services.coordinator.records.delivery import Delivery
from services.coordinator.records.project import Project
from services.coordinator.records.row import Row
from services.coordinator.records.run import Run
from services.coordinator.rules import attempt, deliveries, ending, index, queue, webhooks
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.scene import Scene
from services.kernel.adapters.sqlite import SqliteStore
from services.kernel.ids import CommitSha, RunId
from services.kernel.ports import Create, Delete, Replace, Version, Write
from services.kernel.runs import Verdict
from services.kernel.wire.deliveries import AcceptDelivery
from services.kernel.wire.webhooks import ReplaceSecret
from tests.simulation.ports import FaultyStore
from tests.simulation.world import replaced

Planted = AbstractContextManager[None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`rules` are the invariants one of which must tell of it.

    It shows in `flow`, where processes are killed or, if `stops`, stopped; without a flow in a storm.
    """

    plant: Callable[[], Planted]
    rules: frozenset[str]
    flow: str | None = None
    stops: bool = False


def promotes_before_teardown() -> Planted:
    """The lock is given back though the sandbox may still be there (R24)."""
    original = attempt.complete

    def complete(scene: Scene, *, attempt_hash: str, teardown_complete: bool, now: datetime, numbers: Numbers) -> Scene:
        return original(scene, attempt_hash=attempt_hash, teardown_complete=True, now=now, numbers=numbers)

    return replaced(attempt, "complete", complete)


def leaves_the_lease() -> Planted:
    """A takeover does not delete the heartbeat, so that the lost attempt may go on renewing it (Q8)."""

    def release(scene: Scene, *, now: datetime) -> Scene:
        return scene.with_project(queue.release(scene.project), now=now)

    return replaced(ending, "release", release)


def takes_over_by_age() -> Planted:
    """A takeover by the age of the run, whatever its heartbeat says (Q7)."""
    original = ending.watch

    def watch(scene: Scene, *, now: datetime, numbers: Numbers) -> Scene:
        started, lease = scene.run.started_at, scene.heartbeat
        aged = scene if started is None or lease is None else replace(scene, heartbeat=replace(lease, at=started))
        return original(aged, now=now, numbers=numbers)

    return replaced(ending, "watch", watch)


def counts_positions() -> Planted:
    """A position is the length of the queue, so that one is given twice (C14)."""
    original = queue.accept

    def accept(
        project: Project, run_id: RunId, *, branch: str, commit_sha: CommitSha | None, now: datetime, cap: int
    ) -> Project:
        counted = replace(project, next_position=len(project.queue) + 1)
        return original(counted, run_id, branch=branch, commit_sha=commit_sha, now=now, cap=cap)

    return replaced(queue, "accept", accept)


def upserts_unguarded() -> Planted:
    """An upsert overwrites what the row knows (R42)."""

    def merge(row: Row | None, upsert: Row) -> Row:
        return upsert if row is None else replace(row, commit_sha=upsert.commit_sha)

    return replaced(index, "merge", merge)


def keeps_no_outbox() -> Planted:
    """A task alone knows of a run that became executable: who loses it loses the run (Q12)."""
    original = Scene.with_project

    def with_project(scene: Scene, project: Project, *, now: datetime) -> Scene:
        return replace(original(scene, project, now=now), successor=scene.successor)

    return replaced(Scene, "with_project", with_project)


def lets_anybody_claim() -> Planted:
    """Whoever asks for a run that has begun is told to execute it (Q13)."""

    def stale(run: Run, attempt_hash: str) -> Verdict:
        return Verdict.EXECUTE

    return replaced(attempt, "_stale", stale)


def decides_replays_anew() -> Planted:
    """A stored outcome is not looked at: a delivery that comes again is decided again (D5)."""
    original = deliveries.decide

    def decide(
        project: Project, found: Delivery | None, command: AcceptDelivery, *, now: datetime, numbers: Numbers
    ) -> deliveries.Recorded:
        return original(project, None, command, now=now, numbers=numbers)

    return replaced(deliveries, "decide", decide)


def rotates_whatever_is_there() -> Planted:
    """A rotation does not ask whether the webhook is still the one that it named (K4)."""
    original = webhooks.replace_secret

    def replace_secret(project: Project, provider: str, command: ReplaceSecret, *, now: datetime) -> Project:
        version = webhooks.existing(project, provider).version
        return original(project, provider, command.model_copy(update={"if_version": version}), now=now)

    return replaced(webhooks, "replace_secret", replace_secret)


def writes_the_delivery_apart() -> Planted:
    """The row of a delivery is one commit, what it became another (D8)."""
    original = FaultyStore.commit

    async def commit(store: FaultyStore, writes: Sequence[Write]) -> list[Version]:
        rows = [write for write in writes if write.ref.collection == "deliveries"]
        others = [write for write in writes if write.ref.collection != "deliveries"]
        return [version for part in (rows, others) if part for version in await original(store, part)]

    return replaced(FaultyStore, "commit", commit)


def dedupes_by_check_then_act() -> Planted:
    """A row that is found to be missing is written, also if it is there by now (D7)."""
    return _unconditional(lambda writes: ("deliveries",))


def syncs_without_a_version() -> Planted:
    """A row of the index, and that nothing is owed to it, is written whatever the run is by now (Y4)."""
    return _unconditional(lambda writes: ("runs", "run_index") if "run_index" in _collections(writes) else ())


def renews_without_fencing() -> Planted:
    """A heartbeat is written whatever became of the lease since it was read (Q8)."""
    return _unconditional(lambda writes: ("heartbeats",) if _collections(writes) == {"heartbeats"} else ())


def commits_whatever_the_project_is() -> Planted:
    """A decision about a project is written whatever the project is by now."""
    return _unconditional(lambda writes: ("projects",))


def _unconditional(loose: Callable[[Sequence[Write]], tuple[str, ...]]) -> Planted:
    """Writes to these collections hold whatever is there."""
    original = SqliteStore.commit

    async def commit(store: SqliteStore, writes: Sequence[Write]) -> list[Version]:
        collections = loose(writes)
        return await original(store, [await _forced(store, write, collections) for write in writes])

    return replaced(SqliteStore, "commit", commit)


async def _forced(store: SqliteStore, write: Write, collections: tuple[str, ...]) -> Write:
    if write.ref.collection not in collections or isinstance(write, Delete):
        return write
    (found,) = await store.get([write.ref])
    return Create(write.ref, write.data) if found is None else Replace(write.ref, write.data, found.version)


def _collections(writes: Sequence[Write]) -> set[str]:
    return {write.ref.collection for write in writes}


MUTANTS: dict[str, Mutant] = {
    "promotes before teardown": Mutant(plant=promotes_before_teardown, rules=frozenset({"Q7"}), flow="F11 held"),
    "leaves the lease at a takeover": Mutant(plant=leaves_the_lease, rules=frozenset({"Q8"}), flow="F11"),
    "takes over by the age of the run": Mutant(plant=takes_over_by_age, rules=frozenset({"Q8"})),
    "counts positions": Mutant(plant=counts_positions, rules=frozenset({"Q4"})),
    "upserts unguarded": Mutant(plant=upserts_unguarded, rules=frozenset({"Y4", "Y6"}), flow="F12"),
    "keeps no outbox": Mutant(plant=keeps_no_outbox, rules=frozenset({"Q10", "Q11"}), flow="F9"),
    "lets anybody claim": Mutant(plant=lets_anybody_claim, rules=frozenset({"Q13"})),
    "decides replays anew": Mutant(plant=decides_replays_anew, rules=frozenset({"D4", "D6", "D7"})),
    "rotates whatever is there": Mutant(plant=rotates_whatever_is_there, rules=frozenset({"K4"})),
    "writes the delivery apart from its run": Mutant(
        plant=writes_the_delivery_apart, rules=frozenset({"D6"}), flow="F1"
    ),
    "dedupes by check then act": Mutant(plant=dedupes_by_check_then_act, rules=frozenset({"D4", "D6"})),
    "syncs the index without a version": Mutant(
        plant=syncs_without_a_version, rules=frozenset({"S2", "S3", "Q1", "Q2", "Y1", "Y4"})
    ),
    "renews a lease without fencing": Mutant(
        plant=renews_without_fencing, rules=frozenset({"Q8"}), flow="F6", stops=True
    ),
    "commits whatever the project is": Mutant(
        plant=commits_whatever_the_project_is, rules=frozenset({"Q1", "Q2", "Q4", "Q6"})
    ),
}
