"""The private API of ingress, as its clients call it; one module for each kind of thing."""

from services.kernel.wire.api.operations import (
    COMPLETE_LEDGER_ROW,
    EXECUTE_OPERATION,
    GET_LEDGER_ROW,
    LIST_AUDIT,
    LIST_LEDGER,
    LIST_OPERATIONS,
    NOTE_LEDGER_ROW,
    RELEASE_LEDGER_ROW,
)
from services.kernel.wire.api.people import ME, Me
from services.kernel.wire.api.projects import (
    CREATE_PROJECT,
    DELETE_PROJECT,
    GET_PROJECT,
    GET_QUEUE,
    LIST_PROJECTS,
    PATCH_PROJECT,
)
from services.kernel.wire.api.runs import CANCEL_RUN, GET_LOG, GET_RUN, LIST_RUNS, RERUN, START_RUN
from services.kernel.wire.api.webhooks import (
    DELETE_WEBHOOK,
    GET_DELIVERY,
    LIST_DELIVERIES,
    LIST_WEBHOOKS,
    PUT_WEBHOOK,
    ROTATE_SECRET,
    TEST_WEBHOOK,
)

__all__ = [
    "CANCEL_RUN",
    "COMPLETE_LEDGER_ROW",
    "CREATE_PROJECT",
    "DELETE_PROJECT",
    "DELETE_WEBHOOK",
    "EXECUTE_OPERATION",
    "GET_DELIVERY",
    "GET_LEDGER_ROW",
    "GET_LOG",
    "GET_PROJECT",
    "GET_QUEUE",
    "GET_RUN",
    "LIST_AUDIT",
    "LIST_DELIVERIES",
    "LIST_LEDGER",
    "LIST_OPERATIONS",
    "LIST_PROJECTS",
    "LIST_RUNS",
    "LIST_WEBHOOKS",
    "ME",
    "NOTE_LEDGER_ROW",
    "PATCH_PROJECT",
    "PUT_WEBHOOK",
    "RELEASE_LEDGER_ROW",
    "RERUN",
    "ROTATE_SECRET",
    "START_RUN",
    "TEST_WEBHOOK",
    "Me",
]
