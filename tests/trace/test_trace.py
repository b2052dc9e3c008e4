"""The trace tells which requirements are proven, and no proof gets lost unseen."""

import pytest

from tests.trace.marks import Kind, Mark
from tests.trace.report import Trace, compare, render
from tests.trace.requirements import STATED, Requirement, parse, parse_proven, render_proven

PAGE = """# What must hold

## A. Queue

### Capacity

- **R44** At most 20 wait.
- **R45** One more is refused.

## D. Choices

- **C1** A full queue answers 503.
"""

R44 = Requirement(id="R44", section="Capacity", text="At most 20 wait.")
R45 = Requirement(id="R45", section="Capacity", text="One more is refused.")


def mark(id: str, *, kind: Kind = Kind.REQUIREMENT) -> Mark:
    return Mark(kind=kind, id=id, test="tests/test_queue.py::test_the_queue_is_full")


def trace(*marks: Mark, proven: tuple[str, ...] = ()) -> Trace:
    return compare(requirements=[R44, R45], marks=marks, proven=frozenset(proven))


def test_the_page_states_requirements_under_their_sections() -> None:
    choice = Requirement(id="C1", section="D. Choices", text="A full queue answers 503.")
    assert parse(PAGE) == [R44, R45, choice]


def test_every_requirement_and_every_choice_is_stated_once() -> None:
    requirements = [f"R{number}" for number in range(1, 171)]
    choices = [f"C{number}" for number in range(1, 29)]
    assert [stated.id for stated in parse(STATED.read_text())] == requirements + choices


def test_a_requirement_with_a_marked_test_is_proven() -> None:
    assert trace(mark("R44")).proven == {"R44"}


def test_a_requirement_that_lost_its_test_fails_the_trace() -> None:
    found = trace(mark("R44"), proven=("R44", "R45"))
    assert found.lost == ["R45"]
    assert not found.holds


@pytest.mark.parametrize(
    "unknown", [mark("R171"), mark("C29"), mark("X9", kind=Kind.INVARIANT), mark("Q1", kind=Kind.THREAT)]
)
def test_a_mark_that_names_nothing_fails_the_trace(unknown: Mark) -> None:
    found = trace(unknown)
    assert found.unknown == [unknown]
    assert not found.holds


def test_the_report_names_the_test_that_proves_a_requirement() -> None:
    assert list(render(trace(mark("R45"), mark("Q2", kind=Kind.INVARIANT), proven=("R44",)))) == [
        "\nCapacity: 1 of 2",
        "  · R44   At most 20 wait.",
        "  ✓ R45   One more is refused.",
        "          tests/test_queue.py::test_the_queue_is_full",
        "\nInvariants",
        "  Q2    tests/test_queue.py::test_the_queue_is_full",
        "\nThreats",
        "\n1 of 2 requirements and choices are proven",
        "LOST     R44 was proven once and no test carries it any more",
    ]


def test_what_was_proven_is_kept_in_order_of_number() -> None:
    assert render_proven(parse_proven("C2\nR101\nR9\n\nR10\n")) == "R9\nR10\nR101\nC2\n"
