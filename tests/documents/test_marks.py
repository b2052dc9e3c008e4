"""Whatever a test claims to prove is stated on a page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = "\n".join(file.read_text() for file in sorted((ROOT / "tests").rglob("test_*.py")))


def named(mark: str) -> set[str]:
    """The ids that tests carry under a mark."""
    marked = re.findall(rf"mark\.{mark}\(([^)]*)\)", TESTS)
    return {id for arguments in marked for id in re.findall(r'"([A-Z][0-9]+)"', arguments)}


def stated(page: str) -> set[str]:
    """The ids in the first cells of a page's tables."""
    cells = re.findall(r"^\| ((?:[A-Z][0-9]+(?:, )?)+) \|", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return {id for cell in cells for id in cell.split(", ")}


@pytest.mark.parametrize(("mark", "page"), [("inv", "invariants.md"), ("threat", "security.md")])
def test_what_a_test_proves_is_stated(mark: str, page: str) -> None:
    assert named(mark) - stated(page) == set()
