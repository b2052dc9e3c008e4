"""What tasks and the scheduler post."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.wire import runs
from services.kernel.wire.model import Empty

RECONCILE = Endpoint(
    method="POST",
    path="/tasks/reconcile",
    summary="Look at one run",
    request=runs.ReconcileTask,
    response=Empty,
    audience=Audience.TASKS,
)
SWEEP = Endpoint(
    method="POST",
    path="/sweep",
    summary="Look at everything that is due",
    request=Empty,
    response=runs.Swept,
    audience=Audience.SCHEDULER,
)
RUN = Endpoint(
    method="POST",
    path="/tasks/run",
    summary="Execute a run if it is executable; answers when it has ended",
    request=runs.RunTask,
    response=runs.ClaimAnswer,
    audience=Audience.TASKS,
)
