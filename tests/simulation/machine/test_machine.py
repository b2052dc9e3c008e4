"""Whatever is asked in whatever order: no promise is broken, and one order of the calls explains all answers."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.simulation.machine.faults import Fault
from tests.simulation.machine.machine import Crowded, machines
from tests.simulation.machine.numbers import real_numbers
from tests.simulation.node import Issuer

EXAMPLES, STEPS = 60, 40
MORE = int(os.environ.get("ANVIL_EXAMPLES", "200"))
"""Schedules of the soak, which takes the number for a night; each takes half a second."""

USUAL = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    derandomize=True,
    # Who explains a failure traces every line of it, and takes minutes.
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""The same schedules every time."""

SOAK = settings(
    USUAL,
    max_examples=MORE,
    stateful_step_count=80,
    derandomize=False,
    phases=[Phase.reuse, Phase.generate, Phase.shrink],
    print_blob=True,
)
"""Others each time. What is found is printed as a blob to reproduce it, and tried first the next time."""

SOMETIMES = (
    "a run refused by a full queue",
    "an old secret, refused",
    "an expired delivery, decided anew",
    "a takeover",
    "an instance started anew",
    Fault.AMBIGUOUS,
    Fault.KILL,
)
"""States that the usual schedules must have come through, or they prove nothing."""


@pytest.mark.timeout(600)
@pytest.mark.inv("D4")
@pytest.mark.inv("K4")
@pytest.mark.inv("Q6")
def test_no_schedule_breaks_a_promise(issuer: Issuer) -> None:
    reached: Counter[str] = Counter()

    run_state_machine_as_test(machines(issuer, reached), settings=USUAL)

    assert [state for state in SOMETIMES if not reached[state]] == []


@pytest.mark.timeout(600)
def test_no_schedule_breaks_a_promise_by_the_real_numbers(tmp_path: Path) -> None:
    reached: Counter[str] = Counter()

    machine = machines(real_numbers(tmp_path), reached, kind=Crowded)
    run_state_machine_as_test(machine, settings=settings(USUAL, max_examples=10))

    assert reached["a run refused by a full queue"]


@pytest.mark.soak
@pytest.mark.timeout(36_000)
def test_no_further_schedule_breaks_a_promise(issuer: Issuer) -> None:
    run_state_machine_as_test(machines(issuer), settings=SOAK)


@pytest.mark.soak
@pytest.mark.timeout(36_000)
def test_no_further_schedule_breaks_a_promise_by_the_real_numbers(tmp_path: Path) -> None:
    machine = machines(real_numbers(tmp_path), kind=Crowded)
    run_state_machine_as_test(machine, settings=settings(SOAK, max_examples=MORE // 4))
