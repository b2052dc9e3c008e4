"""What is sent for an input: each field of it in its one place.

Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import orjson

from services.coordinator.operations.model import Operation, Place, Upstream
from services.coordinator.operations.modes import RULES, Carries
from services.coordinator.operations.schema import Fields
from services.coordinator.operations.target import PLACEHOLDER, fields_of_path
from services.kernel.errors import FieldProblem, Invalid
from services.kernel.strict_json import JsonValue

KEY_SHOWN: Final = "{idempotency-key}"
"""Stands for the key where a dry run shows a path that has it."""

LONGEST_TARGET: Final = 8 * 1024
"""Bytes of path and query together, which is what most servers take at most."""

_A_KEY: Final = "0" * 64
"""As long as any that the other system is given."""

_DOTS: Final = (".", "..")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """A request as it goes out, again and again the same. `target` is path and query."""

    upstream: Upstream
    method: str
    target: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)


def fit(operation: Operation, input_: Fields) -> None:
    """That each field can stand in its place, whatever the key.

    Raises:
        Invalid: one cannot, or the path and the query get too long by it, or what is to be the id is none.
    """
    _check_id(operation, input_)
    _check_carrier(operation, input_)
    target = _target(operation, input_, _A_KEY)
    if len(target) > LONGEST_TARGET:
        said = f"path and query would have {len(target)} bytes, at most {LONGEST_TARGET} are sent; this is most of them"
        raise _refused(max(_placed(operation, input_), key=lambda name: _length(name, input_)), said)


def outbound(operation: Operation, input_: Fields, *, key: str | None, secret: str | None) -> Outbound:
    """The request with the key that the other system is given, and with the credential's secret.

    Raises:
        Invalid: a field cannot stand where the catalogue puts it.
    """
    body = _body(operation, input_, key)
    return Outbound(
        upstream=operation.upstream,
        method=operation.method,
        target=_target(operation, input_, key),
        headers={
            "Host": operation.upstream.authority,
            "User-Agent": "anvil",
            "Accept": "application/json",
            # What is read is bounded as it comes in; nothing may unfold here.
            "Accept-Encoding": "identity",
            "Connection": "close",
            **({} if body is None else {"Content-Type": "application/json"}),
            **_credential(operation, secret),
            **_carried(operation, key, Place.HEADER),
        },
        body=None if body is None else orjson.dumps(body),
    )


def shown(operation: Operation, input_: Fields, *, keyed: bool) -> JsonValue:
    """What a dry run shows: what would be sent, without the key and the credential.

    Raises:
        Invalid: a field cannot stand where the catalogue puts it.
    """
    path = _path(operation, input_, KEY_SHOWN if keyed else None).replace(quote(KEY_SHOWN, safe=""), KEY_SHOWN)
    target = f"{operation.upstream.url}{path}{_query(operation, input_, None)}"
    return {"method": operation.method, "url": target, "body": _body(operation, input_, None)}


def _check_id(operation: Operation, input_: Fields) -> None:
    """Without an id nothing makes a repeat safe where only the id does."""
    carrier = operation.carrier
    if carrier is None or RULES[operation.mode].carries is not Carries.ID:
        return
    given = input_.get(carrier.name)
    is_text = isinstance(given, str) and given.strip()
    if not is_text and not (isinstance(given, int | float) and not isinstance(given, bool) and given == int(given)):
        raise _refused(carrier.name, "must be text that is not empty, or a whole number: it is the id of the request")


def _check_carrier(operation: Operation, input_: Fields) -> None:
    """Many servers take query and body as one: a field by the key's name could stand for the key there."""
    carrier = operation.carrier
    if carrier is None or RULES[operation.mode].carries is not Carries.KEY or carrier.name not in input_:
        return
    if carrier.place in (Place.QUERY, Place.BODY):
        raise _refused(carrier.name, "must not be given: it is how the key travels")


def _target(operation: Operation, input_: Fields, key: str | None) -> str:
    return f"{operation.upstream.base}{_path(operation, input_, key)}{_query(operation, input_, key)}"


def _placed(operation: Operation, input_: Fields) -> Sequence[str]:
    """The fields of this input that are in the path or the query."""
    return [name for name in (*fields_of_path(operation), *operation.query) if name in input_]


def _length(name: str, input_: Fields) -> int:
    return sum(len(quote(text, safe="")) + len(name) for text in _texts(name, input_[name]))


def _path(operation: Operation, input_: Fields, key: str | None) -> str:
    names = fields_of_path(operation)
    given = {name: _segment(name, input_) for name in names}
    path = PLACEHOLDER.sub(lambda found: given.get(found[1], quote(key or "", safe="")), operation.path)
    if any(segment in _DOTS for segment in path.split("/")):
        raise _refused(names[0], "must not make a step up or none of the path")
    return path


def _segment(name: str, input_: Fields) -> str:
    if not (text := _text(name, input_[name])):
        raise _refused(name, "must not be empty: it is a part of the path")
    return quote(text, safe="")


def _query(operation: Operation, input_: Fields, key: str | None) -> str:
    given = [(name, text) for name in operation.query if name in input_ for text in _texts(name, input_[name])]
    pairs = [*given, *_carried(operation, key, Place.QUERY).items()]
    return ("?" if pairs else "") + "&".join(f"{quote(name, safe='')}={quote(text, safe='')}" for name, text in pairs)


def _body(operation: Operation, input_: Fields, key: str | None) -> dict[str, JsonValue] | None:
    if not operation.sends_a_body:
        return None
    placed = {*fields_of_path(operation), *operation.query}
    rest = {name: value for name, value in input_.items() if name not in placed}
    return {**rest, **_carried(operation, key, Place.BODY)}


def _carried(operation: Operation, key: str | None, place: Place) -> Mapping[str, str]:
    carrier = operation.carrier
    if key is None or carrier is None or carrier.place is not place or RULES[operation.mode].carries is Carries.ID:
        return {}
    return {carrier.name: key}


def _credential(operation: Operation, secret: str | None) -> Mapping[str, str]:
    if operation.credential is None or secret is None:
        return {}
    scheme = operation.credential.scheme
    return {operation.credential.header: secret if scheme is None else f"{scheme} {secret}"}


def _texts(name: str, value: JsonValue) -> Sequence[str]:
    if isinstance(value, list):
        return [_text(name, item) for item in value]
    return [] if value is None else [_text(name, value)]


def _text(name: str, value: JsonValue) -> str:
    match value:
        case str():
            return value
        case bool() | int() | float():
            return orjson.dumps(value).decode()
        case _:
            raise _refused(name, "must be text, a number or a boolean")


def _refused(name: str, message: str) -> Invalid:
    problem = FieldProblem(field=f"input.{name}", message=message)
    said = f"the input cannot be sent as the catalogue says: {problem.field}: {message}"
    return Invalid(said, fields=(problem,))
