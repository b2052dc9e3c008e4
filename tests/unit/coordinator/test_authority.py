"""Only the coordinator holds what decides; what it holds it cannot open."""

from collections.abc import Iterator

import pytest

from tests.architecture.names import imported, within
from tests.architecture.tree import ROOT, Tree

WRITES = frozenset(f"services.kernel.ports.{name}" for name in ("Store", "Write", "Create", "Replace", "Delete"))
STORES = frozenset({"services.kernel.adapters.sqlite", "services.kernel.adapters.firestore"})
SEALS = frozenset({"services.kernel.seal"})


def services_that_import(names: frozenset[str]) -> Iterator[str]:
    """Each service with a module that imports one of the names; what plays Google's Firestore is none."""
    for source in Tree(ROOT).sources():
        if source.path.startswith("services/local/emulator/"):
            continue
        if any(within(name, names) for _, name in imported(source.module)):
            yield source.path.split("/")[1]


@pytest.mark.req("R1")
def test_only_the_coordinator_opens_the_store() -> None:
    assert set(services_that_import(STORES)) - {"kernel"} == {"coordinator"}


@pytest.mark.req("R3")
def test_only_the_coordinator_has_code_that_writes_documents() -> None:
    assert set(services_that_import(WRITES)) - {"kernel"} == {"coordinator"}


@pytest.mark.req("C13")
def test_the_coordinator_has_no_code_that_opens_a_secret() -> None:
    assert "coordinator" not in set(services_that_import(SEALS))
