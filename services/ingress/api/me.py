"""Who the caller is."""

from services.ingress.roles import Roles
from services.kernel.errors import Forbidden
from services.kernel.web import Call, Served, route
from services.kernel.wire import api
from services.kernel.wire.model import Empty


def served(roles: Roles) -> list[Served]:
    async def me(call: Call[Empty]) -> api.Me:
        role = roles.highest(call.caller.email)
        if role is None:
            raise Forbidden
        return api.Me(principal=call.caller.email, role=role)

    return [route(api.ME, me)]
