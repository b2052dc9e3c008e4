"""Each process is told what it needs, and nothing of another's."""

from pathlib import Path

from services.local.addresses import Addresses, Service
from services.local.environment import environment
from services.local.state import StateDirectory

STATE = StateDirectory(Path("/state"))
WHERE = Addresses(ingress=8080, coordinator=8081, runner=8082, platform=8083)


def told(service: Service, *, inherited: dict[str, str] | None = None, **overrides: str) -> dict[str, str]:
    return dict(environment(service, state=STATE, addresses=WHERE, inherited=inherited or {}, overrides=overrides))


def test_every_service_trusts_the_stacks_own_issuer() -> None:
    for service in Service:
        found = told(service)
        assert found["ANVIL_ENVIRONMENT"] == "dev"
        assert found["ANVIL_ISSUER"] == "https://anvil.local"
        assert found["ANVIL_JWKS_URL"] == "http://127.0.0.1:8083/jwks"


def test_only_ingress_is_told_where_the_webhook_keyring_is() -> None:
    holders = [service for service in Service if "/state/webhook-keyring.json" in told(service).values()]
    assert holders == [Service.INGRESS]


def test_only_the_coordinator_is_told_where_the_store_is() -> None:
    holders = [service for service in Service if "/state/anvil.sqlite" in told(service).values()]
    assert holders == [Service.COORDINATOR]


def test_only_the_coordinator_is_told_where_credentials_for_other_systems_are() -> None:
    holders = [service for service in Service if "/state/credentials" in told(service).values()]
    assert holders == [Service.COORDINATOR]


def test_a_setting_left_over_in_the_shell_reaches_no_service_but_the_rest_does() -> None:
    found = told(Service.RUNNER, inherited={"ANVIL_WORK_DIR": "/elsewhere", "ANVIL_TOKEN": "t", "PATH": "/bin"})
    assert found["ANVIL_WORK_DIR"] == "/state/work"
    assert "ANVIL_TOKEN" not in found
    assert found["PATH"] == "/bin"


def test_an_override_wins() -> None:
    assert told(Service.COORDINATOR, ANVIL_STORE="firestore")["ANVIL_STORE"] == "firestore"
