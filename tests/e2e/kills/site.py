"""A project whose commands write down what they do, outside their workspace, where no crash takes it back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from services.local.story.api import Api
from services.local.story.push import Push
from tests.e2e.stack.workplace import Workplace
from tests.history.effects import Effects

ALIVE = 4
"""How often a run's commands say that they still run, between their beginning and their end."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Site:
    """`record` is the ground truth, one line an effect; `marks` is what each commit's commands write."""

    project: str
    secret: str = field(repr=False)
    record: Path
    marks: Mapping[str, str]
    pushes: tuple[Push, ...] = field(repr=False)

    @classmethod
    async def make(cls, api: Api, project: str, *, folder: Path, pushes: int) -> Self:
        """As many commits of its own as there are pushes to come."""
        workplace = await Workplace.make(api, project, folder=folder)
        effects = Effects(folder / "record")
        shas = {workplace.commit(_noting(f"{project}-{number}", effects)): number for number in range(pushes)}
        return cls(
            project=project,
            secret=workplace.secret,
            record=effects.file,
            marks={sha: f"{project}-{number}" for sha, number in shas.items()},
            pushes=tuple(workplace.push(sha, delivery_id=f"{project}-push-{number}") for sha, number in shas.items()),
        )


def _noting(mark: str, effects: Effects) -> str:
    begin, alive, end = (effects.command(f"{what} $ANVIL_RUN_ID {mark}") for what in ("begin", "alive", "end"))
    return f"{begin}\nfor _ in {' '.join('.' * ALIVE)}; do sleep 0.05; {alive}; done\n{end}"
