"""One declaration of an HTTP endpoint, from which it is served, called and described.

`kernel.web` serves it and writes its OpenAPI, `kernel.client` calls it. `request` is the JSON body, beside which there
is no query, or for GET and DELETE the query string. `{name}` in the path is one segment; a custom method follows a
colon (`/v1/runs/{run}:claim`).
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from services.kernel.errors import AnvilError
from services.kernel.wire.model import Wire

Request = TypeVar("Request", bound=Wire, covariant=True)
Response = TypeVar("Response", bound=Wire, covariant=True)


class Audience(StrEnum):
    """Who may call: one of our own services, the task queue or the scheduler, or a person of at least this role."""

    PUBLIC = "public"
    HOOKS = "hooks"
    CONSOLE = "console"
    RUNNER = "runner"
    TASKS = "tasks"
    SCHEDULER = "scheduler"
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Generic[Request, Response]):
    """`status` is the one of success, `errors` what a client must expect besides bad input and being turned away."""

    method: str
    path: str
    summary: str
    request: type[Request]
    response: type[Response]
    audience: Audience
    status: int = 200
    errors: tuple[type[AnvilError], ...] = ()
    headers: tuple[str, ...] = field(default=())
    media_type: str = "application/json"
