"""A request's query or JSON body as its declared model; what does not fit is named field by field."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import ValidationError
from starlette.datastructures import Headers, QueryParams

from services.kernel import strict_json
from services.kernel.errors import FieldProblem, Invalid, UnsupportedMediaType
from services.kernel.wire.model import Wire

Parsed = TypeVar("Parsed", bound=Wire)

_MOST_PROBLEMS = 50
_LONGEST_NAME = 200
_MESSAGES: Mapping[str, str] = {
    "extra_forbidden": "unknown field",
    "missing": "required",
}


def parse_query(model: type[Parsed], query: QueryParams) -> Parsed:
    """
    Raises:
        Invalid: an unknown, repeated or unfit parameter.
    """
    names = [name for name, _ in query.multi_items()]
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise _invalid(
            FieldProblem(field=name[:_LONGEST_NAME], message="given more than once")
            for name in sorted(repeated)[:_MOST_PROBLEMS]
        )
    try:
        return model.model_validate(dict(query), by_alias=True, by_name=False)
    except ValidationError as error:
        raise _refusal(error) from error


def no_query(query: QueryParams) -> None:
    """For a request that is its body alone: what stands beside it would be passed over in silence.

    Raises:
        Invalid: there is a parameter, whichever.
    """
    names = [*dict.fromkeys(name for name, _ in query.multi_items())]
    if names:
        raise _invalid(
            FieldProblem(field=name[:_LONGEST_NAME], message=_MESSAGES["extra_forbidden"])
            for name in names[:_MOST_PROBLEMS]
        )


def parse_json(model: type[Parsed], body: bytes, headers: Headers) -> Parsed:
    """No body at all is read as `{}`: some clients cannot send one where nothing is to be said.

    Raises:
        UnsupportedMediaType: a body that is not declared to be JSON.
        Invalid: not strict JSON, or not this model.
    """
    if body and not is_json(headers):
        raise UnsupportedMediaType("the body must be application/json")
    if body:
        strict_json.parse(body)
    try:
        return model.model_validate_json(body or b"{}", strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        raise _refusal(error) from error


def is_json(headers: Headers) -> bool:
    """Whether the one Content-Type is JSON, in UTF-8 if it says so (RFC 8259 §8.1)."""
    match headers.getlist("content-type"):
        case [value]:
            kind, *parameters = (part.strip().lower() for part in value.split(";"))
            return kind == "application/json" and all(
                part in ("", "charset=utf-8", 'charset="utf-8"') for part in parameters
            )
        case _:
            return False


def _refusal(error: ValidationError) -> Invalid:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return _invalid(
        FieldProblem(
            field=".".join(str(part) for part in each["loc"])[:_LONGEST_NAME],
            message=_MESSAGES.get(each["type"], each["msg"]),
        )
        for each in found[:_MOST_PROBLEMS]
    )


def _invalid(problems: Iterable[FieldProblem]) -> Invalid:
    fields = tuple(problems)
    said = "; ".join(f"{each.field or 'the body'}: {each.message}" for each in fields[:5])
    return Invalid(said, fields=fields)
