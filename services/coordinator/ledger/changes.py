"""Changes of one row that are certain in the end, or said not to be.

No write is repeated blindly. When its answer is lost, or another write was first, the row is read back and the rule is
asked again: it recognises what is its own by the reservation's or the completion's id.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from services.coordinator.ledger.documents import Documents
from services.coordinator.ledger.rows import Put, Remove, Row, Stands, Step
from services.coordinator.records.table import Held
from services.kernel import deadline
from services.kernel.errors import AlreadyExists, Ambiguous, Contended, PreconditionFailed, Transient, Unavailable
from services.kernel.ports import Clock, Ids, Store

_FIRST_PAUSE: Final = timedelta(milliseconds=20)
_LONGEST_PAUSE: Final = timedelta(milliseconds=800)

Rule: TypeAlias = Callable[[Held[Row] | None], Step]


@dataclass(frozen=True, slots=True)
class Guess:
    """What the row is taken for at the first try, so that nothing needs to be read: a wrong one is a lost race."""

    row: Held[Row] | None


class Changes:
    """`patience` bounds how long one change is pursued, unless the deadline is earlier."""

    def __init__(self, store: Store, documents: Documents, *, clock: Clock, ids: Ids, patience: timedelta) -> None:
        self._store = store
        self._documents = documents
        self._clock = clock
        self._ids = ids
        self._patience = patience

    async def found(self, document: str) -> Held[Row] | None:
        """
        Raises:
            Unavailable: the store is away.
        """
        (snapshot,) = await self._store.get([self._documents.ref(document)])
        return self._documents.load(snapshot)

    async def make(
        self, document: str, rule: Rule, *, guess: Guess | None = None, patient: bool = False
    ) -> Held[Row] | None:
        """Do what the rule says of the row, until it stands: the row as it is then.

        A store that is away is waited for if one is `patient`, or once a write was perhaps applied.

        Raises:
            AnvilError: whatever the rule raises.
            Unavailable: nothing was written.
            Ambiguous: perhaps something was, and it could not be found out.
        """
        lost: Transient = Contended("other writes won every race")
        removing: Remove | None = None
        async for _ in self._tries():
            step: Step | None = None
            try:
                found, guess = guess.row if guess else await self.found(document), None
                if removing is not None and removing.has_happened(found):
                    return None
                step = rule(found)
                return await self._done(document, step)
            except (AlreadyExists, PreconditionFailed, Contended):
                continue
            except Ambiguous as error:
                lost, removing = error, step if isinstance(step, Remove) else None
            except Unavailable as error:
                if isinstance(lost, Ambiguous):
                    continue
                if not patient:
                    raise
                lost = error
        raise lost

    async def _done(self, document: str, step: Step) -> Held[Row] | None:
        match step:
            case Stands(found=found):
                return found
            case Put(row=row):
                (version,) = await self._store.commit([self._documents.write(document, step)])
                return Held(row, version)
            case Remove():
                await self._store.commit([self._documents.write(document, step)])
                return None

    async def _tries(self) -> AsyncIterator[None]:
        """As often as time allows, with a jittered pause between that grows."""
        until = self._clock.elapsed() + deadline.left(self._clock, at_most=self._patience)
        pause = _FIRST_PAUSE
        yield
        while self._clock.elapsed() < until:
            await self._clock.sleep(pause * (0.5 + self._ids.fraction() / 2))
            pause = min(pause * 2, _LONGEST_PAUSE)
            yield
