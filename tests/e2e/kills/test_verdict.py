"""The kills can see: whatever could go wrong in a night is planted by hand, and is found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from services.coordinator.records.delivery import DELIVERIES, REF_EVENTS, Delivery, RefEvent
from services.coordinator.records.project import PROJECTS, Project
from services.coordinator.records.row import RUN_INDEX, Row
from services.coordinator.records.run import HEARTBEATS, RUNS, Heartbeat, Run
from services.coordinator.rules.index import truth
from services.kernel.ids import DeliveryRowId
from services.kernel.runs import Reason, Status
from services.local.story.push import Push
from tests.e2e.kills import record
from tests.e2e.kills.load import Asked, Load
from tests.e2e.kills.site import Site
from tests.e2e.kills.verdict import Evidence, wrong
from tests.e2e.kills.victim import Busy
from tests.emulator.network import Network
from tests.simulation.state import State
from tests.unit.coordinator import builders
from tests.unit.coordinator.builders import EARLIER, OTHER_SHA, SHA, run_id
from tests.unit.kernel.world import CountingIds

KEEP = timedelta(days=1)
ONE, TWO = run_id(1), run_id(2)
LINES = tuple(f"{what} {run} {mark}" for run, mark in ((ONE, "first"), (TWO, "second")) for what in ("begin", "end"))


def passed(number: int) -> Run:
    """Run 1 is of the first commit, run 2 of the second."""
    return replace(
        builders.run(number, Status.PASSED),
        commit_sha=(SHA, OTHER_SHA)[number - 1],
        delivery_id=DeliveryRowId(f"row-{number}"),
        result=builders.PASSED,
        exit_code=0,
    )


@dataclass(slots=True)
class Night:
    """Two pushes of one project became two runs that passed, one after the other; both were asked for at once."""

    lines: list[str] = field(default_factory=lambda: [*LINES])
    runs: dict[str, Run] = field(default_factory=lambda: {run_id(number): passed(number) for number in (1, 2)})
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    deliveries: dict[str, Delivery] = field(default_factory=dict[str, Delivery])
    events: dict[str, RefEvent] = field(default_factory=dict[str, RefEvent])
    leases: dict[str, Heartbeat] = field(default_factory=dict[str, Heartbeat])
    project: Project = field(default_factory=lambda: replace(builders.project(), next_position=3))
    asked: dict[str, Asked] = field(default_factory=dict[str, Asked])

    def __post_init__(self) -> None:
        for number, run in enumerate((ONE, TWO), start=1):
            row = f"row-{number}"
            push = Push(repository_url="url", commit_sha=(SHA, OTHER_SHA)[number - 1], delivery_id=f"d-{number}")
            self.asked[run] = Asked(name=push.delivery_id, push=push, asked=0, acknowledged=9, runs={run})
            self.rows[run] = truth(self.runs[run], keep=KEEP)
            self.deliveries[row] = replace(
                builders.delivery(), row_id=DeliveryRowId(row), delivery_id=push.delivery_id, run_id=run
            )
            self.events[run] = replace(builders.ref_event(), order=number, run_ids=(run,))

    def wrong(self, folder: Path) -> list[str]:
        file = folder / "record"
        file.write_text("".join(f"{line}\n" for line in self.lines))
        asked = list(self.asked.values())
        pushes = tuple(each.push for each in asked if each.push is not None)
        marks: Mapping[str, str] = {SHA: "first", OTHER_SHA: "second"}
        site = Site(project="site", secret="", record=file, marks=marks, pushes=pushes)
        load = Load(doors=(), random=Random(0), busy=Busy(Network("")), asked={site: asked})
        effects = {site: record.read(file)}
        return wrong(Evidence(load=load, state=self._state(), effects=effects, positions={}))

    def _state(self) -> State:
        ids = CountingIds()
        return State(
            {
                **{RUNS.ref(key): RUNS.dump(value, ids=ids) for key, value in self.runs.items()},
                **{RUN_INDEX.ref(key): RUN_INDEX.dump(value, ids=ids) for key, value in self.rows.items()},
                **{DELIVERIES.ref(key): DELIVERIES.dump(value, ids=ids) for key, value in self.deliveries.items()},
                **{REF_EVENTS.ref(key): REF_EVENTS.dump(value, ids=ids) for key, value in self.events.items()},
                **{HEARTBEATS.ref(key): HEARTBEATS.dump(value, ids=ids) for key, value in self.leases.items()},
                PROJECTS.ref(self.project.project_id): PROJECTS.dump(self.project, ids=ids),
            }
        )


def test_a_night_in_which_all_went_well_is_found_to_be_so(tmp_path: Path) -> None:
    assert Night().wrong(tmp_path) == []


def runs_meet(night: Night) -> None:
    night.lines = [LINES[0], LINES[2], LINES[1], LINES[3]]


def begins_again(night: Night) -> None:
    night.lines += LINES[:2]


def overtakes(night: Night) -> None:
    night.lines = [*LINES[2:], *LINES[:2]]


def runs_another_commit(night: Night) -> None:
    night.lines = [line.replace("second", "first") for line in LINES]


def never_came_to_its_end(night: Night) -> None:
    night.lines = [*LINES[:3]]


def is_forgotten(night: Night) -> None:
    del night.runs[TWO], night.rows[TWO]


def nobody_asked(night: Night) -> None:
    night.runs[run_id(3)] = replace(passed(1), run_id=run_id(3), delivery_id=None)
    night.rows[run_id(3)] = truth(night.runs[run_id(3)], keep=KEEP)


def becomes_two(night: Night) -> None:
    night.asked[ONE].runs.add(TWO)


def has_no_row(night: Night) -> None:
    del night.deliveries["row-2"]


def has_two_rows(night: Night) -> None:
    night.deliveries["row-3"] = night.deliveries["row-1"]


def fails_by_itself(night: Night) -> None:
    night.runs[TWO] = replace(passed(2), status=Status.FAILED, reason=Reason.CHECKOUT_FAILED, exit_code=None)
    night.rows[TWO] = truth(night.runs[TWO], keep=KEEP)


def is_listed_otherwise(night: Night) -> None:
    night.rows[TWO] = replace(night.rows[TWO], status=Status.RUNNING)


def is_never_over(night: Night) -> None:
    night.project = replace(night.project, active=replace(builders.active(2), lock_held=True))


def leaves_a_lease(night: Night) -> None:
    night.leases[TWO] = Heartbeat(attempt_hash="", at=EARLIER)


def has_a_position_of_another(night: Night) -> None:
    night.events[TWO] = replace(night.events[TWO], order=1)


def asks_first_and_stands_behind(night: Night) -> None:
    night.asked[ONE].asked, night.asked[ONE].acknowledged = 10, 11


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (runs_meet, "ran at once"),
        (begins_again, "Q14: the commands of"),
        (overtakes, "which was ahead of it"),
        (runs_another_commit, "its commands of {'first'}"),
        (never_came_to_its_end, "its commands did not come to their end"),
        (is_forgotten, "was acknowledged, and is nowhere"),
        (nobody_asked, "is there, and nobody asked"),
        (becomes_two, "d-1 was told of"),
        (has_no_row, "rows that are missing: ['d-2'], too many: []"),
        (has_two_rows, "rows that are missing: [], too many: ['d-1']"),
        (fails_by_itself, "is failed, checkout_failed"),
        (is_listed_otherwise, "Y4: "),
        (is_never_over, "idle: site has"),
        (leaves_a_lease, "has a lease"),
        (has_a_position_of_another, "position 1 was given to"),
        (asks_first_and_stands_behind, "and is behind it"),
    ],
)
def test_it_is_seen_when_a_run(tmp_path: Path, plant: Callable[[Night], None], said: str) -> None:
    night = Night()
    plant(night)
    found = night.wrong(tmp_path)
    assert any(said in each for each in found), found
