"""A stack on Firestore: who is told what, and who may call whom."""

from pathlib import Path

import pytest

from services.local import addresses
from services.local.addresses import Addresses, Service
from services.local.cloud.places import Places
from services.local.cloud.plan import Scene, programs
from services.local.program import Program
from services.local.state import StateDirectory

WHERE = Addresses(ingress=8080, coordinator=8081, runner=8082, platform=8083)
PLACES = Places(
    project="demo-site",
    firestore="127.0.0.1:9000",
    tasks=9001,
    instances={Service.COORDINATOR: (9010, 9011), Service.RUNNER: (9020, 9021), Service.INGRESS: (9030, 9031)},
)


@pytest.fixture
def plan() -> dict[str, Program]:
    scene = Scene(
        state=StateDirectory(Path("/state")),
        addresses=WHERE,
        places=PLACES,
        inherited={"PATH": "/bin", "ANVIL_STORE": "sqlite", "FIRESTORE_EMULATOR_HOST": "127.0.0.1:1"},
        overrides={Service.RUNNER: {"ANVIL_HEARTBEAT_SECONDS": "2"}},
    )
    return {program.name: program for program in programs(scene)}


def test_every_instance_is_a_process_behind_its_services_front_end(plan: dict[str, Program]) -> None:
    assert list(plan) == [
        *("platform", "coordinator-front", "runner-front"),
        *("coordinator-1", "coordinator-2", "runner-1", "runner-2", "ingress-1", "ingress-2", "ingress-front"),
    ]
    front = plan["runner-front"].command
    assert "--port 8082" in " ".join(front)
    assert [part for part in front if part.startswith("--upstream")] == [
        "--upstream=http://127.0.0.1:9020",
        "--upstream=http://127.0.0.1:9021",
    ]


def test_a_private_service_names_its_invokers_and_ingress_is_open_to_all(plan: dict[str, Program]) -> None:
    invokers = [part for part in plan["runner-front"].command if part.startswith("--invoker")]
    assert invokers == ["--invoker=tasks@anvil.local"]
    assert "--public" not in plan["coordinator-front"].command
    assert "--public" in plan["ingress-front"].command


def test_only_private_services_believe_what_the_front_end_verified(plan: dict[str, Program]) -> None:
    believing = [
        name for name, each in plan.items() if each.environment.get("ANVIL_PLATFORM_VERIFIES_CALLERS") == "true"
    ]
    assert believing == ["coordinator-1", "coordinator-2", "runner-1", "runner-2"]


def test_coordinators_share_the_database_and_call_others_by_their_front_ends(plan: dict[str, Program]) -> None:
    told = [plan[f"coordinator-{number}"].environment for number in (1, 2)]
    assert told[0] == told[1]
    assert told[0]["ANVIL_STORE"] == "firestore"
    assert told[0]["FIRESTORE_EMULATOR_HOST"] == "127.0.0.1:9000"
    assert told[0]["ANVIL_RUNNER_URL"] == "http://127.0.0.1:8082"
    assert told[0]["ANVIL_RUNNER_QUEUE"] == "projects/demo-site/locations/local/queues/runner"


def test_every_runner_has_a_place_to_work_of_its_own_and_a_dispatch(plan: dict[str, Program]) -> None:
    told = [plan[f"runner-{number}"].environment for number in (1, 2)]
    assert [each["ANVIL_WORK_DIR"] for each in told] == ["/state/work-1", "/state/work-2"]
    assert {each["ANVIL_HEARTBEAT_SECONDS"] for each in told} == {"2"}
    assert "--queue=projects/demo-site/locations/local/queues/runner=2" in plan["platform"].command


def test_free_ports_are_all_different() -> None:
    assert len(set(addresses.free(8))) == 8
