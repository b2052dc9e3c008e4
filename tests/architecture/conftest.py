from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, Tree


@pytest.fixture(scope="session")
def project() -> Tree:
    return Tree(ROOT)


@pytest.fixture
def copy(project: Tree, tmp_path: Path) -> Tree:
    """The services and their contracts, to plant a violation in."""
    return project.copy_to(tmp_path)
