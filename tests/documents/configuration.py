"""`docs/configuration.md` as the settings' own declarations make it. Pure."""

from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Literal, cast, get_args, get_origin

import orjson
from annotated_types import Ge, Gt, Le, MinLen
from pydantic.fields import FieldInfo

from services.coordinator.settings import CoordinatorSettings
from services.ingress.settings import IngressSettings
from services.kernel.settings import DevOnly, ServiceSettings
from services.runner.settings import RunnerSettings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"

SERVICES: Mapping[str, type[ServiceSettings]] = {
    "Ingress": IngressSettings,
    "Coordinator": CoordinatorSettings,
    "Runner": RunnerSettings,
}

_INTRODUCTION = """\
# Configuration

Each service reads the variables below once, when it starts. A variable that is missing, malformed or not allowed stops
the start with one line that names it, and with exit code 4, which tells the server not to try again. Variables that a
service does not know are ignored. Lists are JSON (`["a@example.com"]`); sizes and times say their unit in their name.

*Dev only* marks what is refused unless `ANVIL_ENVIRONMENT` is `dev`: such a value, or, where no value is named, any but
the default. The local stack sets all of these itself ([local.md](local.md)).

This page is written by `make docs` from the declarations in `services/*/settings.py`; a test fails if it is not.
"""

_KINDS: Mapping[object, str] = {
    str: "text",
    Path: "path",
    bool: "`true` or `false`",
    int: "whole number",
    float: "number",
}


def page() -> str:
    """The whole page."""
    shared = ServiceSettings.model_fields
    tables = [_section("Every service", ServiceSettings, shared)]
    for name, kind in SERVICES.items():
        own = {field: declared for field, declared in kind.model_fields.items() if field not in shared}
        tables.append(_section(name, kind, own))
    return "\n".join([_INTRODUCTION, *tables])


def _section(title: str, kind: type[ServiceSettings], fields: Mapping[str, FieldInfo]) -> str:
    rows = (_row(kind.variable(name), declared) for name, declared in fields.items())
    return "\n".join([f"## {title}", "", "| variable | type | default | meaning |", "|---|---|---|---|", *rows, ""])


def _row(variable: str, declared: FieldInfo) -> str:
    meaning = " ".join([declared.description or "", *_dev_only(declared)])
    cells = [f"`{variable}`", ", ".join([_kind(declared.annotation), *_bounds(declared)]), _default(declared), meaning]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _kind(annotation: object) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _one_of(arguments)
    if origin is UnionType:
        return " or ".join(_kind(each) for each in arguments if each is not type(None))
    if origin is frozenset:
        return f"list of {_kind(arguments[0])}"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _one_of([member.value for member in annotation])
    return _KINDS[annotation]


def _one_of(values: Collection[object]) -> str:
    return " or ".join(f"`{value}`" for value in values)


def _bounds(declared: FieldInfo) -> Iterator[str]:
    for bound in declared.metadata:
        match bound:
            case Ge(ge=least):
                yield f"at least {least}"
            case Gt(gt=below):
                yield f"more than {below}"
            case Le(le=most):
                yield f"at most {most}"
            case MinLen(min_length=least):
                yield f"at least {least} of them"
            case _:
                continue


def _dev_only(declared: FieldInfo) -> Iterator[str]:
    for mark in declared.metadata:
        if isinstance(mark, DevOnly):
            yield f"*Dev only{': ' if mark.values else ''}{_one_of(mark.values)}.*"


def _default(declared: FieldInfo) -> str:
    value: object = declared.default
    match value:
        case _ if declared.is_required():
            return "required"
        case None:
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case frozenset():
            return f"`{orjson.dumps(sorted(cast('frozenset[str]', value))).decode()}`"
        case _:
            return f"`{value}`"
