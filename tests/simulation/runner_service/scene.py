"""What is there before any runner is: a repository, and a project with two runs that wait."""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from itertools import count
from pathlib import Path

from services.kernel.ports import Write
from services.kernel.wire import internal
from services.kernel.wire.internal import CreateProject
from tests.simulation.callers import new_run_id
from tests.simulation.calls import ADA
from tests.simulation.custody import project_id
from tests.simulation.node import Issuer
from tests.simulation.runner_service.git import RecordedGit
from tests.simulation.runner_service.time import SteppedClock
from tests.simulation.world import World
from tests.unit.coordinator import callers
from tests.unit.coordinator.builders import canonical
from tests.unit.runner.origin import Origin

SLUG = "site"
_numbers = count()

PASSING = {"one": "leave; work 2", "two": "work 2"}
FAILING = {"one": "work 1", "two": "work 1; exit 2", "three": "work 1"}


class Repository:
    """A commit whose steps pass, and then the head of the branch, whose second step fails."""

    def __init__(self, folder: Path) -> None:
        self.origin = Origin.create(folder)
        self.first = self.origin.commit({".anvil.yml": _pipeline(PASSING)})
        self.git = RecordedGit(folder.with_name("recorded"))
        self.head = self.origin.commit({".anvil.yml": _pipeline(FAILING)})
        self.steps: dict[str, tuple[str, ...]] = {self.first: tuple(PASSING), self.head: tuple(FAILING)}


class LoggedWorld(World):
    """Its time is stepped, and nothing may be added to the log of a run that has ended.

    `pushed` is a run that is pinned to the first commit, `asked` the one after it, of the branch's head.
    """

    def __init__(self, issuer: Issuer) -> None:
        self.time = SteppedClock()
        self.pushed = ""
        self.asked = ""
        super().__init__(issuer, gates=0, clock=self.time)

    def _committed(self, writes: Sequence[Write]) -> None:
        before = self.state
        super()._committed(writes)
        for run_id, run in before.runs.items():
            if run.status.terminal and any(write.ref.collection == f"runs/{run_id}/log" for write in writes):
                self.violations.append(f"Q8: the log of {run_id} grew after its end")


async def prepare(world: LoggedWorld, repository: Repository) -> None:
    """Both runs are there before any runner is."""
    url = repository.origin.url
    asked = CreateProject(project_id=project_id(SLUG), slug=SLUG, name=SLUG, repository_url=url, actor=ADA)
    await world.nodes[0].client(callers.CONSOLE).call(internal.CREATE_PROJECT, body=asked)
    await world.calls().create_webhook(SLUG, "v1")
    push = canonical("d").model_copy(
        update={"repository_url": url, "repository_urls": (url,), "commit_sha": repository.first}
    )
    answer = await world.calls().deliver(SLUG, push, version="v1", run_id=new_run_id(world))
    world.pushed = answer.run_id or ""
    world.asked = await world.calls().ask_for_run(SLUG, new_run_id(world))
    world.testimony.acked |= {world.pushed, world.asked}
    await world.time.let_pass(timedelta(seconds=1))


@cache
def repository(folder: Path) -> Repository:
    """The one repository of all that happens in a folder."""
    return Repository(folder / "origin")


def place(issuer: Issuer) -> Path:
    """A new folder."""
    made = issuer.folder / f"stage-{next(_numbers)}"
    made.mkdir()
    return made


def _pipeline(steps: dict[str, str]) -> str:
    listed = "".join(f"    - {{name: {name}, run: ': {name}; {script}'}}\n" for name, script in steps.items())
    return f"version: 1\nrun:\n  steps:\n{listed}"
