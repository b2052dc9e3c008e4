"""What the coordinator is told by its environment."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from services.coordinator.rules.numbers import Numbers
from services.kernel.settings import DevOnly, ServiceSettings

Callers = frozenset[str]
"""E-mails of the service accounts that may call a group of endpoints."""

QUEUE: Final = r"^projects/[^/]+/locations/[^/]+/queues/[^/]+$"

NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "firestore": ("google_project",),
    "sqlite": ("sqlite_path",),
    "cloud_tasks": (
        "coordinator_queue",
        "coordinator_url",
        "runner_queue",
        "runner_url",
        "runner_audience",
        "tasks_service_account",
    ),
    "local": ("tasks_url", "tasks_audience"),
}
"""Which settings a choice of a store, a ledger or a task queue cannot do without."""


class CoordinatorSettings(ServiceSettings):
    """`stale_seconds` must exceed the runners' lease, so that a lost runner's commands are dead before a takeover."""

    store: Annotated[Literal["sqlite", "firestore"], DevOnly(("sqlite",))] = "firestore"
    """Where everything durable is kept."""
    google_project: str | None = None
    """The Google Cloud project of the Firestore database. Needed for `firestore`."""
    firestore_database: str = "(default)"
    """The Firestore database's id."""
    sqlite_path: Path | None = None
    """The file of the `sqlite` store, which needs it."""
    ledger: Annotated[str, DevOnly(("sqlite", "memory"))] = "none"
    """Where the ledger is: `none`, `firestore`, `sqlite`, `memory`, or [one of another's](ledger.md#the-seam)."""
    ledger_database: str | None = None
    """The Firestore database of the ledger, if not the store's."""
    ledger_service: str = Field(default="anvil", min_length=1)
    """What the deployment is called outside: a part of what a row's name is made from. It never changes."""
    ledger_ttl_seconds: int = Field(default=604_800, ge=60, le=31_536_000)
    """How long a completed row is replayed, where its operation does not say."""
    operations_file: Path | None = None
    """The [catalogue](operations.md) of operations that may be executed; without one there are none."""
    credentials_dir: Path | None = None
    """The folder with a file for each credential profile of the catalogue. Needed where one is named."""
    allow_local_upstreams: Annotated[bool, DevOnly()] = False
    """Whether operations may call hosts that are not public, and by `http`."""
    tasks: Annotated[Literal["local", "cloud_tasks"], DevOnly(("local",))] = "cloud_tasks"
    """Which task queue tells runners of runs."""
    coordinator_queue: str | None = Field(default=None, pattern=QUEUE)
    """The queue of tasks for coordinators, by its full resource name. `cloud_tasks` needs it, and the next five."""
    coordinator_url: str | None = None
    """Where Cloud Tasks reaches coordinators."""
    runner_queue: str | None = Field(default=None, pattern=QUEUE)
    """The queue of tasks for runners, by its full resource name."""
    runner_url: str | None = None
    """Where Cloud Tasks reaches runners."""
    runner_audience: str | None = None
    """The runners' audience."""
    tasks_service_account: str | None = None
    """The e-mail of the service account as which Cloud Tasks delivers."""
    tasks_emulator: Annotated[str | None, DevOnly()] = None
    """The `host:port` of what plays Cloud Tasks."""
    tasks_url: str | None = None
    """Where the `local` task queue is, which needs it."""
    tasks_audience: str | None = None
    """The `local` task queue's audience. Needed for it."""
    hooks_callers: Callers = frozenset()
    """E-mails of those who may verify and record deliveries."""
    console_callers: Callers = frozenset()
    """E-mails of those who may act for people."""
    runner_callers: Callers = frozenset()
    """E-mails of those who may claim and drive runs."""
    tasks_callers: Callers = frozenset()
    """E-mails of those who may deliver tasks."""
    scheduler_callers: Callers = frozenset()
    """E-mails of those who may have everything due looked at."""
    queue_cap: int = Field(default=20, ge=1, le=20)
    """How many runs of a project may wait; the active one does not count."""
    lease_seconds: float = Field(default=30, gt=0)
    """The runners' lease."""
    stale_seconds: float = Field(default=45, gt=0)
    """After how long without a sign of life a runner is declared lost; more than the lease."""
    unclaimed_seconds: float = Field(default=300, gt=0)
    """After how long an executable run that nobody claimed is handed over again."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        lacks = [
            f"{self.variable(name)}: needed for {chosen}"
            for chosen in dict.fromkeys((self.store, self.tasks, self.ledger))
            for name in NEEDED.get(chosen, ())
            if getattr(self, name) is None
        ]
        if lacks:
            raise ValueError("; ".join(lacks))
        return self

    @model_validator(mode="after")
    def _dead_before_takeover(self) -> Self:
        if self.stale_seconds <= self.lease_seconds:
            lease, stale = self.variable("lease_seconds"), self.variable("stale_seconds")
            raise ValueError(f"{stale}: must be more than {lease} ({self.lease_seconds:g} s)")
        return self

    @property
    def numbers(self) -> Numbers:
        return Numbers(
            queue_cap=self.queue_cap,
            stale=timedelta(seconds=self.stale_seconds),
            unclaimed=timedelta(seconds=self.unclaimed_seconds),
        )

    def needed(self, name: str) -> str:
        """A setting that is needed for what was chosen."""
        value: object = getattr(self, name)
        if value is None:
            raise LookupError(f"{self.variable(name)} is needed for nothing that was chosen")
        return str(value)
