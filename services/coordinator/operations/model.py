"""An operation as the catalogue declares it (docs/operations.md).

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final

from services.coordinator.operations.schema import Schema
from services.kernel.addresses import Address
from services.kernel.strict_json import JsonValue
from services.kernel.wire.operations import Mode

MAX_ATTEMPTS: Final = 5
MAX_TIMEOUT: Final = timedelta(seconds=60)
"""For one attempt, the answer's body included."""


class Place(StrEnum):
    """Where in a request something travels."""

    HEADER = "header"
    QUERY = "query"
    BODY = "body"
    PATH = "path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """How the other system is given the key; for mode `client_id`, the field of the input that is the id."""

    place: Place
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Which secret goes into which header, after `scheme` and a space if there is one."""

    profile: str
    header: str
    scheme: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The other system. `authority` is how it is written: host, and port where it is not the scheme's own."""

    scheme: str
    host: str | Address
    port: int
    authority: str
    base: str = ""

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.base}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`schema` judges inputs and was made from `input`; `redact` are JSON pointers into a result."""

    id: str
    title: str
    approved: bool
    upstream: Upstream
    method: str
    path: str
    query: tuple[str, ...]
    input: Mapping[str, JsonValue]
    schema: Schema = field(compare=False, repr=False)
    mode: Mode
    carrier: Carrier | None
    credential: Credential | None
    success: frozenset[int]
    proves_no_effect: frozenset[int]
    timeout: timedelta
    attempts: int
    replay_ttl: timedelta
    redact: tuple[str, ...]

    @property
    def reads(self) -> bool:
        """Whether it changes nothing by what HTTP says of its method."""
        return self.method == "GET"

    @property
    def sends_a_body(self) -> bool:
        return self.method not in ("GET", "DELETE")

    @property
    def profile(self) -> str | None:
        return None if self.credential is None else self.credential.profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """In the file's order. `digest` is the SHA-256 of the file's content in canonical JSON."""

    operations: Mapping[str, Operation]
    digest: str
