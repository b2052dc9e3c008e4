"""The coordinator as ingress sees it. What it holds against ingress itself is no fault of whoever called ingress."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, TypeVar

from services.kernel.client import Client
from services.kernel.endpoint import Endpoint
from services.kernel.errors import Ambiguous, AnvilError, Invalid, Transient, Unavailable
from services.kernel.log import get_logger
from services.kernel.wire.model import Wire

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound=Wire)

log = get_logger(__name__)

_ANSWER_WITHIN: Final = timedelta(seconds=10)


class Coordinator:
    """Calls as one identity. Commands carry ids of their own, so that one whose answer was lost is asked again."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(
        self, endpoint: Endpoint[Req, Res], *, path: Mapping[str, str] | None = None, body: Req | None = None
    ) -> Res:
        """The answer; asked for once more if none came.

        Raises:
            AnvilError: what the endpoint declares, or that the request is invalid.
            Unavailable, Ambiguous: anything else.
        """
        try:
            return await self.call_once(endpoint, path=path, body=body)
        except Ambiguous:
            return await self.call_once(endpoint, path=path, body=body)

    async def call_once(
        self,
        endpoint: Endpoint[Req, Res],
        *,
        path: Mapping[str, str] | None = None,
        body: Req | None = None,
        within: timedelta = _ANSWER_WITHIN,
    ) -> Res:
        """As `call`, for what must not be asked twice."""
        declared: tuple[type[AnvilError], ...] = (Transient, Invalid, *endpoint.errors)
        try:
            return await self._client.call(endpoint, path=path, body=body, within=within)
        except declared:
            raise
        except AnvilError as error:
            log.error("the coordinator refused a call", method=endpoint.method, path=endpoint.path, code=error.code)
            raise Unavailable("a part that this needs does not answer as it should") from error
