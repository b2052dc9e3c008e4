"""All invariants together: of one commit, and of the end."""

from services.coordinator.records.run import IndexSync
from tests.simulation.invariants.deliveries import DELIVERIES
from tests.simulation.invariants.index import INDEX
from tests.simulation.invariants.logs import LOGS
from tests.simulation.invariants.queue import QUEUE
from tests.simulation.invariants.status import STATUS
from tests.simulation.invariants.step import ENDS, Step
from tests.simulation.state import State
from tests.simulation.testimony import Testimony

CHECKS = (*QUEUE, *STATUS, *INDEX, *DELIVERIES, *LOGS)


def check_all(step: Step) -> list[str]:
    """What is wrong, each with the invariant's id."""
    return [f"{check.__name__.upper()}: {found}" for check in CHECKS for found in check(step)]


def check_end(state: State, testimony: Testimony) -> list[str]:
    """What must be reached once faults are off (Q11, Y9), and that nobody who was acknowledged is missing."""
    found = [f"Q11: {run.run_id} is {run.status}" for run in state.runs.values() if run.status not in ENDS]
    found += [
        f"Y9: {run.run_id} is {run.status} and {run.index_sync}"
        for run in state.runs.values()
        if run.index_sync is not IndexSync.DONE
    ]
    found += [f"Q11: {run_id} was acknowledged and is not there" for run_id in testimony.acked - state.runs.keys()]
    stored = repr(state.documents)
    found += [f"K1: the secret {secret} is stored as it is" for secret in sorted(testimony.shown) if secret in stored]
    return found
