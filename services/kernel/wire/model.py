"""The house style of every message: camelCase outside, snake_case inside, unknown fields refused, times in UTC."""

from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from services.kernel.ids import COMMIT_SHA, PROJECT_ID, RUN_ID, SLUG


def rfc3339(moment: datetime) -> str:
    """`2026-11-30T09:30:00.123Z`: UTC, milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _in_utc(moment: datetime) -> datetime:
    """The moment in UTC, which years 1 and 9999 may leave.

    Raises:
        ValueError: it is outside of what a calendar holds there.
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("not a time of the years 1 to 9999 in UTC") from error


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc), PlainSerializer(rfc3339, return_type=str, when_used="json")]
"""A point in time; RFC 3339 with milliseconds on the wire."""

SlugText = Annotated[str, Field(pattern=rf"^{SLUG}$")]
ProjectIdText = Annotated[str, Field(pattern=rf"^{PROJECT_ID}$")]
RunIdText = Annotated[str, Field(pattern=rf"^{RUN_ID}$")]
ShaText = Annotated[str, Field(pattern=rf"^(?:{COMMIT_SHA})$")]
BranchText = Annotated[str, Field(min_length=1, max_length=1024)]


class Wire(BaseModel):
    """A message. Immutable; an unknown field is refused by name."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class Empty(Wire):
    """A message that says nothing but that it came."""


Item = TypeVar("Item")


class Page(Wire, Generic[Item]):
    """A part of a list, newest first; `next_page_token` is absent at the end."""

    items: tuple[Item, ...]
    next_page_token: str | None = Field(default=None, exclude_if=lambda token: token is None)


class PageQuery(Wire):
    """Which part of a list is asked for."""

    page_size: int = Field(default=20, ge=1, le=100)
    page_token: str | None = Field(default=None, max_length=2000)
