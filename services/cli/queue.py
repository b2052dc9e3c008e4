"""`anvil queue`."""

from services.cli.noun import Noun
from services.cli.output import Record, Rows, fields
from services.cli.session import Session
from services.kernel.wire import api
from services.kernel.wire.model import Empty

noun = Noun("queue", about="Who runs and who waits.")


@noun.verb("show")
async def show(session: Session) -> None:
    """The run that is active, and those that wait, the next one first."""
    queue = await session.api.call(api.GET_QUEUE, path={"project": session.project()}, body=Empty())
    active = queue.active_run
    summary = Record(
        {
            "active": f"{active.run_id} ({active.status}, {active.branch})" if active else None,
            "waiting": f"{queue.used} of {queue.capacity}",
        }
    )
    waiting = Rows([fields(run) for run in queue.queued], ("place", "runId", "branch", "commitSha", "queuedAt"))
    session.out.show(queue, summary, *([waiting] if queue.queued else []))
