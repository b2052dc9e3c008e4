"""What the coordinator's environment must say for the store and the task queue that it chooses."""

import pytest

from services.coordinator import main
from services.coordinator.settings import CoordinatorSettings
from services.kernel.settings import SettingsError, load

PRODUCTION = {
    "ANVIL_ENVIRONMENT": "prod",
    "ANVIL_NAMESPACE": "acme",
    "ANVIL_AUDIENCE": "https://coordinator.example.com",
    "ANVIL_GOOGLE_PROJECT": "acme-ci",
    "ANVIL_COORDINATOR_QUEUE": "projects/acme-ci/locations/europe-west1/queues/coordinator",
    "ANVIL_COORDINATOR_URL": "https://coordinator.example.com",
    "ANVIL_RUNNER_QUEUE": "projects/acme-ci/locations/europe-west1/queues/runner",
    "ANVIL_RUNNER_URL": "https://runner.example.com",
    "ANVIL_RUNNER_AUDIENCE": "https://runner.example.com",
    "ANVIL_TASKS_SERVICE_ACCOUNT": "tasks@acme-ci.iam.gserviceaccount.com",
}
LOCAL = {
    "ANVIL_ENVIRONMENT": "dev",
    "ANVIL_STORE": "sqlite",
    "ANVIL_SQLITE_PATH": "/nowhere/anvil.sqlite",
    "ANVIL_TASKS": "local",
    "ANVIL_TASKS_URL": "http://127.0.0.1:9",
    "ANVIL_TASKS_AUDIENCE": "tasks",
    "ANVIL_SERVICE_EMAIL": "coordinator@anvil.local",
}


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in PRODUCTION.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    return monkeypatch


def last_words(capsys: pytest.CaptureFixture[str]) -> str:
    """What the start says that ends at once."""
    with pytest.raises(SystemExit) as ended:
        main.application()
    assert ended.value.code == 4
    return capsys.readouterr().err


def test_the_default_is_firestore_and_cloud_tasks(environ: pytest.MonkeyPatch) -> None:
    settings = load(CoordinatorSettings)
    assert (settings.store, settings.firestore_database, settings.tasks) == ("firestore", "(default)", "cloud_tasks")


def test_a_start_needs_neither_the_database_nor_the_queue_nor_credentials(environ: pytest.MonkeyPatch) -> None:
    main.application()


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("ANVIL_GOOGLE_PROJECT", "firestore"),
        ("ANVIL_COORDINATOR_QUEUE", "cloud_tasks"),
        ("ANVIL_COORDINATOR_URL", "cloud_tasks"),
        ("ANVIL_RUNNER_QUEUE", "cloud_tasks"),
        ("ANVIL_RUNNER_URL", "cloud_tasks"),
        ("ANVIL_RUNNER_AUDIENCE", "cloud_tasks"),
        ("ANVIL_TASKS_SERVICE_ACCOUNT", "cloud_tasks"),
    ],
)
def test_a_value_that_google_cloud_needs_is_named_where_it_is_missing(
    environ: pytest.MonkeyPatch, name: str, chosen: str
) -> None:
    environ.delenv(name)
    with pytest.raises(SettingsError, match=f"^{name}: needed for {chosen}$"):
        load(CoordinatorSettings)


@pytest.mark.parametrize(
    ("name", "chosen"),
    [("ANVIL_SQLITE_PATH", "sqlite"), ("ANVIL_TASKS_URL", "local"), ("ANVIL_TASKS_AUDIENCE", "local")],
)
def test_a_value_that_the_embedded_parts_need_is_named_where_it_is_missing(
    environ: pytest.MonkeyPatch, name: str, chosen: str
) -> None:
    for known, value in LOCAL.items():
        environ.setenv(known, value)
    environ.delenv(name)
    with pytest.raises(SettingsError, match=f"^{name}: needed for {chosen}$"):
        load(CoordinatorSettings)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ANVIL_STORE", "sqlite"), ("ANVIL_TASKS", "local"), ("ANVIL_TASKS_EMULATOR", "127.0.0.1:9")],
)
def test_what_plays_google_cloud_is_refused_outside_dev(environ: pytest.MonkeyPatch, name: str, value: str) -> None:
    for known in ("ANVIL_SQLITE_PATH", "ANVIL_TASKS_URL", "ANVIL_TASKS_AUDIENCE"):
        environ.setenv(known, LOCAL[known])
    environ.setenv(name, value)
    with pytest.raises(SettingsError, match=f"^{name}: only in the dev environment$"):
        load(CoordinatorSettings)


def test_a_queue_is_named_in_full(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("ANVIL_RUNNER_QUEUE", "runner")
    with pytest.raises(SettingsError, match=r"^ANVIL_RUNNER_QUEUE: "):
        load(CoordinatorSettings)


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("FIRESTORE_EMULATOR_HOST", "127.0.0.1:9", "FIRESTORE_EMULATOR_HOST"),
        ("ANVIL_FIRESTORE_DATABASE", "No Such Id", "ANVIL_FIRESTORE_DATABASE"),
        ("ANVIL_GOOGLE_PROJECT", "No Such Id", "ANVIL_GOOGLE_PROJECT"),
    ],
)
def test_a_database_that_cannot_be_ends_the_start_with_one_line(
    environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, named: str
) -> None:
    environ.setenv(name, value)
    said = last_words(capsys)
    assert said.startswith("CoordinatorSettings: ")
    assert named in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("key_file", "email", "named"),
    [
        ("/nowhere/issuer.pem", "coordinator@anvil.local", "ANVIL_LOCAL_KEY_FILE"),
        (__file__, "coordinator@anvil.local", "ANVIL_LOCAL_KEY_FILE"),
        (__file__, None, "ANVIL_SERVICE_EMAIL"),
    ],
)
def test_a_key_that_cannot_mint_ends_the_start_with_one_line(
    environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key_file: str, email: str | None, named: str
) -> None:
    for known, value in LOCAL.items():
        environ.setenv(known, value)
    environ.setenv("ANVIL_LOCAL_KEY_FILE", key_file)
    if email is None:
        environ.delenv("ANVIL_SERVICE_EMAIL")
    said = last_words(capsys)
    assert said.startswith(f"CoordinatorSettings: {named}: ")
    assert said.count("\n") == 1
