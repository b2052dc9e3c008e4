"""Who did what."""

from services.ingress.api.everywhere import everywhere
from services.ingress.coordinator import Coordinator
from services.ingress.roles import Roles
from services.kernel.web import Call, Served, route
from services.kernel.wire import api, internal
from services.kernel.wire.audit import AuditEntry, AuditQuery
from services.kernel.wire.model import Page


def served(coordinator: Coordinator, roles: Roles) -> list[Served]:
    async def page(call: Call[AuditQuery]) -> Page[AuditEntry]:
        return await coordinator.call(internal.LIST_AUDIT, body=call.body)

    return everywhere(roles, route(api.LIST_AUDIT, page))
