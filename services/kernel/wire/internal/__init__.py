"""What the services ask of each other: the coordinator's `/v1`, and what tasks and the scheduler post.

One module for each kind of thing. Projects are named by slug here, as in the webhook's URL; the answer to
`verification` says which id that is.
"""

from services.kernel.wire.internal.attempts import APPEND_LOG, CLAIM, COMPLETE, HEARTBEAT, REPORT, START
from services.kernel.wire.internal.hooks import ACCEPT_DELIVERY, COUNT_REFUSALS, VERIFICATION
from services.kernel.wire.internal.operations import (
    COMPLETE_LEDGER_ROW,
    EXECUTE_OPERATION,
    GET_LEDGER_ROW,
    LIST_AUDIT,
    LIST_LEDGER,
    LIST_OPERATIONS,
    NOTE_LEDGER_ROW,
    RELEASE_LEDGER_ROW,
)
from services.kernel.wire.internal.projects import (
    CREATE_PROJECT,
    DELETE_PROJECT,
    GET_PROJECT,
    GET_QUEUE,
    LIST_PROJECTS,
    PATCH_PROJECT,
    CreateProject,
    PatchProject,
    ProjectsQuery,
)
from services.kernel.wire.internal.runs import ACCEPT_RUN, CANCEL_RUN, GET_LOG, GET_RUN, LIST_RUNS, LogQuery
from services.kernel.wire.internal.timers import RECONCILE, RUN, SWEEP
from services.kernel.wire.internal.webhooks import (
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    GET_DELIVERY,
    LIST_DELIVERIES,
    LIST_WEBHOOKS,
    REPLACE_SECRET,
    TEST_MATERIAL,
    UPDATE_WEBHOOK,
)

__all__ = [
    "ACCEPT_DELIVERY",
    "ACCEPT_RUN",
    "APPEND_LOG",
    "CANCEL_RUN",
    "CLAIM",
    "COMPLETE",
    "COMPLETE_LEDGER_ROW",
    "COUNT_REFUSALS",
    "CREATE_PROJECT",
    "CREATE_WEBHOOK",
    "DELETE_PROJECT",
    "DELETE_WEBHOOK",
    "EXECUTE_OPERATION",
    "GET_DELIVERY",
    "GET_LEDGER_ROW",
    "GET_LOG",
    "GET_PROJECT",
    "GET_QUEUE",
    "GET_RUN",
    "HEARTBEAT",
    "LIST_AUDIT",
    "LIST_DELIVERIES",
    "LIST_LEDGER",
    "LIST_OPERATIONS",
    "LIST_PROJECTS",
    "LIST_RUNS",
    "LIST_WEBHOOKS",
    "NOTE_LEDGER_ROW",
    "PATCH_PROJECT",
    "RECONCILE",
    "RELEASE_LEDGER_ROW",
    "REPLACE_SECRET",
    "REPORT",
    "RUN",
    "START",
    "SWEEP",
    "TEST_MATERIAL",
    "UPDATE_WEBHOOK",
    "VERIFICATION",
    "CreateProject",
    "LogQuery",
    "PatchProject",
    "ProjectsQuery",
]
