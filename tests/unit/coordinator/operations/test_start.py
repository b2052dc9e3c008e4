"""A coordinator does not start with a catalogue that is wrong, and says where it is."""

from pathlib import Path

import pytest

from services.coordinator import main
from tests.unit.coordinator.operations.test_catalogue import one
from tests.unit.coordinator.test_settings import PRODUCTION, last_words


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The catalogue's file of a deployment, which is not there yet."""
    found = tmp_path / "operations.yml"
    for name, value in {**PRODUCTION, "ANVIL_OPERATIONS_FILE": str(found)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    return found


def test_a_catalogue_is_opened_at_the_start(file: Path) -> None:
    file.write_text(one())
    main.application()


def test_a_wrong_catalogue_is_told_by_file_line_and_field(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(one(method="FETCH"))
    said = f"CoordinatorSettings: ANVIL_OPERATIONS_FILE: {file}: line 7: operations[0].method: must be one of"
    assert last_words(capsys).startswith(said)


def test_a_catalogue_that_is_not_there_is_told_by_its_name(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert last_words(capsys).startswith(f"CoordinatorSettings: ANVIL_OPERATIONS_FILE: {file}: ")


def test_a_credential_needs_a_folder(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(one(credential="{profile: p, header: Authorization}"))
    assert last_words(capsys) == "CoordinatorSettings: ANVIL_CREDENTIALS_DIR: needed for operation make\n"


def test_local_upstreams_are_for_dev(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(one())
    monkeypatch.setenv("ANVIL_ALLOW_LOCAL_UPSTREAMS", "true")
    assert "ANVIL_ALLOW_LOCAL_UPSTREAMS: only in the dev environment" in last_words(capsys)
