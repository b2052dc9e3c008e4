"""Messages about approved operations: calls to other systems on which Anvil keeps watch."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from pydantic import Field, JsonValue

from services.kernel.wire.model import Wire

RESULT_CEILING = 819_200
"""Bytes of serialised JSON that a replay can hold (R109)."""


LONGEST_EXECUTION: Final = timedelta(minutes=7)
"""Within which every execution has ended: all its attempts, and what is written before and after them."""


class Mode(StrEnum):
    """What makes a repeat of the call safe, and so who guards against one (R126-R130)."""

    REQUIRED = "required"
    """Nothing but a key that the other system honours: the ledger reserves before the call."""
    KEY_SUPPORTED = "key_supported"
    """A key that the caller may give; the ledger is used if there is one."""
    CLIENT_ID = "client_id"
    """An id in the input, which the other system creates once."""
    NATURAL = "natural"
    """It is the same call twice by its nature, as a GET or a PUT is."""
    NONE = "none"
    """Nothing: it needs a confirmation and is never repeated."""


class Replays(Wire):
    """How long a stored result is replayed, and the largest that is stored (R107, R143)."""

    ttl_seconds: int
    ceiling_bytes: int = RESULT_CEILING


class Operation(Wire):
    """An operation of the catalogue. `input` is the JSON Schema of what it takes, `replays` null without a ledger."""

    operation: str
    title: str
    approved: bool
    mode: Mode
    method: str
    upstream: str
    path: str
    input: dict[str, JsonValue]
    replays: Replays | None


class Execute(Wire):
    """`confirm` says that one knows that mode `none` cannot be taken back; a dry run calls nobody."""

    input: dict[str, JsonValue]
    dry_run: bool = False
    confirm: bool = False


class Executed(Wire):
    """The other system's answer: its status and its body (JSON, else text, else null).

    A dry run has no status; its result is what would be sent, without credentials and key. With `ledger_ref` the call
    succeeded, but its result could not be stored: the same key will be refused until an operator has settled it (R110).
    """

    status: int | None
    result: JsonValue
    replayed: bool
    ledger_ref: str | None = Field(default=None, exclude_if=lambda ref: ref is None)


# Ingress to coordinator


class ExecuteOperation(Execute):
    """`actor` is the verified caller, which is part of the request's fingerprint (R98) and in the audit."""

    idempotency_key: str | None = Field(default=None, repr=False)
    actor: str
