"""What verifies the deliveries of each webhook: a sealed secret and its version; never a plain secret (R82).

What is kept may be out of date, so nobody is turned away because of it: a caller that is about to refuse asks for
material whose loading began after its request had arrived. Such loads are shared: while one runs, all that came after
it began wait for the next, and that one serves them all.
"""

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NewType
from weakref import WeakValueDictionary

import anyio

from services.ingress.coordinator import Coordinator
from services.kernel.ids import SLUG, Slug
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import Verification, WebhookConfig

NOBODYS = Slug("")
"""In place of all that cannot be a slug: nothing is looked up for it, and it is verified like any other in vain."""

_NOTHING: Final = Verification(project_id=None, version=None, enabled=False, config=WebhookConfig(), secret=None)

LoadNumber = NewType("LoadNumber", int)
"""Loads are numbered as they begin, which tells "before" from "after" without a clock."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook: a project's slug and the provider."""

    project: Slug
    provider: Provider

    @classmethod
    def at(cls, project: str, provider: Provider) -> "Webhook":
        """The webhook that a path names; what is no slug names nobody's project, whatever it says."""
        return cls(Slug(project) if re.fullmatch(SLUG, project) else NOBODYS, provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What load number `load` found."""

    verification: Verification
    load: LoadNumber


def loader(coordinator: Coordinator) -> Callable[[Webhook], Awaitable[Verification]]:
    """Loads from the coordinator."""

    async def load(webhook: Webhook) -> Verification:
        if webhook.project == NOBODYS:
            return _NOTHING
        path = {"project": webhook.project, "provider": webhook.provider}
        return await coordinator.call(internal.VERIFICATION, path=path)

    return load


class Materials:
    """The newest known material of the webhooks used last. Any number of callers at once.

    A webhook that does not exist is remembered too, so that it costs a stranger the same as one that does (H2).
    """

    def __init__(self, load: Callable[[Webhook], Awaitable[Verification]], *, keep: int = 1024) -> None:
        self._load = load
        self._keep = keep
        self._known: OrderedDict[Webhook, Material] = OrderedDict()
        self._loading: WeakValueDictionary[Webhook, anyio.Lock] = WeakValueDictionary()
        self._begun = LoadNumber(0)

    @property
    def begun(self) -> LoadNumber:
        """The number of the last load that has begun. A request keeps it as the mark of its arrival."""
        return self._begun

    async def known(self, webhook: Webhook) -> Material:
        """What is known; loaded if nothing is.

        Raises:
            Unavailable, Ambiguous: it could not be loaded.
        """
        if (material := self._known.get(webhook)) is not None:
            self._known.move_to_end(webhook)
            return material
        return await self.newer(webhook, LoadNumber(0))

    async def newer(self, webhook: Webhook, mark: LoadNumber) -> Material:
        """What a load found that began after `mark`.

        Raises:
            Unavailable, Ambiguous: it could not be loaded.
        """
        async with self._lock(webhook):
            material = self._known.get(webhook)
            if material is None or material.load <= mark:
                material = await self._loaded(webhook)
            return material

    def _lock(self, webhook: Webhook) -> anyio.Lock:
        return self._loading.setdefault(webhook, anyio.Lock())

    async def _loaded(self, webhook: Webhook) -> Material:
        self._begun = number = LoadNumber(self._begun + 1)
        material = Material(verification=await self._load(webhook), load=number)
        self._known[webhook] = material
        self._known.move_to_end(webhook)
        if len(self._known) > self._keep:
            self._known.popitem(last=False)
        return material
