"""Which database is meant, and that an emulator is believed in development alone."""

import pytest

from services.kernel.adapters.firestore_database import Database, emulator
from services.kernel.settings import SettingsError

ADDRESS = {"FIRESTORE_EMULATOR_HOST": "127.0.0.1:8080"}


def test_an_emulator_is_used_in_dev() -> None:
    assert emulator(ADDRESS, environment="dev") == "127.0.0.1:8080"
    assert emulator({}, environment="dev") is None


@pytest.mark.parametrize("environment", ["prod", "staging", "", "DEV"])
def test_an_emulator_outside_dev_stops_the_start(environment: str) -> None:
    with pytest.raises(SettingsError, match="FIRESTORE_EMULATOR_HOST: only in the dev environment"):
        emulator(ADDRESS, environment=environment)
    assert emulator({"FIRESTORE_EMULATOR_HOST": ""}, environment=environment) is None


def test_a_database_has_a_full_name() -> None:
    assert Database(project="demo-p").name == "projects/demo-p/databases/(default)"
    assert Database(project="example.com:p-1", id="ledger").name == "projects/example.com:p-1/databases/ledger"


@pytest.mark.parametrize("id_", ["", "a/b", "Ledger", "l", "-ledger", "ledger-", "x" * 64, "ledger\n"])
def test_an_id_that_is_not_a_databases_is_refused(id_: str) -> None:
    with pytest.raises(ValueError, match="is not a Firestore database's id"):
        Database(project="demo-p", id=id_)


@pytest.mark.parametrize("project", ["", "a/b", "P", "p\n"])
def test_an_id_that_is_not_a_projects_is_refused(project: str) -> None:
    with pytest.raises(ValueError, match="is not a project's id"):
        Database(project=project)
