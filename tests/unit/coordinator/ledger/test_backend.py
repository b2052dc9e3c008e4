"""Where a deployment keeps its ledger, and what is refused."""

import sys
from pathlib import Path

import pytest

from services.coordinator import main
from services.coordinator.ledger.backend import Backend, Opening, open_backend, opening
from services.coordinator.ledger.ledger import Ledger, Replayed, Reserved
from services.coordinator.settings import CoordinatorSettings
from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.settings import SettingsError, load
from services.kernel.wire.ledger import LedgerQuery
from tests.unit.coordinator.ledger.shelf import COLLECTION, OK, WEEK, document, wanted
from tests.unit.coordinator.test_settings import LOCAL, PRODUCTION, last_words

pytestmark = pytest.mark.anyio

CLOCK = SystemClock()
SETTING = "ANVIL_LEDGER"


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in PRODUCTION.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
    return monkeypatch


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that offers the backends `toy` and, as another does too, `twice`."""
    for package in ("acme", "other"):
        info = tmp_path / f"{package}_ledger-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}-ledger\nVersion: 1.0\n")
        names = ["toy", "twice"] if package == "acme" else ["twice"]
        lines = [f"{name} = tests.contract.toy:open_backend\n" for name in names]
        (info / "entry_points.txt").write_text("".join(["[anvil.ledger_backends]\n", *lines]))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def told(environment: str = "prod", **variables: str) -> Opening:
    return opening(environment=environment, namespace="test", clock=CLOCK, variables=variables)


def opened(name: str, what: Opening) -> Backend:
    backend = open_backend(name, what, own={}, setting=SETTING)
    assert backend is not None
    return backend


async def goes_round(ledger: Ledger) -> None:
    """Reserve, complete and replay; and see it in the list."""
    taken = await ledger.reserve(document(), wanted())
    assert isinstance(taken, Reserved)
    done = await ledger.complete(taken, OK, ttl=WEEK)
    assert await ledger.reserve(document(), wanted()) == Replayed(row=done)
    assert [row.operation for row in (await ledger.page(LedgerQuery())).items] == ["create-invoice"]


@pytest.mark.req("R125")
async def test_an_installed_package_brings_a_backend_by_an_entry_point(installed: Path) -> None:
    backend = opened("toy", told(TOY_LEDGER_FILE=str(installed / "toy.json"), TOY_LEDGER_DURABLE="yes"))
    ledger = backend.ledger(namespace="test", clock=CLOCK, ids=SystemIds())
    await goes_round(ledger)
    await backend.close()

    assert (backend.name, ledger.collection, ledger.durable) == ("toy", COLLECTION, True)
    assert f'"{COLLECTION}/{document()}"' in (installed / "toy.json").read_text()


@pytest.mark.req("R123")
@pytest.mark.inv("I14")
async def test_a_backend_that_forgets_is_refused_outside_dev_by_the_settings_name(installed: Path) -> None:
    file = str(installed / "toy.json")
    assert not opened("toy", told("dev", TOY_LEDGER_FILE=file)).durable
    with pytest.raises(SettingsError, match=r"^ANVIL_LEDGER: toy is not durable; only in the dev environment$"):
        opened("toy", told("prod", TOY_LEDGER_FILE=file))


@pytest.mark.parametrize(("name", "count"), [("nosuch", "no package"), ("twice", "2 packages")])
async def test_a_name_that_nobody_or_more_than_one_offers_is_refused(installed: Path, name: str, count: str) -> None:
    with pytest.raises(SettingsError, match=rf"^ANVIL_LEDGER: {count} "):
        opened(name, told())


async def test_without_a_name_there_is_no_ledger() -> None:
    assert open_backend("none", told(), own={}, setting=SETTING) is None


def test_a_deployment_has_no_ledger_unless_it_asks_for_one(environ: pytest.MonkeyPatch) -> None:
    assert load(CoordinatorSettings).ledger == "none"


@pytest.mark.parametrize("name", ["sqlite", "memory"])
@pytest.mark.req("R86")
@pytest.mark.inv("I14")
def test_outside_dev_only_firestore_is_a_ledger_of_anvils_own(environ: pytest.MonkeyPatch, name: str) -> None:
    environ.setenv("ANVIL_SQLITE_PATH", "/nowhere/anvil.sqlite")
    environ.setenv("ANVIL_LEDGER", name)
    with pytest.raises(SettingsError, match=r"^ANVIL_LEDGER: only in the dev environment$"):
        load(CoordinatorSettings)

    environ.setenv("ANVIL_LEDGER", "firestore")
    main.application()


def test_a_plug_in_that_forgets_ends_a_start_outside_dev_with_one_line(
    environ: pytest.MonkeyPatch, installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ.setenv("ANVIL_LEDGER", "toy")
    environ.setenv("TOY_LEDGER_FILE", str(installed / "toy.json"))
    assert last_words(capsys) == "CoordinatorSettings: ANVIL_LEDGER: toy is not durable; only in the dev environment\n"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ANVIL_LEDGER_DATABASE", "No Such Id", "ANVIL_GOOGLE_PROJECT, ANVIL_LEDGER_DATABASE: "),
        ("ANVIL_LEDGER_TTL_SECONDS", "59", "ANVIL_LEDGER_TTL_SECONDS: "),
        ("ANVIL_LEDGER_TTL_SECONDS", "31536001", "ANVIL_LEDGER_TTL_SECONDS: "),
        ("ANVIL_LEDGER_SERVICE", "", "ANVIL_LEDGER_SERVICE: "),
        ("ANVIL_LEDGER", "nosuch", "ANVIL_LEDGER: no package "),
    ],
)
def test_a_ledger_that_cannot_be_ends_the_start_with_one_line(
    environ: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, said: str
) -> None:
    environ.setenv("ANVIL_LEDGER", "firestore")
    environ.setenv(name, value)
    words = last_words(capsys)
    assert words.startswith(f"CoordinatorSettings: {said}")
    assert words.count("\n") == 1


@pytest.mark.parametrize(("name", "durable"), [("sqlite", True), ("memory", False)])
@pytest.mark.req("R124")
async def test_in_dev_the_ledger_may_be_in_the_file_of_the_store_or_in_the_process(
    environ: pytest.MonkeyPatch, tmp_path: Path, name: str, durable: bool
) -> None:
    for known, value in LOCAL.items():
        environ.setenv(known, value)
    environ.setenv("ANVIL_SQLITE_PATH", str(tmp_path / "anvil.sqlite"))
    environ.setenv("ANVIL_LEDGER", name)
    settings = load(CoordinatorSettings)
    assert settings.environment == "dev"
    backend = main.ledger_backend(settings, CLOCK)
    assert backend is not None
    await goes_round(backend.ledger(namespace=settings.namespace, clock=CLOCK, ids=SystemIds()))
    await backend.close()

    assert backend.durable is durable
    assert (tmp_path / "anvil.sqlite").exists() is durable
