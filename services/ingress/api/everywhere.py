"""What belongs to no project is for those whose role holds in all of them."""

from starlette.requests import Request
from starlette.responses import Response

from services.ingress.roles import Role, Roles
from services.kernel.web import Caller, Served
from services.kernel.web.serving import Intake


def everywhere(roles: Roles, *served: Served) -> list[Served]:
    """These, each for callers with its role in all projects; the others are turned away before a body is read."""
    return [_restricted(roles, each) for each in served]


def _restricted(roles: Roles, served: Served) -> Served:
    async def answer(request: Request, caller: Caller, intake: Intake) -> Response:
        roles.require_everywhere(caller.email, Role(served.endpoint.audience))
        return await served.answer(request, caller, intake)

    return Served(endpoint=served.endpoint, answer=answer)
