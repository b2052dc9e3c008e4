"""What the runner's environment must say, and may not."""

import pytest

from services.kernel.settings import SettingsError, load
from services.runner.settings import RunnerSettings

GIVEN = {
    "ENVIRONMENT": "dev",
    "NAMESPACE": "test",
    "AUDIENCE": "anvil-runner",
    "COORDINATOR_URL": "http://127.0.0.1:9",
    "COORDINATOR_AUDIENCE": "anvil-coordinator",
    "WORK_DIR": "/nowhere",
    "SANDBOX": "process",
}


@pytest.fixture(autouse=True)
def given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GIVEN.items():
        monkeypatch.setenv(f"ANVIL_{name}", value)


def test_a_few_variables_are_enough() -> None:
    settings = load(RunnerSettings)
    assert (settings.heartbeat_seconds, settings.lease_seconds, settings.stale_seconds) == (10, 30, 45)
    assert (settings.run_seconds, settings.grace_seconds) == (900, 30)
    assert not settings.allow_local_repositories


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEASE_SECONDS", "10"),
        ("LEASE_SECONDS", "45"),
        ("HEARTBEAT_SECONDS", "30"),
        ("STALE_SECONDS", "29"),
        ("RUN_SECONDS", "1741"),
        ("SANDBOX", "none"),
        ("LOG_HEAD_BYTES", "8388609"),
    ],
)
def test_a_number_that_cannot_hold_stops_the_start_by_its_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"ANVIL_{name}", value)
    with pytest.raises(SettingsError, match=f"ANVIL_{name}"):
        load(RunnerSettings)


@pytest.mark.parametrize(("name", "value"), [("SANDBOX", "process"), ("ALLOW_LOCAL_REPOSITORIES", "true")])
def test_what_is_for_a_developers_machine_is_refused_elsewhere(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("ANVIL_ENVIRONMENT", "prod")
    monkeypatch.setenv(f"ANVIL_{name}", value)
    with pytest.raises(SettingsError, match=f"ANVIL_{name}.*only in the dev environment"):
        load(RunnerSettings)
