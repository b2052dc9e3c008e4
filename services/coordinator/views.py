"""How records are shown: the wire's models, made from what is stored."""

from collections.abc import Mapping, Sequence

from services.coordinator.records import delivery as deliveries
from services.coordinator.records import project as projects
from services.coordinator.records.row import Row
from services.coordinator.records.run import Run, Step
from services.kernel.wire import deliveries as delivery_wire
from services.kernel.wire import projects as project_wire
from services.kernel.wire import runs as run_wire
from services.kernel.wire import webhooks as webhook_wire


def project(record: projects.Project) -> project_wire.Project:
    return project_wire.Project(
        slug=record.slug,
        project_id=record.project_id,
        name=record.name,
        repository_url=record.repository_url,
        default_branch=record.default_branch,
        config_path=record.config_path,
        created_at=record.created_at,
        active_run_id=active_run_id(record),
        queued=len(record.queue),
    )


def active_run_id(record: projects.Project) -> str | None:
    """The run that is active; none while an ended one only holds the lock (C9)."""
    return None if record.active is None or record.active.lock_held else record.active.run_id


def run(record: Run | Row, *, position: int | None) -> run_wire.Run:
    return run_wire.Run(
        run_id=record.run_id,
        project=record.project,
        kind=record.kind,
        trigger=record.trigger,
        actor=record.actor,
        status=record.status,
        position=position,
        branch=record.branch,
        commit_sha=record.commit_sha,
        before_sha=record.before_sha,
        reason=record.reason,
        queued_at=record.queued_at,
        started_at=record.started_at,
        finished_at=record.finished_at,
        exit_code=record.exit_code,
    )


def steps(records: Sequence[Step]) -> tuple[run_wire.StepStatus, ...]:
    return tuple(
        run_wire.StepStatus.model_validate(
            {
                "name": step.name,
                "status": step.status,
                "exit_code": step.exit_code,
                "started_at": step.started_at,
                "finished_at": step.finished_at,
            }
        )
        for step in records
    )


def queued(record: projects.Project) -> tuple[project_wire.QueuedRun, ...]:
    ahead = [active_run_id(record), *(entry.run_id for entry in record.queue)]
    return tuple(
        project_wire.QueuedRun(
            run_id=entry.run_id,
            branch=entry.branch,
            commit_sha=entry.commit_sha,
            queued_at=entry.queued_at,
            place=place,
            behind=behind,
        )
        for place, (entry, behind) in enumerate(zip(record.queue, ahead, strict=False), start=1)
    )


def delivery(record: deliveries.Delivery) -> delivery_wire.Delivery:
    return delivery_wire.Delivery(
        id=record.row_id,
        delivery_id=record.delivery_id,
        provider=record.provider,
        flavor=record.flavor,
        event_kind=record.event_kind,
        event_name=record.event_name,
        outcome=record.outcome,
        note=record.note,
        repository_url=record.repository_url,
        ref=record.ref,
        branch=record.branch,
        commit_sha=record.commit_sha,
        before_sha=record.before_sha,
        run_id=record.run_id,
        received_at=record.received_at,
        decided_at=record.decided_at,
        duplicate_count=record.duplicate_count,
        last_duplicate_at=record.last_duplicate_at,
    )


def webhook(
    provider: str,
    record: projects.Webhook,
    *,
    newest: Sequence[delivery_wire.Delivery] = (),
    refused: Mapping[str, int] | None = None,
) -> webhook_wire.Webhook:
    return webhook_wire.Webhook(
        provider=delivery_wire.Provider(provider),
        enabled=record.enabled,
        version=record.version,
        config=webhook_wire.WebhookConfig.model_validate(record.config),
        rotated_at=record.rotated_at,
        refused={webhook_wire.Refusal(reason): times for reason, times in (refused or {}).items()},
        deliveries=tuple(newest),
    )
