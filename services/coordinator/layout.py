"""Every query that the coordinator asks: stores refuse any other, and the deployment builds these indexes."""

from services.kernel.ports import Index, Order

DUE_RUNS = Index(collection="runs", order=(Order("attention_at"),))
RUNS_OF_PROJECT = Index(
    collection="run_index", equal=frozenset({"project_id"}), order=(Order("queued_at", descending=True),)
)
PROJECTS_BY_AGE = Index(collection="projects", order=(Order("created_at", descending=True),))
AUDIT_BY_AGE = Index(collection="audit", order=(Order("at", descending=True),))
AUDIT_OF_TARGET = Index(collection="audit", equal=frozenset({"target"}), order=(Order("at", descending=True),))
LOG_FORWARD = Index(collection="runs/*/log", order=(Order("end"),))
LOG_BACKWARD = Index(collection="runs/*/log", order=(Order("end", descending=True),))

DELIVERY_FILTERS = ("provider", "outcome", "branch", "commit_sha")


def _deliveries(*filters: str) -> Index:
    return Index(
        collection="deliveries",
        equal=frozenset({"project_id", *filters}),
        order=(Order("received_at", descending=True),),
    )


DELIVERIES_OF_PROJECT = tuple(
    _deliveries(*(name for bit, name in enumerate(DELIVERY_FILTERS) if chosen >> bit & 1))
    for chosen in range(2 ** len(DELIVERY_FILTERS))
)

INDEXES = (
    DUE_RUNS,
    RUNS_OF_PROJECT,
    PROJECTS_BY_AGE,
    AUDIT_BY_AGE,
    AUDIT_OF_TARGET,
    LOG_FORWARD,
    LOG_BACKWARD,
    *DELIVERIES_OF_PROJECT,
)
