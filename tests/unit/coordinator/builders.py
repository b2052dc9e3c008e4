"""Valid records to begin with; a test replaces only what it is about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from services.coordinator.records.delivery import Delivery, RefEvent
from services.coordinator.records.project import Active, Project, QueueEntry, QueueState, Sealed, Webhook
from services.coordinator.records.run import Heartbeat, IndexSync, Result, Run, Timers
from services.coordinator.rules.numbers import Numbers
from services.coordinator.rules.scene import Scene
from services.kernel.ids import CommitSha, ProjectId, RunId, Slug, delivery_row_id
from services.kernel.runs import Kind, Reason, Status, Trigger
from services.kernel.wire.deliveries import AcceptDelivery, Canonical, EventKind, Outcome, Provider

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EARLIER = datetime(2026, 11, 30, 11, 50, tzinfo=UTC)
NUMBERS = Numbers()

SHA = CommitSha("5ba55e7" + "0" * 33)
OTHER_SHA = CommitSha("0ddba11" + "0" * 33)

MINE = "hash-of-my-token"
FOREIGN = "hash-of-another-token"

PROJECT_ID = ProjectId("prj_0000000000000000000001")
REPOSITORY = "https://github.com/acme/site"

PASSED = Result(status=Status.PASSED, reason=None, detail=None, exit_code=0)
FAILED = Result(status=Status.FAILED, reason=Reason.STEP_FAILED, detail="make test exited with 2", exit_code=2)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def run_id(number: int) -> RunId:
    return RunId(f"run_{number:022}")


def entry(number: int, state: QueueState = QueueState.PENDING) -> QueueEntry:
    """Run `number`, waiting at position `number`."""
    return QueueEntry(
        run_id=run_id(number), position=number, state=state, branch="main", commit_sha=SHA, queued_at=EARLIER
    )


def executable(number: int) -> QueueEntry:
    return entry(number, QueueState.EXECUTABLE)


def active(number: int = 1) -> Active:
    """Run `number`, claimed by my attempt."""
    return Active(run_id=run_id(number), attempt_hash=MINE, claimed_at=EARLIER, commit_sha=SHA)


def webhook(version: str = "v1") -> Webhook:
    secret = Sealed(secret_id="s1", key_version="1", nonce="nonce", ciphertext="ciphertext")
    return Webhook(version=version, enabled=True, config={}, secret=secret, rotated_at=EARLIER)


def project(*waiting: QueueEntry, active: Active | None = None) -> Project:
    """A project on GitHub with webhooks at version `v1`."""
    return Project(
        project_id=PROJECT_ID,
        slug=Slug("site"),
        name="Site",
        repository_url=REPOSITORY,
        default_branch="main",
        config_path=".anvil.yml",
        created_at=EARLIER,
        queue=waiting,
        active=active,
        next_position=max((each.position for each in waiting), default=0) + 1,
        webhooks={provider: webhook() for provider in Provider},
    )


def run(number: int = 1, status: Status = Status.QUEUED) -> Run:
    """A webhook's run as it stands at `status`: since its claim my attempt's, and in the index."""
    began = replace(_queued(number), status=status)
    if status is Status.QUEUED:
        return began
    claimed = replace(
        began,
        position=None,
        attempt_hash=MINE,
        started_at=EARLIER,
        index_sync=IndexSync.CURRENT,
        timers=Timers(watchdog=EARLIER + seconds(45)),
    )
    if not status.terminal:
        return claimed
    return replace(claimed, finished_at=EARLIER, index_sync=IndexSync.DONE, timers=Timers())


def _queued(number: int) -> Run:
    return Run(
        run_id=run_id(number),
        project_id=PROJECT_ID,
        project=Slug("site"),
        kind=Kind.ACTION,
        trigger=Trigger.WEBHOOK,
        actor=None,
        status=Status.QUEUED,
        position=number,
        branch="main",
        commit_sha=SHA,
        pinned=True,
        queued_at=EARLIER,
        timers=Timers(index=EARLIER),
    )


def waiting_scene() -> Scene:
    """Run 1 is executable; run 2 waits behind it."""
    dispatched = replace(run(1), timers=Timers(dispatch=NOW, index=EARLIER))
    return Scene(project=project(executable(1), entry(2)), run=dispatched, successor=run(2))


def active_scene(status: Status = Status.RUNNING, *, seen: datetime = NOW) -> Scene:
    """My attempt owns run 1 and was last heard of at `seen`; run 2 waits."""
    return Scene(
        project=project(entry(2), active=active()),
        run=run(1, status),
        heartbeat=Heartbeat(attempt_hash=MINE, at=seen),
        successor=run(2),
    )


def reported(scene: Scene, result: Result = PASSED) -> Scene:
    """The scene after that result was reported."""
    return replace(scene, run=replace(scene.run, result=result))


def canonical(delivery_id: str = "d-1", *, provider: Provider = Provider.GITHUB) -> Canonical:
    """A push of `SHA` to the tracked branch."""
    return Canonical(
        provider=provider,
        flavor=provider.value,
        delivery_id=delivery_id,
        event_kind=EventKind.PUSH,
        event_name="push",
        repository_url=REPOSITORY,
        repository_urls=(f"{REPOSITORY}.git", "git@github.com:acme/site.git"),
        ref="refs/heads/main",
        branch="main",
        commit_sha=SHA,
        before_sha=OTHER_SHA,
        body_sha256="0" * 64,
    )


def command(push: Canonical | None = None, *, number: int = 9) -> AcceptDelivery:
    """A delivery that webhook version `v1` verified; its run, if any, is to be run `number`."""
    return AcceptDelivery(canonical=push or canonical(), webhook_version="v1", run_id=run_id(number))


def delivery(outcome: Outcome = Outcome.ACCEPTED, *, decided_at: datetime = EARLIER) -> Delivery:
    """The row of delivery `d-1`; an accepted one became run 1."""
    return Delivery(
        row_id=delivery_row_id(PROJECT_ID, "github", "d-1"),
        project_id=PROJECT_ID,
        provider=Provider.GITHUB,
        flavor="github",
        delivery_id="d-1",
        event_kind=EventKind.PUSH,
        event_name="push",
        outcome=outcome,
        repository_url=REPOSITORY,
        ref="refs/heads/main",
        branch="main",
        commit_sha=SHA,
        before_sha=OTHER_SHA,
        body_sha256="0" * 64,
        decided_by=run_id(1),
        run_id=run_id(1) if outcome is Outcome.ACCEPTED else None,
        received_at=decided_at,
        decided_at=decided_at,
        expires_at=decided_at + timedelta(hours=72),
    )


def ref_event() -> RefEvent:
    """The push that became run 1."""
    return RefEvent(
        project_id=PROJECT_ID,
        branch="main",
        commit_sha=SHA,
        before_sha=OTHER_SHA,
        received_at=EARLIER,
        delivery_id=delivery_row_id(PROJECT_ID, "github", "d-1"),
        order=1,
        run_ids=(run_id(1),),
        expires_at=EARLIER + timedelta(days=30),
    )
