"""A task queue that keeps what it took, or refuses everything, or does not answer."""

from dataclasses import dataclass, field

from services.kernel.errors import AnvilError
from services.kernel.ports import Target, Task


@dataclass(slots=True)
class KeptTasks:
    """Implements `ports.TaskQueue`. `refusal` is raised for every task while it is set; `offered` has those too."""

    taken: list[Task] = field(default_factory=list[Task])
    offered: list[Task] = field(default_factory=list[Task])
    refusal: AnvilError | None = None

    async def enqueue(self, task: Task) -> None:
        self.offered.append(task)
        if self.refusal is not None:
            raise self.refusal
        self.taken.append(task)

    def handed_over(self) -> list[tuple[object, object]]:
        """The run and the dispatch number of each task that a runner got."""
        return [(task.body["run"], task.body["dispatch"]) for task in self.taken if task.target is Target.RUNNER]

    def tried(self) -> list[tuple[object, object]]:
        """The run and the dispatch number of each hand-over, taken or not."""
        return [(task.body["run"], task.body["dispatch"]) for task in self.offered if task.target is Target.RUNNER]
