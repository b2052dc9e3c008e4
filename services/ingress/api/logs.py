"""A run's log as plain text."""

from starlette.requests import Request
from starlette.responses import Response

from services.ingress.api.runs import Runs
from services.ingress.coordinator import Coordinator
from services.ingress.roles import Role
from services.kernel.errors import FieldProblem, Invalid
from services.kernel.web import Caller, Served, raw
from services.kernel.web.parsing import parse_query
from services.kernel.wire import api, internal


class Logs:
    def __init__(self, coordinator: Coordinator, runs: Runs) -> None:
        self._coordinator = coordinator
        self._runs = runs

    def served(self) -> list[Served]:
        return [raw(api.GET_LOG, self._get)]

    async def _get(self, request: Request, caller: Caller) -> Response:
        run: str = request.path_params["run"]
        query = parse_query(internal.LogQuery, request.query_params)
        if query.after < 0:
            raise Invalid(
                "after is a byte offset", fields=(FieldProblem(field="after", message="must not be negative"),)
            )
        await self._runs.visible(run, caller, Role.VIEWER)
        part = await self._coordinator.call(internal.GET_LOG, path={"run": run}, body=query)
        return Response(
            part.text,
            media_type=api.GET_LOG.media_type,
            headers={
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                "X-Log-Cursor": str(part.cursor),
                "X-Log-Complete": "true" if part.complete else "false",
            },
        )
