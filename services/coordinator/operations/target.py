"""Where an operation goes, as the catalogue says it: the host is pinned, and each field of the input has one place.

Pure.
"""

import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from services.coordinator.operations.model import Carrier, Operation, Place, Upstream
from services.coordinator.operations.modes import RULES, Carries, Need
from services.coordinator.operations.schema import is_closed, properties, required
from services.kernel import addresses
from services.kernel.addresses import Address, NotAHost
from services.kernel.strict_yaml import Value
from services.kernel.wire.operations import Mode

MAX_FIELDS: Final = 100
MAX_NAME: Final = 100
_MAX_URL: Final = 2048
_PORTS: Final = {"https": 443, "http": 80}

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_SEGMENT = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|\{[A-Za-z_][A-Za-z0-9_-]*\})+")


def upstream(field: Value, *, allow_local: bool) -> Upstream:
    """
    Raises:
        Refused: not an https URL of a public host, with at most a port and a path.
    """
    text = field.filled(at_most=_MAX_URL)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise field.refused("is not a URL") from error
    if parts.scheme not in (_PORTS if allow_local else ("https",)):
        raise field.refused("must begin with https://")
    if not parts.netloc or port == 0 or "@" in parts.netloc or set(text) & set("?#\\") or not text.isprintable():
        raise field.refused("must be a scheme, a host and at most a port and a path")
    host = _host(field, parts, allow_local=allow_local)
    written = f"[{host}]" if isinstance(host, IPv6Address) else str(host)
    usual = _PORTS[parts.scheme]
    return Upstream(
        scheme=parts.scheme,
        host=host,
        port=port or usual,
        authority=written if port in (None, usual) else f"{written}:{port}",
        base=_base(field, parts.path),
    )


def path(field: Value) -> str:
    """
    Raises:
        Refused: not segments of plain characters and `{field}` placeholders.
    """
    text = field.filled(at_most=_MAX_URL)
    *before, last = text[1:].split("/")
    if not text.startswith("/") or not all(_is_segment(part) for part in (*before, last or "-")):
        raise field.refused("must be a path as /v1/customers/{customer}, without '..', '%' and a query")
    names = PLACEHOLDER.findall(text)
    if len(set(names)) != len(names):
        raise field.refused("names a field twice")
    return text


def check(operation: Operation, item: Value, fields: Mapping[str, Value]) -> None:
    """That each field of the input, the key and the credential have one place each.

    Raises:
        Refused: with the line and the field.
    """
    _check_fields(operation, fields)
    if operation.reads and operation.mode is not Mode.NATURAL:
        raise fields["idempotency"].refused("GET changes nothing; its mode is natural")
    if operation.carrier is not None:
        check = _check_id if RULES[operation.mode].carries is Carries.ID else _check_key
        check(operation, operation.carrier, fields["idempotency"])
    if clash := operation.success & operation.proves_no_effect:
        raise item.refused(f"{min(clash)} cannot be a success and a proof that nothing happened")


def _check_fields(operation: Operation, fields: Mapping[str, Value]) -> None:
    named, in_path = properties(operation.input), fields_of_path(operation)
    for name in in_path:
        if name not in named & required(operation.input):
            raise fields["path"].refused(f"{{{name}}} must be a required field of the input")
    for name in operation.query:
        if name not in named or name in in_path:
            raise fields["query"].refused(f"{name!r} must be a field of the input that is not in the path")
    placed = {*in_path, *operation.query}
    if not operation.sends_a_body and (not is_closed(operation.input) or named - placed):
        raise fields["input"].refused(
            f"{operation.method} has no body: each field must be in the path or the query, and no other let through"
        )


def fields_of_path(operation: Operation) -> tuple[str, ...]:
    """The placeholders that stand for fields of the input, which the one for the key does not."""
    carried = operation.carrier
    is_key = carried is not None and carried.place is Place.PATH and RULES[operation.mode].carries is Carries.KEY
    return tuple(
        name for name in PLACEHOLDER.findall(operation.path) if not (is_key and carried and name == carried.name)
    )


def place_of(operation: Operation, name: str) -> Place:
    """Where a field of the input travels: in the body, unless the path or the query says otherwise."""
    if name in fields_of_path(operation):
        return Place.PATH
    return Place.QUERY if name in operation.query else Place.BODY


def _check_id(operation: Operation, carried: Carrier, field: Value) -> None:
    if carried.name not in required(operation.input):
        raise field.refused(f"{carried.name!r} must be a required field of the input")
    if place_of(operation, carried.name) is not carried.place:
        raise field.refused(f"{carried.name!r} does not travel in the {carried.place}")


def _check_key(operation: Operation, carried: Carrier, field: Value) -> None:
    if (problem := _problem_of_key(operation, carried.place, carried.name)) is not None:
        raise field.refused(problem)


def _problem_of_key(operation: Operation, place: Place, name: str) -> str | None:
    named, credential = properties(operation.input), operation.credential
    problems = {
        Place.PATH: [
            (name not in PLACEHOLDER.findall(operation.path), f"the path has no {{{name}}}"),
            (name in named, f"{name!r} is a field of the input already"),
            (
                RULES[operation.mode].key is not Need.REQUIRED,
                "a key that may be left out would leave a hole in the path",
            ),
        ],
        Place.QUERY: [(name in named, f"{name!r} is a field of the input already")],
        Place.BODY: [
            (name in named or not is_closed(operation.input), f"the input must not let a field {name!r} through"),
            (not operation.sends_a_body, f"{operation.method} has no body"),
        ],
        Place.HEADER: [
            (
                credential is not None and credential.header.lower() == name.lower(),
                "key and credential cannot be one header",
            )
        ],
    }
    return next((problem for is_one, problem in problems[place] if is_one), None)


def _host(field: Value, parts: SplitResult, *, allow_local: bool) -> str | Address:
    # Not `hostname`, which lowers and cuts by rules of its own.
    authority = parts.netloc
    text = authority if authority.endswith("]") else re.sub(r":[0-9]*\Z", "", authority)
    try:
        host = addresses.host(text)
    except NotAHost as error:
        raise field.refused(f"its host: {error.detail}") from error
    if not isinstance(host, str) and not allow_local and not addresses.is_global(host):
        raise field.refused("its host is not a public address")
    return host


def _base(field: Value, text: str) -> str:
    base = text.rstrip("/")
    if base and not all(_is_segment(part) and "{" not in part for part in base[1:].split("/")):
        raise field.refused("has a path with '..', '%' or a placeholder")
    return base


def _is_segment(text: str) -> bool:
    return _SEGMENT.fullmatch(text) is not None and text not in (".", "..")
