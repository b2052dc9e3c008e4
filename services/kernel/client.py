"""Typed calls to our own endpoints. Retries nothing: whoever calls knows whether asking again is safe."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from services.kernel import deadline, trace
from services.kernel.endpoint import Endpoint
from services.kernel.errors import Ambiguous, AnvilError, FieldProblem, Permanent, Unavailable
from services.kernel.ports import Clock, IdentityToken, Minter
from services.kernel.wire.model import Empty, Wire

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound=Wire)

ANSWER_WITHIN = timedelta(seconds=30)
CONNECT_WITHIN = timedelta(seconds=2)
_RENEW_BEFORE = timedelta(minutes=1)
_PARAMETER = re.compile(r"\{([a-z_]+)\}")


class Client:
    """Calls one service as whoever the minter mints for. Safe for any number of concurrent calls."""

    def __init__(self, http: httpx2.AsyncClient, *, base_url: str, audience: str, minter: Minter, clock: Clock) -> None:
        self._http = http
        self._base_url = base_url.rstrip("/")
        self._audience = audience
        self._minter = minter
        self._clock = clock
        self._token: IdentityToken | None = None

    async def call(
        self,
        endpoint: Endpoint[Req, Res],
        *,
        path: Mapping[str, str] | None = None,
        body: Req | None = None,
        headers: Mapping[str, str] | None = None,
        within: timedelta = ANSWER_WITHIN,
    ) -> Res:
        """The other side's answer, by the request's deadline and after `within` at the latest.

        Raises:
            AnvilError: the error that the other side raised, known by its code.
            Unavailable: it was not reached; nothing happened.
            Ambiguous: no usable answer; it may have happened.
        """
        return _read(endpoint, await self.fetch(endpoint, path=path, body=body, headers=headers, within=within))

    async def fetch(
        self,
        endpoint: Endpoint[Req, Res],
        *,
        path: Mapping[str, str] | None = None,
        body: Req | None = None,
        headers: Mapping[str, str] | None = None,
        within: timedelta = ANSWER_WITHIN,
    ) -> httpx2.Response:
        """The successful answer as it came, for what is not JSON; otherwise like `call`."""
        async with deadline.within(self._clock, at_most=within) as duration:
            token = await self._identity()
            answer = await self._send(
                endpoint.method,
                self._url(endpoint.path, path or {}),
                query=_query(endpoint.method, body),
                content=_content(endpoint.method, body),
                headers={**_headers(token, duration), **(headers or {})},
                duration=duration,
            )
        if not answer.is_success:
            raise _error(endpoint, answer)
        return answer

    async def _identity(self) -> str:
        if self._token is None or self._token.expires_at - _RENEW_BEFORE <= self._clock.now():
            self._token = await self._minter.mint(self._audience)
        return self._token.value

    def _url(self, template: str, path: Mapping[str, str]) -> str:
        return self._base_url + _PARAMETER.sub(lambda found: quote(path[found[1]], safe=""), template)

    async def _send(
        self,
        method: str,
        url: str,
        *,
        query: Mapping[str, str],
        content: bytes | None,
        headers: Mapping[str, str],
        duration: timedelta,
    ) -> httpx2.Response:
        seconds = duration.total_seconds()
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_WITHIN.total_seconds()))
        try:
            return await self._http.request(
                method, url, params=query, content=content, headers=headers, timeout=timeout, follow_redirects=False
            )
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise Unavailable(f"{self._audience} cannot be reached") from error
        except httpx2.RequestError as error:
            raise Ambiguous(f"{self._audience} gave no answer") from error


class _Problem(BaseModel):
    """A problem document as the other side wrote it; the rest of it is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, hide_input_in_errors=True)

    class Field(BaseModel):
        field: str
        message: str

    code: str
    detail: str = ""
    retryable: bool = False
    errors: tuple[Field, ...] = ()
    retry_after_seconds: int | None = None
    ledger_ref: str | None = None


def _headers(token: str, duration: timedelta) -> dict[str, str]:
    """The token goes twice, because Cloud Run keeps the one it checks and passes the other on untouched."""
    traceparent = trace.current_header()
    return {
        "Authorization": f"Bearer {token}",
        "X-Serverless-Authorization": f"Bearer {token}",
        deadline.HEADER: deadline.header(duration),
        "Content-Type": "application/json",
        **({trace.TRACEPARENT: traceparent} if traceparent else {}),
    }


def _query(method: str, body: Wire | None) -> Mapping[str, str]:
    if body is None or method not in ("GET", "DELETE"):
        return {}
    dumped = body.model_dump(mode="json", exclude_none=True)
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in dumped.items()}


def _content(method: str, body: Wire | None) -> bytes | None:
    if method in ("GET", "DELETE"):
        return None
    return b"{}" if body is None else body.model_dump_json(exclude_unset=True).encode()


def _read(endpoint: Endpoint[Req, Res], answer: httpx2.Response) -> Res:
    if endpoint.response is Empty or answer.status_code == 204:
        return endpoint.response.model_construct()
    try:
        return endpoint.response.model_validate_json(answer.content)
    except ValidationError as error:
        raise Ambiguous(f"an answer to {endpoint.method} {endpoint.path} that is not understood") from error


def _error(endpoint: Endpoint[Req, Res], answer: httpx2.Response) -> AnvilError:
    try:
        problem = _Problem.model_validate_json(answer.content)
    except ValidationError:
        # Something between us answered. It let nothing through if it blames the request.
        kind = Unavailable if answer.is_client_error else Ambiguous
        return kind(f"{answer.status_code} for {endpoint.method} {endpoint.path}")
    wait = problem.retry_after_seconds
    return _kind(endpoint, problem)(
        problem.detail,
        fields=tuple(FieldProblem(field=each.field, message=each.message) for each in problem.errors),
        retry_after=None if wait is None else timedelta(seconds=wait),
        ledger_ref=problem.ledger_ref,
    )


def _kind(endpoint: Endpoint[Req, Res], problem: _Problem) -> type[AnvilError]:
    """The class that stands for the code, where one code may stand for two: a passing and a lasting fact.

    `unavailable` does not tell whether a write was applied, and an error inside the other side does not either.
    """
    if problem.code in (Ambiguous.code, AnvilError.code):
        return Unavailable if endpoint.method == "GET" else Ambiguous
    for kind in (*endpoint.errors, *_known(AnvilError)):
        if kind.code == problem.code and kind.retryable == problem.retryable:
            return kind
    return Ambiguous if problem.retryable else Permanent


def _known(kind: type[AnvilError]) -> Iterator[type[AnvilError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _known(child)
