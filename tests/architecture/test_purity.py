"""A module that calls itself pure imports no I/O and awaits nothing. The layers hold whole packages to the same."""

import pytest

from tests.architecture.purity import breaches
from tests.architecture.tree import Tree

PURE = '"""What is next.\n\nPure. Time is an argument.\n"""\n'

PLANTED = [
    "import asyncio",
    "import sqlite3",
    "from pathlib import Path",
    "from services.kernel.adapters import sqlite",
    "import httpx2",
    "async def decide() -> None: ...",
]


def test_what_calls_itself_pure_is_pure(project: Tree) -> None:
    assert list(breaches(project.sources())) == []


@pytest.mark.parametrize("line", PLANTED)
def test_a_planted_impurity_is_seen(copy: Tree, line: str) -> None:
    copy.plant("services/coordinator/planted.py", PURE + line)
    assert any("planted.py" in found for found in breaches(copy.sources()))


def test_what_does_not_call_itself_pure_may_have_effects(copy: Tree) -> None:
    copy.plant("services/coordinator/planted.py", '"""Loads and commits."""\nimport asyncio')
    assert not any("planted.py" in found for found in breaches(copy.sources()))
