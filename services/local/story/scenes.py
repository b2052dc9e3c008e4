"""The demo's story, scene by scene: what is done, and what must be seen.

Each scene says in a few words what it found, or raises `NotSeen`. They build on each other, in the order of `SCENES`.
"""

from collections.abc import Awaitable, Callable

from services.kernel.runs import Reason, Status
from services.local.story.stage import A_RUN, PROJECT, Stage, ended, expect, ran_at, short, waits_for

Scene = Callable[[Stage], Awaitable[str]]


async def project_and_webhook(stage: Stage) -> str:
    project = await stage.api.create_project(PROJECT, repository_url=stage.repository.url)
    stage.secret = await stage.api.webhook_secret(PROJECT)
    webhooks = await stage.api.webhooks(PROJECT)
    expect(len(webhooks) == 1 and webhooks[0].enabled, "one enabled webhook", found=webhooks)
    stage.narrator.say(f"project {project.slug} builds {project.repository_url}")
    return project.project_id


async def signed_push(stage: Stage) -> str:
    push = stage.push("the first commit", test="echo all is well")
    view = await stage.follow(await stage.queued(push))
    ended(view, Status.PASSED, exit_code=0)
    ran_at(view, push.commit_sha)
    return f"passed at {short(push.commit_sha)}"


async def same_delivery_again(stage: Stage) -> str:
    push = stage.pushes[-1]
    answer = await stage.tell(push, status=200)
    expect(answer.duplicate, "a duplicate", found=answer)
    queue = await stage.api.queue(PROJECT)
    expect(queue.active_run is None and queue.used == 0, "nothing to run", found=queue)
    stage.narrator.say(answer.hint)
    return f"duplicate of {answer.run_id}"


async def queued_behind_a_running_one(stage: Stage) -> str:
    gate = stage.gate("first-in-line")
    first = await stage.queued(stage.push("the one in front", test=waits_for(gate)))
    await stage.follow(first, until="waiting")
    push = stage.push("the one behind", test="echo all is well")
    second = await stage.queued(push)
    waiting = await stage.api.run(second)
    expect((waiting.run.status, waiting.place) == (Status.QUEUED, 1), "a queued run, next in line", found=waiting.run)
    stage.narrator.say(f"{second} waits at place {waiting.place}; now the branch moves on")
    stage.push("nobody told Anvil of this one", test="echo all is well")
    gate.touch()
    ended(await stage.follow(first), Status.PASSED, exit_code=0)
    view = await stage.follow(second)
    ended(view, Status.PASSED, exit_code=0)
    ran_at(view, push.commit_sha)
    return f"ran at {short(push.commit_sha)}, though the branch is at {short(stage.pushes[-1].commit_sha)}"


async def manual_run_at_the_head(stage: Stage) -> str:
    run = await stage.api.start_run(PROJECT)
    view = await stage.follow(run)
    ended(view, Status.PASSED, exit_code=0)
    ran_at(view, stage.pushes[-1].commit_sha)
    return f"ran at {short(stage.pushes[-1].commit_sha)}"


async def cancel(stage: Stage) -> str:
    run = await stage.queued(stage.push("a test without end", test=waits_for(stage.gate("never"))))
    await stage.follow(run, until="waiting")
    asked = await stage.api.cancel(run)
    stage.narrator.say(f"asked {run} to stop: {asked.run.status}")
    view = await stage.api.finished(run, within=A_RUN)
    expect(view.run.status is Status.CANCELED, "a canceled run", found=view.run)
    return "canceled while it ran"


async def failing_step(stage: Stage) -> str:
    push = stage.push("a broken one", test="echo 'no such luck'; exit 3")
    view = await stage.follow(await stage.queued(push))
    ended(view, Status.FAILED, exit_code=3)
    expect(view.run.reason is Reason.STEP_FAILED, "step_failed", found=view.run.reason)
    return f"{view.run.reason}, exit code {view.run.exit_code}"


SCENES: tuple[tuple[str, Scene], ...] = (
    ("a project and its webhook", project_and_webhook),
    ("a signed push runs at its commit", signed_push),
    ("the same delivery again runs nothing", same_delivery_again),
    ("a push waits behind a running one, and runs at its own commit", queued_behind_a_running_one),
    ("a manual run takes the head of the branch", manual_run_at_the_head),
    ("a run is canceled", cancel),
    ("a failing step ends the run with its exit code", failing_step),
)
