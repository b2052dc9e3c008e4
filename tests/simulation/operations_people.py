"""Those who execute operations, and those who find out afterwards what became of them; all through ingress."""

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pydantic import JsonValue

from services.kernel.errors import (
    AlreadySettled,
    AnvilError,
    AttemptRunning,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    Invalid,
    NotFound,
    OutcomeUnknown,
    StaleVersion,
    Transient,
)
from services.kernel.wire import api
from services.kernel.wire import ledger as wire
from services.kernel.wire.operations import LONGEST_EXECUTION, Execute, Executed
from tests.simulation.gate import Gate
from tests.simulation.invariants.ledger import KEY
from tests.simulation.ledger_history import number
from tests.simulation.operations_upstream import Effect, Execution, executing
from tests.simulation.operations_world import COLLECTION, INVOICE, OperationsWorld

ADA: Final = "ada@example.com"
BOB: Final = "bob@example.com"
EVIDENCE: Final = hashlib.sha256(b"what the other system's books say").hexdigest()

_PATIENCE: Final = 12
_ASKS_AGAIN_AFTER: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """One person with one key for one request. What it is told is held against what the other system did."""

    world: OperationsWorld
    actor: str = ADA
    key: str = "one"
    number: int = 1
    operation: str = INVOICE

    async def tries(self, gate: Gate) -> Executed:
        """Ask once."""
        execution = Execution(actor=self.actor, key=self.key, number=self.number, operation=self.operation)
        self.world.executions.append(execution)
        call = self.world.history.executes(execution)
        before = executing.set(execution)
        try:
            executed = await gate.person(self.actor).call(
                api.EXECUTE_OPERATION,
                path={"operation": self.operation},
                body=Execute(input={"number": self.number}),
                headers={"Idempotency-Key": f"{KEY}{self.key}"},
                within=LONGEST_EXECUTION,
            )
        except AnvilError as error:
            call.refused(error)
            self._refused(execution, error)
            raise
        finally:
            executing.reset(before)
        call.told(executed)
        self._told(execution, executed)
        return executed

    async def insists(self) -> str:
        """Ask until there is an answer: what it was."""
        for _ in range(_PATIENCE):
            try:
                executed = await self.tries(self.world.gate())
            except Transient:
                self.world.clock.move(_ASKS_AGAIN_AFTER)
                continue
            except (IdempotencyInProgress, OutcomeUnknown, IdempotencyKeyReused) as error:
                return error.code
            return "replayed" if executed.replayed else str(executed.status)
        raise TimeoutError("nobody answered")

    def _told(self, execution: Execution, executed: Executed) -> None:
        reach, effects = self.world.reach, self.world.books.effects
        reach("a call that was refused, and its key free again", when=executed.status == 422)
        reach("a replay", when=executed.replayed)
        reach("an ambiguous reservation, found to be another's", when=executed.replayed and execution.doubted)
        reach("a result that no row holds", when=executed.ledger_ref is not None)
        if executed.status == 422:
            return
        mine = [each for each in effects if each.reservation in execution.reservations]
        possible = [each for each in effects if each.by is not None and each.by.key == self.key]
        found = [each for each in (possible if executed.replayed else mine) if _says(each, executed)]
        if not found:
            self.world.violations.append(f"I13: {execution} was told {executed}, which nothing did")
        elif not any(each.by is not None and each.by.request == execution.request for each in found):
            self.world.violations.append(f"I6: {execution} was told what {found[0].by} had done")

    def _refused(self, execution: Execution, error: AnvilError) -> None:
        world, reach = self.world, self.world.reach
        told = f"{error!r} {error.detail} {error.fields} {error.ledger_ref}"
        world.violations += [f"I5: an error tells of {each}" for each in (KEY, "canary", BOB, ADA) if each in told]
        doubted = isinstance(error, IdempotencyInProgress | IdempotencyKeyReused) and execution.doubted
        reach("an ambiguous reservation, found to be another's", when=doubted)
        if isinstance(error, IdempotencyKeyReused):
            met = [each.actor for each in world.executions if (each.key, each.operation) == (self.key, self.operation)]
            reach("two callers with one key, of whom one is refused", when=len(set(met)) > 1)
        late = isinstance(error, OutcomeUnknown) and not world.witness.settled.isdisjoint(execution.reservations)
        reach("a late completion of what was settled, refused", when=late)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Looks at a row, then at the other system's books, and settles by these alone. Never wrong, perhaps late.

    `door` is the instance of ingress that is asked where nothing else is said.
    """

    world: OperationsWorld
    actor: str = ADA
    door: int = 0

    async def looks(self, gate: Gate, document: str) -> wire.LedgerRowView:
        asked = gate.person(self.actor).call(api.GET_LEDGER_ROW, path=_row(document))
        return await self.world.history.looks(document, asked)

    async def judges(self, gate: Gate, row: wire.LedgerRow) -> wire.Settled:
        """One verdict, on the row as it was seen."""
        document = row.ledger_ref.rpartition("/")[2]
        acted = self._acted(document, row)
        person, headers = gate.person(self.actor), {"If-Match": f'"{row.version}"'}
        reach, why = self.world.reach, {"evidence_sha256": EVIDENCE, "reason": "as the books say"}
        try:
            if acted is None:
                asked = wire.ReleaseRow(**why)
                call = person.call(api.RELEASE_LEDGER_ROW, path=_row(document), body=asked, headers=headers)
                settled = await self.world.history.judges(document, row.version, call)
                reach("an unknown outcome, released")
            else:
                response = wire.SettledResponse(status=201, body=None if acted.is_huge else acted.body)
                done = wire.CompleteRow(**why, response=response)
                call = person.call(api.COMPLETE_LEDGER_ROW, path=_row(document), body=done, headers=headers)
                effect = number(response.body)
                settled = await self.world.history.judges(document, row.version, call, effect=effect)
                reach("an unknown outcome, completed")
        except AnvilError as error:
            reach("a verdict on what changed since, refused", when=isinstance(error, StaleVersion))
            reach("a verdict while a call may be running, refused", when=isinstance(error, AttemptRunning))
            raise
        return settled

    async def notes(self, gate: Gate, row: wire.LedgerRow) -> None:
        await gate.person(self.actor).call(
            api.NOTE_LEDGER_ROW,
            path=_row(row.ledger_ref.rpartition("/")[2]),
            body=wire.Note(reason="the books are closed until noon"),
            headers={"If-Match": f'"{row.version}"'},
        )

    async def settles(self, document: str, *, noting: bool = False) -> None:
        """Until it is settled, by this operator or somebody else."""
        for _ in range(_PATIENCE):
            try:
                row = await self.looks(self.world.gate(self.door), document)
                if row.status is wire.RowStatus.COMPLETED:
                    return
                if noting:
                    await self.notes(self.world.gate(self.door), row)
                    noting = False
                await self.judges(self.world.gate(self.door), row)
            except (NotFound, AlreadySettled):
                return
            except (Transient, StaleVersion):
                self.world.clock.move(_ASKS_AGAIN_AFTER)
            except AttemptRunning:
                self.world.clock.move(timedelta(minutes=2))
            else:
                return
        raise TimeoutError("nobody settled it")

    def _acted(self, document: str, row: wire.LedgerRow) -> Effect | None:
        """What the books have of this row's calls, which all came since it was begun."""
        found = self.world.books.latest(document)
        return None if found is None or found.at < row.started_at else found


class SettledWorld(OperationsWorld):
    """A world in which all that is open is settled in the end."""

    async def calm(self) -> None:
        self.books.are_well()
        await super().calm()
        await self.settle()
        await reconcile(self)


async def reconcile(world: OperationsWorld) -> None:
    """Time goes on, operators settle what is open, and everybody asks once more."""
    world.clock.move(timedelta(minutes=2))
    for document in world.in_progress():
        await Operator(world=world).settles(document)
    for execution in {(*each.request, each.key): each for each in world.executions}.values():
        asks = Customer(
            world=world,
            actor=execution.actor,
            key=execution.key,
            number=execution.number,
            operation=execution.operation,
        )
        with suppress(Invalid):
            answer = await asks.insists()
            if answer in ("idempotency_in_progress", "idempotency_outcome_unknown"):
                world.violations.append(f"I12: {execution} is told {answer} when everything is settled")
    if world.in_progress():
        world.violations.append(f"I12: {sorted(world.in_progress())} are in progress in the end")


def _says(effect: Effect, executed: Executed) -> bool:
    if not executed.replayed:
        return (executed.status, executed.result) == (201, effect.body)
    summary: list[JsonValue] = [None] if effect.is_huge else []
    return executed.status == 201 and executed.result in [effect.kept, *summary]


def _row(document: str) -> dict[str, str]:
    return {"collection": COLLECTION, "document": document}
