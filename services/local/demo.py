"""`anvil demo`: the whole main job on this machine, in a minute, on a repository it makes."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from rich.console import Console

from services.kernel.errors import AnvilError
from services.local import addresses, interruption, state
from services.local.addresses import Service
from services.local.interruption import Interrupted
from services.local.store import SQLITE, started
from services.local.story.api import Api, TookTooLong
from services.local.story.narration import Mark, Narrator, Tick
from services.local.story.repository import Repository
from services.local.story.scenes import SCENES, Scene
from services.local.story.stage import NotSeen, Stage
from services.local.supervisor import StartFailed

# A cancel reaches the runner with its next heartbeat; nobody wants to watch the usual ten seconds go by.
OFTEN = {"ANVIL_HEARTBEAT_SECONDS": "2"}

OK = 0
FAILED = 1
INTERRUPTED = 130


def run(*, keep: bool = False, store: str = SQLITE) -> int:
    """Play every scene on a stack of its own, over this store; 0 only if each was as it should be.

    The stack's state directory is removed at the end; with `keep`, or when something was wrong, it stays and is named.
    """
    narrator = Narrator(Console(highlight=False, soft_wrap=True))
    folder = Path(tempfile.mkdtemp(prefix="anvil-demo-"))
    code = INTERRUPTED
    try:
        code = interruption.run(_told(folder, store=store, narrator=narrator))
    except Interrupted as error:
        narrator.complain(str(error))
    except StartFailed as error:
        narrator.complain(str(error))
        code = FAILED
    if keep or code == FAILED:
        narrator.say(f"state and logs are in {folder}")
    else:
        shutil.rmtree(folder)
    return code


async def _told(folder: Path, *, store: str, narrator: Narrator) -> int:
    loop = asyncio.get_running_loop()
    began = loop.time()
    narrator.say("starting ingress, coordinator, runner and what plays Google Cloud …")
    with state.held(folder / "state") as directory:
        async with (
            started(
                directory,
                store=store,
                addresses=addresses.choose(0),
                report=narrator.complain,
                overrides={Service.RUNNER: OFTEN},
            ) as running,
            Api.of(running) as api,
        ):
            narrator.say(f"{running.endpoint} serves")
            ticks = await _played(_stage(api, folder=folder, narrator=narrator))
    narrator.summary(ticks, seconds=loop.time() - began)
    return OK if all(tick.mark is Mark.SEEN for tick in ticks) else FAILED


def _stage(api: Api, *, folder: Path, narrator: Narrator) -> Stage:
    gates = folder / "gates"
    gates.mkdir()
    return Stage(api=api, repository=Repository.make(folder / "repository"), gates=gates, narrator=narrator)


async def _played(stage: Stage) -> list[Tick]:
    """All scenes until one goes wrong; the others build on it and are skipped."""
    ticks: list[Tick] = []
    for title, scene in SCENES:
        if ticks and ticks[-1].mark is not Mark.SEEN:
            ticks.append(Tick(mark=Mark.SKIPPED, title=title, found=""))
        else:
            stage.narrator.chapter(title)
            ticks.append(await _tick(title, scene, stage=stage))
    return ticks


async def _tick(title: str, scene: Scene, *, stage: Stage) -> Tick:
    try:
        return Tick(mark=Mark.SEEN, title=title, found=await scene(stage))
    except (NotSeen, TookTooLong, AnvilError) as error:
        return Tick(mark=Mark.WRONG, title=title, found=f"{type(error).__name__}: {error}")
    except TimeoutError:
        return Tick(mark=Mark.WRONG, title=title, found="a run did not end in time")
