"""The JSON Schema (2020-12) that an operation's input has to meet.

Pure. Nothing is fetched, formats are checked, and a refusal names fields without repeating what was in them.
"""

from collections.abc import Mapping
from typing import TypeAlias, cast

import jsonschema_rs

from services.kernel.errors import FieldProblem, Invalid
from services.kernel.strict_json import JsonValue

Fields: TypeAlias = Mapping[str, JsonValue]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MOST_PROBLEMS = 20
_MOST_SAID = 5
_MASK = "the value"


class NotASchema(ValueError):
    """It is not a JSON Schema that this can hold inputs to."""


class Schema:
    """Judges inputs; made once, used by any number of calls."""

    def __init__(self, schema: Fields) -> None:
        """
        Raises:
            NotASchema: it is no schema of an object, or not whole without something from elsewhere.
        """
        if schema.get("type") != "object":
            raise NotASchema("must be a schema with `type: object`")
        if schema.get("$schema", _DIALECT) != _DIALECT:
            raise NotASchema(f"must be of the dialect {_DIALECT}")
        if "$id" in schema:
            raise NotASchema("must not have an `$id`: nothing else refers to it")
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                dict(schema),
                mask=_MASK,
                offline=True,
                validate_formats=True,
                ignore_unknown_formats=False,
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000),
            )
        except ValueError as error:
            raise NotASchema(f"is not a JSON Schema: {str(error).splitlines()[0]}") from error

    def check(self, value: Fields) -> None:
        """
        Raises:
            Invalid: with each field that does not fit, as the client wrote it.
        """
        problems: list[FieldProblem] = []
        for error in self._validator.iter_errors(dict(value)):
            problems.append(FieldProblem(field=_path(error.instance_path), message=error.message))
            if len(problems) == _MOST_PROBLEMS:
                break
        if problems:
            said = "; ".join(f"{each.field}: {each.message}" for each in problems[:_MOST_SAID])
            raise Invalid(f"the input is not what this operation takes: {said}", fields=tuple(problems))


def properties(schema: Fields) -> frozenset[str]:
    """The top-level fields that a schema names."""
    return frozenset(_mapping(schema.get("properties")))


def required(schema: Fields) -> frozenset[str]:
    """The top-level fields that a schema asks for."""
    found = schema.get("required")
    return frozenset(str(name) for name in found) if isinstance(found, list) else frozenset()


def is_closed(schema: Fields) -> bool:
    """Whether only named fields are let through: none by a pattern either."""
    return schema.get("additionalProperties") is False and "patternProperties" not in schema


def _mapping(value: JsonValue) -> Fields:
    return value if isinstance(value, dict) else {}


def _path(steps: list[str | int]) -> str:
    path = "input"
    for step in steps:
        path += f"[{step}]" if isinstance(cast("object", step), int) else f".{step}"
    return path
