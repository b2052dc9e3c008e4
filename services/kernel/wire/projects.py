"""Messages about projects and their queues."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic.alias_generators import to_camel

from services.kernel.wire.model import BranchText, Moment, SlugText, Wire
from services.kernel.wire.runs import Run


def _printable(name: str) -> str:
    """A name that is only its letters: nothing that moves a cursor or turns the reading direction.

    Raises:
        ValueError: it holds something else.
    """
    if not name.isprintable():
        raise ValueError("must be printable text on one line")
    return name


ProjectName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
RepositoryUrl = Annotated[str, Field(min_length=1, max_length=2000)]
ConfigPath = Annotated[str, Field(min_length=1, max_length=255)]


class Project(Wire):
    """A repository with one queue. `queued` counts the runs that wait."""

    slug: str
    project_id: str
    name: str
    repository_url: str
    default_branch: str
    config_path: str
    created_at: Moment
    active_run_id: str | None
    queued: int


class NewProject(Wire):
    slug: SlugText
    name: ProjectName
    repository_url: RepositoryUrl
    default_branch: BranchText = "main"
    config_path: ConfigPath = ".anvil.yml"


class ProjectPatch(Wire):
    """Only the fields that are given change; none of them can be cleared."""

    name: ProjectName | None = None
    repository_url: RepositoryUrl | None = None
    default_branch: BranchText | None = None
    config_path: ConfigPath | None = None

    @model_validator(mode="after")
    def _nothing_cleared(self) -> Self:
        if cleared := sorted(name for name in self.model_fields_set if getattr(self, name) is None):
            raise ValueError(f"cannot be null: {', '.join(map(to_camel, cleared))}")
        return self


class QueuedRun(Wire):
    """A waiting run. `place` counts from 1 = next; `behind` is the run right before it, or null."""

    run_id: str
    branch: str
    commit_sha: str | None
    queued_at: Moment
    place: int
    behind: str | None


class Queue(Wire):
    """A project's queue in position order (R9). `capacity` counts waiting runs only (C3)."""

    active_run: Run | None
    queued: tuple[QueuedRun, ...]
    used: int
    capacity: int
