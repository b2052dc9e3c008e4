"""People at the private API: who they are by their token, what they may by the deployment's roles."""

import re

from starlette.requests import Request

from services.ingress.roles import Role, Roles
from services.kernel.endpoint import Endpoint
from services.kernel.errors import Forbidden, NotFound
from services.kernel.identity import Verifier
from services.kernel.ids import SLUG
from services.kernel.web import Caller
from services.kernel.wire.model import Wire


class PeopleGuard:
    """Lets in whoever has a role somewhere; to a project's own paths, whoever has the endpoint's role in it.

    Where a path names no project, its handler asks `Roles` itself.
    """

    def __init__(self, verifier: Verifier, roles: Roles, *, platform_verifies_callers: bool = False) -> None:
        self._verifier = verifier
        self._roles = roles
        self._platform_verifies_callers = platform_verifies_callers

    async def __call__(self, request: Request, endpoint: Endpoint[Wire, Wire]) -> Caller:
        claims = await self._verifier.identify(request.headers, platform=self._platform_verifies_callers)
        if self._roles.highest(claims.email) is None:
            raise Forbidden(f"{claims.email} has no role here")
        project: str | None = request.path_params.get("project")
        if project is not None:
            if re.fullmatch(SLUG, project) is None:
                raise NotFound(f"there is no project {project!r}")
            self._roles.require(claims.email, project, Role(endpoint.audience))
        return Caller(email=claims.email)
