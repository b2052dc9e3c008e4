"""How many deliveries were refused, and why: counted in memory, and told to the coordinator beside the requests (C26).

What strangers send makes no other write than this one: at most one a minute for a project that exists, and one more
when the instance ends. Counts that do not arrive are lost.
"""

from collections import Counter
from datetime import timedelta
from typing import Final, NoReturn

from services.ingress.coordinator import Coordinator
from services.ingress.materials import Webhook
from services.kernel import deadline
from services.kernel.errors import AnvilError
from services.kernel.ids import Slug
from services.kernel.log import get_logger
from services.kernel.ports import Clock
from services.kernel.wire import internal
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import CountRefusals, Refusal

log = get_logger(__name__)

_EVERY: Final = timedelta(minutes=1)
_TELL_WITHIN: Final = timedelta(seconds=5)

Counts = Counter[tuple[Provider, Refusal]]


class Refusals:
    """Keeps counts of at most `keep` projects; further ones are logged only."""

    def __init__(self, coordinator: Coordinator, *, clock: Clock, keep: int = 1000) -> None:
        self._coordinator = coordinator
        self._clock = clock
        self._keep = keep
        self._counts: dict[Slug, Counts] = {}

    def count(self, webhook: Webhook, reason: Refusal | None) -> None:
        """One more; None where there is no such project, for which nothing is ever written."""
        shown = "unknown_project" if reason is None else reason.value
        log.info("a delivery was refused", project=webhook.project, provider=webhook.provider, reason=shown)
        full = len(self._counts) >= self._keep and webhook.project not in self._counts
        if reason is not None and not full:
            self._counts.setdefault(webhook.project, Counts())[webhook.provider, reason] += 1

    async def tell(self) -> None:
        """Tell what was counted since the last time; what cannot be told within 5 s in all is lost."""
        counted, self._counts = self._counts, {}
        with deadline.scope(self._clock, _TELL_WITHIN):
            for project, counts in counted.items():
                await self._tell(project, counts)

    async def tell_each_minute(self) -> NoReturn:
        while True:
            await self._clock.sleep(_EVERY)
            await self.tell()

    async def _tell(self, project: Slug, counts: Counts) -> None:
        try:
            # Once: told twice they would be counted twice.
            await self._coordinator.call_once(internal.COUNT_REFUSALS, path={"project": project}, body=_message(counts))
        except AnvilError as error:
            log.warning("refusals were not counted", project=project, count=counts.total(), code=error.code)


def _message(counts: Counts) -> CountRefusals:
    refused: dict[Provider, dict[Refusal, int]] = {}
    for (provider, reason), times in counts.items():
        refused.setdefault(provider, {})[reason] = times
    return CountRefusals(refused=refused)
