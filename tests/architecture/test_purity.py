"""A module that calls itself pure imports no I/O, awaits nothing, and leans on pure modules only."""

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
    "from services.coordinator import shell",
    "async def decide() -> None: ...",
]


def test_decisions_are_pure(project: Tree) -> None:
    assert list(breaches(project.sources())) == []


@pytest.mark.parametrize("line", PLANTED)
def test_a_planted_impurity_is_seen(copy: Tree, line: str) -> None:
    copy.plant("services/coordinator/shell.py", '"""Loads and commits."""')
    copy.plant("services/coordinator/planted.py", PURE + line)
    assert any("planted.py" in found for found in breaches(copy.sources()))


def test_a_pure_module_may_lean_on_another(copy: Tree) -> None:
    copy.plant("services/coordinator/order.py", PURE)
    copy.plant("services/coordinator/planted.py", PURE + "from services.coordinator.order import first")
    assert not any("planted.py" in found for found in breaches(copy.sources()))
