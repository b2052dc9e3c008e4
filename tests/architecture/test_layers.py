"""The layers hold, and each contract breaks when something that it forbids is planted.

Services meet in `kernel.wire` and nowhere else; inside one, `main → app → one use case → pure decisions`.
"""

import subprocess
import sys

import pytest

from tests.architecture.tree import Tree

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"

PLANTED = [
    ("Services never import each other", "services/ingress/hooks.py", "import services.coordinator"),
    ("Services never import each other", "services/runner/execute.py", "import services.ingress.providers"),
    ("Services never import each other", "services/local/stack.py", "import services.runner.sandbox"),
    ("Services never import each other", "services/cli/nouns.py", "import services.runner.sandbox"),
    ("The kernel imports no service", "services/kernel/ids.py", "import services.coordinator"),
    ("Nothing imports a main", "services/coordinator/planted.py", "import services.coordinator.main"),
    ("Only a main imports an app", "services/coordinator/planted.py", "import services.coordinator.app"),
    (
        "Only a main and the local stack choose adapters",
        "services/coordinator/planted.py",
        "import services.kernel.adapters",
    ),
    ("Only adapters import Google", "services/coordinator/planted.py", "import google.cloud.firestore"),
    ("Only adapters import Google", "services/kernel/planted.py", "import google.auth"),
    ("Only adapters import Google", "services/local/planted.py", "import google.cloud.firestore"),
    ("Decisions and messages are pure", "services/kernel/wire/planted.py", "import starlette"),
    ("Decisions and messages are pure", "services/ingress/providers/planted.py", "import socket"),
    ("Decisions and messages are pure", "services/coordinator/rules/planted.py", "import asyncio"),
    ("Decisions and messages are pure", "services/coordinator/rules/planted.py", "import services.coordinator.shell"),
]

ALLOWED = [
    ("services/coordinator/main.py", "import services.coordinator.app"),
    ("services/coordinator/main.py", "import services.kernel.adapters"),
    ("services/local/planted.py", "import services.kernel.adapters"),
    ("services/kernel/adapters/planted.py", "import google.cloud.firestore"),
    ("services/local/doubles/planted.py", "import google.cloud.tasks_v2"),
    ("services/cli/planted.py", "import services.local"),
    ("services/cli/planted.py", "import services.runner.pipeline"),
]


SHELL = ("services/coordinator/shell.py", "import asyncio")
"""A module with effects, which a decision would reach through an import."""


def lint(tree: Tree) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"], cwd=tree.root, check=False, capture_output=True, text=True
    )


def complete(tree: Tree) -> None:
    """Give the copy the modules that the planted lines name, where the project does not have them (yet)."""
    for path in ("services/coordinator/main.py", "services/coordinator/app.py", "services/runner/pipeline.py"):
        if not (tree.root / path).exists() and not (tree.root / path.removesuffix(".py")).exists():
            tree.plant(path, "")


def test_the_layers_hold(project: Tree) -> None:
    found = lint(project)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(("contract", "path", "line"), PLANTED)
def test_a_planted_import_breaks_its_contract(copy: Tree, contract: str, path: str, line: str) -> None:
    complete(copy)
    copy.plant(*SHELL)
    copy.plant(path, line)
    found = lint(copy)
    assert found.returncode == 1
    assert f"{contract} BROKEN" in found.stdout


def test_what_the_layers_allow_breaks_nothing(copy: Tree) -> None:
    complete(copy)
    for path, line in ALLOWED:
        copy.plant(path, line)
    found = lint(copy)
    assert found.returncode == 0, found.stdout
