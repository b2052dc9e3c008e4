"""Where the ledger is kept: the seam at which a deployment may bring a store of its own (R125).

A backend is a name: one of those that Anvil has, or an entry point of an installed package. What the owner of such a
package takes over is in `docs/ledger.md`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final, TypeAlias

from services.coordinator.ledger.documents import indexes
from services.coordinator.ledger.ledger import Ledger
from services.kernel.namespace import ledger_collection
from services.kernel.ports import Clock, Ids, Index, Store
from services.kernel.settings import SettingsError

GROUP: Final = "anvil.ledger_backends"
NONE: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a backend is told. `indexes` are all the queries it will be asked; `variables` is the environment."""

    environment: str
    namespace: str
    indexes: Sequence[Index]
    clock: Clock
    variables: Mapping[str, str]

    @property
    def collection(self) -> str:
        return ledger_collection(self.namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """An opened store. `durable`: what is committed survives every process, and every process sees it."""

    name: str
    store: Store
    durable: bool
    close: Callable[[], Awaitable[None]]

    def ledger(self, *, namespace: str, clock: Clock, ids: Ids) -> Ledger:
        collection = ledger_collection(namespace)
        return Ledger(self.store, collection=collection, durable=self.durable, clock=clock, ids=ids)


Opener: TypeAlias = Callable[[Opening], Backend]
"""Returns at once; whether the store can be reached is found out by the readiness probe."""


def opening(*, environment: str, namespace: str, clock: Clock, variables: Mapping[str, str]) -> Opening:
    return Opening(
        environment=environment,
        namespace=namespace,
        indexes=indexes(ledger_collection(namespace)),
        clock=clock,
        variables=variables,
    )


def open_backend(name: str, told: Opening, *, own: Mapping[str, Opener], setting: str) -> Backend | None:
    """The backend of this name, Anvil's `own` before any other's; None if none is wanted.

    Raises:
        SettingsError: there is no such backend, or it is not durable and this is not dev (R123).
    """
    if name == NONE:
        return None
    opener = own.get(name) or _installed(name, setting=setting)
    backend = opener(told)
    if told.environment != "dev" and not backend.durable:
        raise SettingsError(f"{setting}: {name} is not durable; only in the dev environment")
    return backend


def _installed(name: str, *, setting: str) -> Opener:
    found: list[EntryPoint] = list(entry_points(group=GROUP, name=name))
    if len(found) != 1:
        count = "no package" if not found else f"{len(found)} packages"
        raise SettingsError(f"{setting}: {count} installed here offer a ledger backend named {name!r}")
    opener: Opener = found[0].load()
    return opener
