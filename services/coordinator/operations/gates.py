"""What a request has to pass before anything leaves or is written; `operations.py` has the order.

Pure. Each gate is one question with one refusal.
"""

import re
from collections.abc import Sequence

from services.coordinator.operations.model import Catalogue, Operation
from services.coordinator.operations.modes import RULES, Need
from services.kernel import addresses
from services.kernel.addresses import Address
from services.kernel.errors import (
    ConfirmationRequired,
    FieldProblem,
    IdempotencyKeyRequired,
    Invalid,
    LedgerUnavailable,
    NotFound,
    OperationNotApproved,
    UpstreamUnavailable,
)
from services.kernel.wire.operations import Execute

_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def known(catalogue: Catalogue, operation_id: str) -> Operation:
    """
    Raises:
        NotFound: the catalogue has no such operation.
    """
    operation = catalogue.operations.get(operation_id)
    if operation is None:
        raise NotFound("there is no such operation")
    return operation


def approved(operation: Operation) -> None:
    """
    Raises:
        OperationNotApproved: it is in the catalogue, and not to be used (yet, or any more).
    """
    if not operation.approved:
        raise OperationNotApproved(f"operation {operation.id} is not approved")


def confirmed(operation: Operation, asked: Execute) -> None:
    """
    Raises:
        ConfirmationRequired: nothing makes a repeat safe, so nobody calls by mistake (R130).
    """
    if RULES[operation.mode].confirmation and not asked.confirm:
        raise ConfirmationRequired(f"operation {operation.id} cannot be undone or repeated; it needs `confirm: true`")


def keyed(operation: Operation, key: str | None) -> str | None:
    """The key, where there is one and the operation has a use for it.

    Raises:
        IdempotencyKeyRequired: there is none.
        Invalid: it has no use for one, and to take it would promise what it does not do; or it is no key.
    """
    need = RULES[operation.mode].key
    if key is None:
        if need is Need.REQUIRED:
            raise IdempotencyKeyRequired
        return None
    if need is Need.NEVER:
        raise _refused_key(f"operation {operation.id} has mode {operation.mode}, which has no use for a key")
    if _KEY.fullmatch(key) is None:
        raise _refused_key("must be 1 to 255 visible ASCII characters")
    return key


def public(operation: Operation, found: Sequence[Address], *, allow_local: bool) -> Sequence[Address]:
    """The addresses, if each of them is one that anybody may reach.

    Raises:
        UpstreamUnavailable: one is not, or there is none: nothing is called there.
    """
    if not found:
        raise UpstreamUnavailable(f"the host of operation {operation.id} has no address")
    if not allow_local and addresses.refused(found) is not None:
        raise UpstreamUnavailable(f"the host of operation {operation.id} has an address that is not public")
    return found


def guarded(operation: Operation, *, keyed: bool, durable: bool | None, dev: bool) -> bool:
    """Whether the ledger guards this call. `durable` is the ledger's own word, None where none is configured.

    Raises:
        LedgerUnavailable: it is needed, and there is none, or one that forgets (R123, I14).
    """
    need = RULES[operation.mode].ledger
    if need is Need.NEVER or (need is Need.OPTIONAL and not keyed):
        return False
    usable = durable is not None and (durable or dev)
    if need is Need.REQUIRED and not usable:
        raise LedgerUnavailable("this needs a durable idempotency ledger, and none is configured; nothing was called")
    return usable


def _refused_key(message: str) -> Invalid:
    return Invalid(message, fields=(FieldProblem(field="Idempotency-Key", message=message),))
