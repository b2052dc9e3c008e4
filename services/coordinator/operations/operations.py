"""Approved operations: what there is, and executing one. `execute` has the gates in their order."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TypeAlias

from services.coordinator.ledger import keys
from services.coordinator.ledger.ledger import Ledger
from services.coordinator.operations import gates, listing
from services.coordinator.operations.answers import concluded, passed_on, unanswered, unsettled
from services.coordinator.operations.calls import Calls, Execution
from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.guard import Guard, Place
from services.coordinator.operations.model import Catalogue, Operation
from services.coordinator.operations.modes import is_repeatable
from services.coordinator.operations.redaction import echoes
from services.coordinator.operations.request import fit, outbound, shown
from services.coordinator.operations.trail import Trail
from services.coordinator.operations.upstream import Caller
from services.kernel import deadline
from services.kernel.errors import Ambiguous, AnvilError, LedgerUnavailable, Transient
from services.kernel.ids import AuditId
from services.kernel.log import get_logger
from services.kernel.ports import Clock, Ids
from services.kernel.wire import operations as wire
from services.kernel.wire.audit import Act
from services.kernel.wire.model import Page, PageQuery
from services.kernel.wire.operations import Executed, ExecuteOperation

log = get_logger(__name__)

Work: TypeAlias = Callable[[], Coroutine[None, None, Executed]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What is the deployment's own: `service` and `environment` are part of every key's namespace (R97).

    `allow_local` lets hosts be called that are not public; in dev alone.
    """

    service: str
    environment: str
    allow_local: bool = False

    @property
    def is_dev(self) -> bool:
        return self.environment == "dev"


class Operations:
    """Any number of executions at once. Each runs to its end, also when whoever asked has gone."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        deployment: Deployment,
        caller: Caller,
        credentials: Credentials,
        ledger: Ledger | None,
        trail: Trail,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._catalogue = catalogue
        self._deployment = deployment
        self._caller = caller
        self._credentials = credentials
        self._ledger = ledger
        self._trail = trail
        self._clock = clock
        self._calls = Calls(caller, clock=clock, ids=ids)
        self._under_way: set[asyncio.Task[Executed]] = set()

    async def page(self, query: PageQuery) -> Page[wire.Operation]:
        """The catalogue, in its own order.

        Raises:
            Invalid: the page token is not of this list.
        """
        return listing.page(self._catalogue, query, has_ledger=self._ledger is not None)

    async def execute(self, operation_id: str, asked: ExecuteOperation) -> Executed:
        """Call the other system, under the gates in this order.

        Raises:
            NotFound, OperationNotApproved, Invalid, ConfirmationRequired, IdempotencyKeyRequired: see `gates`.
            Unavailable, LedgerUnavailable: nothing was called.
            IdempotencyKeyReused, IdempotencyInProgress, OutcomeUnknown: see `guard`.
            Ambiguous: no answer came (in time), and asking again is safe.
            OperationOutcomeUnknown: no answer came (in time), and asking again is not safe.
        """
        operation = gates.known(self._catalogue, operation_id)
        gates.approved(operation)
        operation.schema.check(asked.input)
        fit(operation, asked.input)
        gates.confirmed(operation, asked)
        key = gates.keyed(operation, asked.idempotency_key)
        place = None if key is None else self._place(operation, asked, key)
        preview = shown(operation, asked.input, keyed=key is not None)
        if asked.dry_run:
            return Executed(status=None, result=preview, replayed=False)

        found = await self._caller.resolve(operation.upstream.host)
        found = gates.public(operation, found, allow_local=self._deployment.allow_local)
        guard = self._guard(operation, keyed=key is not None)
        secret = self._credentials.secret(operation.profile)
        repeatable = is_repeatable(operation.mode, keyed=key is not None)
        request = outbound(
            operation,
            asked.input,
            key=None if place is None else place.document,
            secret=None if secret is None else secret.text,
        )
        execution = Execution(
            operation=operation,
            request=request,
            found=found,
            attempts=operation.attempts if repeatable else 1,
            masked=() if secret is None else echoes(operation, secret.text),
        )

        async def work() -> Executed:
            if guard is not None and place is not None:
                return await guard.run(execution, place)
            return passed_on(await self._calls.make(execution), repeatable=repeatable)

        reference = None if guard is None or place is None else guard.reference(place)
        lost = unanswered(repeatable=repeatable) if reference is None else unsettled(reference)
        return await self._to_the_end(
            lambda: self._audited(operation, asked.actor, work, must=guard is not None, lost=lost),
            repeatable=repeatable,
        )

    async def drain(self) -> None:
        """Wait for what is under way: what is cut off in the middle needs a person."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _place(self, operation: Operation, asked: ExecuteOperation, key: str) -> Place:
        return Place(
            document=keys.document_id(
                service=self._deployment.service,
                environment=self._deployment.environment,
                upstream=operation.upstream.url,
                profile=operation.profile,
                key=key,
            ),
            fingerprint=keys.request_fingerprint(operation=operation.id, input=asked.input, principal=asked.actor),
        )

    def _guard(self, operation: Operation, *, keyed: bool) -> Guard | None:
        ledger = self._ledger
        durable = None if ledger is None else ledger.durable
        is_guarded = gates.guarded(operation, keyed=keyed, durable=durable, dev=self._deployment.is_dev)
        return Guard(ledger, self._calls, clock=self._clock) if is_guarded and ledger is not None else None

    async def _audited(self, operation: Operation, actor: str, work: Work, *, must: bool, lost: AnvilError) -> Executed:
        """`lost` is what is told of an end that nobody foresaw: something may have left by then."""
        audit_id = None if operation.reads else await self._intend(operation, actor, must=must)
        try:
            executed = await work()
        except AnvilError as error:
            await self._conclude(operation, audit_id, error)
            raise
        except Exception as error:
            log.error("an execution ended as nobody foresaw", operation=operation.id, exc_info=True)
            await self._conclude(operation, audit_id, lost)
            raise lost from error
        await self._conclude(operation, audit_id, executed)
        return executed

    async def _intend(self, operation: Operation, actor: str, *, must: bool) -> AuditId | None:
        try:
            return await self._trail.intend(actor, Act.OPERATION_EXECUTE, f"operations/{operation.id}")
        except Transient as error:
            if must:
                raise LedgerUnavailable("nobody could be told later what was done here; nothing was called") from error
            log.warning("an execution is not in the audit", operation=operation.id, code=error.code)
            return None

    async def _conclude(self, operation: Operation, audit_id: AuditId | None, ended: Executed | AnvilError) -> None:
        if audit_id is None:
            return
        outcome, code = concluded(operation, ended)
        try:
            await self._trail.conclude(audit_id, outcome, code)
        except Exception as error:
            code = error.code if isinstance(error, AnvilError) else AnvilError.code
            log.warning("the end of an execution is not in the audit", operation=operation.id, code=code, exc_info=True)

    async def _to_the_end(self, begin: Work, *, repeatable: bool) -> Executed:
        """Wait for an execution as long as the caller's deadline allows. It goes on without the caller."""
        try:
            async with deadline.within(self._clock, at_most=wire.LONGEST_EXECUTION):
                with deadline.scope(self._clock, None):
                    task = asyncio.create_task(begin())
                self._under_way.add(task)
                task.add_done_callback(self._ended)
                return await asyncio.shield(task)
        except Ambiguous as error:
            raise unanswered(repeatable=repeatable) from error

    def _ended(self, task: asyncio.Task[Executed]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            code = error.code if isinstance(error, AnvilError) else AnvilError.code
            log.info("an execution did not succeed", code=code)
