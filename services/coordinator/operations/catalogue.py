"""The catalogue file: bytes in, operations or one clear refusal out.

Pure. What is wrong is said with the line and the field, and a coordinator does not start with it.
"""

import hashlib
import re
from datetime import timedelta
from typing import Final

from services.coordinator.operations import target
from services.coordinator.operations.carriers import carrier, credential
from services.coordinator.operations.model import MAX_ATTEMPTS, MAX_TIMEOUT, Catalogue, Operation
from services.coordinator.operations.modes import RULES, Need
from services.coordinator.operations.redaction import is_pointer
from services.coordinator.operations.schema import Fields, NotASchema, Schema
from services.kernel import canonical_json
from services.kernel.errors import Invalid
from services.kernel.strict_yaml import Limits, Refused, Value, read
from services.kernel.wire.operations import Mode

LIMITS: Final = Limits(size=1024 * 1024, depth=32, nodes=65_536)
MAX_OPERATIONS: Final = 200
MAX_TITLE: Final = 200
"""Bytes in UTF-8."""

NONE: Final = Catalogue(operations={}, digest=hashlib.sha256(b"").hexdigest())
"""Where no catalogue is configured."""

DEFAULT_ATTEMPTS: Final = 3
_REPLAY_SECONDS: Final = range(60, 31_536_000 + 1)
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_NEVER_PROOF: Final = frozenset({408, 409, 425, 429})
_ID = re.compile(r"[a-z][a-z0-9-]{0,62}")

_REQUIRED: Final = frozenset(
    {"id", "title", "approved", "upstream", "method", "path", "input", "idempotency", "success", "timeoutSeconds"}
)
_OPTIONAL: Final = frozenset({"query", "credential", "provesNoEffect", "attempts", "replayTtlSeconds", "redact"})


def parse(raw: bytes, *, replay_ttl: timedelta, allow_local: bool) -> Catalogue:
    """What the file declares. `replay_ttl` is for operations that say nothing of it; `allow_local` lets `http` and
    addresses that are not public through.

    Raises:
        Refused: the first thing that is wrong, with its line and field.
    """
    file = Value(read(raw, limits=LIMITS))
    top = file.fields(required=frozenset({"version", "operations"}))
    if top["version"].whole() != 1:
        raise top["version"].refused("only version 1 is known")
    found: dict[str, Operation] = {}
    for item in top["operations"].items(at_most=MAX_OPERATIONS):
        operation = _operation(item, replay_ttl=replay_ttl, allow_local=allow_local)
        if operation.id in found:
            raise item.refused(f"there is another operation {operation.id!r}")
        found[operation.id] = operation
    return Catalogue(operations=found, digest=_digest(file))


def _operation(item: Value, *, replay_ttl: timedelta, allow_local: bool) -> Operation:
    fields = item.fields(required=_REQUIRED, optional=_OPTIONAL)
    method = _one_of(fields["method"], _METHODS)
    input_, schema = _schema(fields["input"])
    mode, carried = carrier(fields["idempotency"])
    query = _query(fields["query"]) if "query" in fields else ()
    operation = Operation(
        id=_named(fields["id"]),
        title=fields["title"].filled(at_most=MAX_TITLE),
        approved=fields["approved"].flag(),
        upstream=target.upstream(fields["upstream"], allow_local=allow_local),
        method=method,
        path=target.path(fields["path"]),
        query=query,
        input=input_,
        schema=schema,
        mode=mode,
        carrier=carried,
        credential=credential(fields["credential"]) if "credential" in fields else None,
        success=_success(fields["success"]),
        proves_no_effect=_proofs(fields["provesNoEffect"]) if "provesNoEffect" in fields else frozenset(),
        timeout=fields["timeoutSeconds"].seconds(at_most=MAX_TIMEOUT),
        attempts=_attempts(fields["attempts"], mode) if "attempts" in fields else _usual_attempts(mode),
        replay_ttl=_ttl(fields["replayTtlSeconds"]) if "replayTtlSeconds" in fields else replay_ttl,
        redact=_pointers(fields["redact"]) if "redact" in fields else (),
    )
    target.check(operation, item, fields)
    return operation


def _named(field: Value) -> str:
    if _ID.fullmatch(name := field.text()) is None:
        raise field.refused("is made of a-z, 0-9 and '-', begins with a letter, and has at most 63 characters")
    return name


def _one_of(field: Value, known: tuple[str, ...]) -> str:
    if (word := field.text()) not in known:
        raise field.refused(f"must be one of {', '.join(known)}")
    return word


def _schema(field: Value) -> tuple[Fields, Schema]:
    found = field.json()
    if not isinstance(found, dict):
        raise field.refused("must be a mapping")
    try:
        return found, Schema(found)
    except NotASchema as error:
        raise field.refused(str(error)) from error


def _query(field: Value) -> tuple[str, ...]:
    names = [item.filled(at_most=target.MAX_NAME) for item in field.items(at_most=target.MAX_FIELDS)]
    if len(set(names)) != len(names):
        raise field.refused("names a field twice")
    return tuple(names)


def _success(field: Value) -> frozenset[int]:
    statuses = _statuses(field)
    if not statuses or not all(200 <= status <= 299 for status in statuses):
        raise field.refused("must list statuses from 200 to 299")
    return statuses


def _proofs(field: Value) -> frozenset[int]:
    statuses = _statuses(field)
    for status in sorted(statuses):
        if not 400 <= status <= 499 or status in _NEVER_PROOF:
            raise field.refused(f"{status} is no proof that nothing happened")
    return statuses


def _statuses(field: Value) -> frozenset[int]:
    return frozenset(item.whole() for item in field.items(at_most=100))


def _attempts(field: Value, mode: Mode) -> int:
    most = MAX_ATTEMPTS if RULES[mode].repeats is not Need.NEVER else 1
    if not 1 <= (attempts := field.whole()) <= most:
        raise field.refused(f"must be from 1 to {most} in mode {mode}")
    return attempts


def _usual_attempts(mode: Mode) -> int:
    return 1 if RULES[mode].repeats is Need.NEVER else DEFAULT_ATTEMPTS


def _ttl(field: Value) -> timedelta:
    if (seconds := field.whole()) not in _REPLAY_SECONDS:
        raise field.refused(f"must be from {_REPLAY_SECONDS[0]} to {_REPLAY_SECONDS[-1]} seconds")
    return timedelta(seconds=seconds)


def _pointers(field: Value) -> tuple[str, ...]:
    for item in field.items(at_most=100):
        if not is_pointer(item.text()):
            raise item.refused("must be a JSON pointer (RFC 6901), as '/token'")
    return tuple(item.text() for item in field.items(at_most=100))


def _digest(file: Value) -> str:
    try:
        return hashlib.sha256(canonical_json.encode(file.json())).hexdigest()
    except Invalid as error:
        raise Refused(error.detail) from error
