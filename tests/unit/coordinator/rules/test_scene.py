"""What a decision about a run carries along: the sync that its change owes, and the dispatch of whoever is next."""

from dataclasses import replace

from services.coordinator.records.run import IndexSync, Timers
from services.coordinator.rules import queue
from services.kernel.runs import Status
from tests.unit.coordinator.builders import EARLIER, NOW, active_scene, executable, project, run, waiting_scene


def test_a_changed_run_owes_the_index_an_update() -> None:
    scene = active_scene().with_run(run(1, Status.CANCEL_REQUESTED), now=NOW)

    assert (scene.run.index_sync, scene.run.timers.index) == (IndexSync.NEEDS_UPDATE, NOW)


def test_whoever_became_executable_is_dispatched_at_once() -> None:
    scene = active_scene()
    promoted = scene.with_project(queue.release(scene.project), now=NOW)

    assert promoted.successor == replace(run(2), timers=Timers(dispatch=NOW, index=EARLIER))


def test_who_was_executable_before_keeps_its_dispatch() -> None:
    known = replace(run(2), timers=Timers(dispatch=EARLIER, index=EARLIER))
    scene = replace(waiting_scene(), successor=known)

    assert scene.with_project(project(executable(2)), now=NOW).successor == known


def test_who_still_waits_is_not_dispatched() -> None:
    scene = active_scene()

    assert scene.with_project(scene.project, now=NOW).successor == run(2)
