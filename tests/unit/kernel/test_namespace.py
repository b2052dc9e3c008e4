"""Two deployments never share a name, and Terraform comes to the same ones."""

import json
from hashlib import sha256
from pathlib import Path
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel.namespace import Child, Coordinate, derive, digest, ledger_collection, stored_collection


class Marks(TypedDict):
    namespace: str
    digest: str
    ledger_collection: str


class Deployment(Marks):
    coordinate: dict[str, str]


class Capability(Marks):
    parent: str
    capability: str


class Vectors(TypedDict):
    deployments: list[Deployment]
    children: list[Capability]


VECTORS: Vectors = json.loads((Path(__file__).parents[2] / "vectors" / "namespaces.json").read_text())
PARTS = st.text(st.characters(codec="ascii"), min_size=1, max_size=12)
COORDINATES = st.tuples(PARTS, PARTS, PARTS, PARTS)


def at(project: str, location: str, environment: str, service: str) -> Coordinate:
    return Coordinate(project=project, location=location, environment=environment, service=service)


def by_hand(*parts: str) -> str:
    """As Terraform will: `sha256(join("", [for part in parts : "${length(part)}:${part}"]))`, its first half."""
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:32]


@pytest.mark.parametrize("deployment", VECTORS["deployments"], ids=lambda found: str(found["coordinate"]))
@pytest.mark.req("R93")
def test_a_deployments_marks_are_those_of_the_vectors(deployment: Deployment) -> None:
    coordinate = Coordinate(**deployment["coordinate"])
    namespace = derive(coordinate)
    assert namespace == deployment["namespace"]
    assert namespace == by_hand("anvil-namespace", *deployment["coordinate"].values())
    assert digest(namespace) == deployment["digest"] == sha256(namespace.encode()).hexdigest()[:16]
    assert ledger_collection(namespace) == deployment["ledger_collection"]


@pytest.mark.parametrize("child", VECTORS["children"], ids=lambda found: str(found["capability"]))
def test_a_capabilitys_marks_come_from_its_parents_namespace(child: Capability) -> None:
    namespace = derive(Child(parent=child["parent"], capability=child["capability"]))
    assert namespace == child["namespace"]
    assert namespace == by_hand("anvil-namespace-child", child["parent"], child["capability"])
    assert ledger_collection(namespace) == child["ledger_collection"]


def test_no_two_of_the_vectors_share_a_mark() -> None:
    found = [each["namespace"] for each in (*VECTORS["deployments"], *VECTORS["children"])]
    assert len({digest(namespace) for namespace in found}) == len(found) == 8


@given(COORDINATES, COORDINATES)
@pytest.mark.req("R94")
def test_two_coordinates_share_no_namespace(one: tuple[str, str, str, str], other: tuple[str, str, str, str]) -> None:
    assert (derive(at(*one)) == derive(at(*other))) is (one == other)


@given(PARTS, PARTS, COORDINATES)
def test_a_child_shares_no_namespace_with_a_deployment(
    parent: str, capability: str, coordinate: tuple[str, str, str, str]
) -> None:
    assert derive(Child(parent=parent, capability=capability)) != derive(at(*coordinate))


@pytest.mark.parametrize("part", ["", "münchen"])
def test_a_part_that_is_empty_or_has_characters_of_several_bytes_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match="cannot be a part"):
        derive(at("acme-ci", part, "prod", "anvil"))


@pytest.mark.req("R89")
def test_the_ledgers_collection_is_stored_by_its_own_name_and_all_others_by_one_with_the_mark() -> None:
    own = ledger_collection("acme")
    assert own == f"anvil_idempotency_{digest('acme')}"
    assert stored_collection("acme", own) == own
    assert stored_collection("acme", "runs") == f"a_{digest('acme')}_runs"
    assert stored_collection("other", own) == f"a_{digest('other')}_{own}"
