"""A table of what callers were told, at the end."""

from collections import Counter
from collections.abc import Callable

import pytest

_TABLE = pytest.StashKey[list[str]]()

Tells = Callable[[str, Counter[str], int], None]
"""Takes what was done, how often each answer was given, and how many effects that had."""


@pytest.fixture
def tells(pytestconfig: pytest.Config) -> Tells:
    def tell(what: str, answers: Counter[str], effects: int) -> None:
        said = ", ".join(f"{number} {answer}" for answer, number in answers.most_common())
        pytestconfig.stash.setdefault(_TABLE, []).append(f"{what:<10}{effects:>4} effects  {said}")

    return tell


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash.get(_TABLE, list[str]()):
        terminalreporter.section("many callers with one key")
        for line in lines:
            terminalreporter.write_line(line)
