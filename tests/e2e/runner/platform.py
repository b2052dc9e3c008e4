"""What a runner finds around it: the issuer's keys, and a coordinator that is a `Desk` behind HTTP."""

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWKSet
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from services.kernel.adapters.clock import SystemClock, SystemIds
from services.kernel.adapters.local_minter import jwks
from services.kernel.endpoint import Audience
from services.kernel.identity import ServiceGuard, Verifier
from services.kernel.ids import RunId
from services.kernel.web import Call, Served, application, route
from services.kernel.wire import internal
from services.kernel.wire.model import Empty
from services.kernel.wire.runs import AppendLog, Claim, ClaimAnswer, Complete, Heartbeat, Orders, Report, Start
from tests.unit.runner.desk import Desk

ISSUER = "https://anvil.local"
COORDINATOR = "anvil-coordinator"
RUNNER = "runner@anvil.local"


class FileKeys:
    """The issuer's keys, read where they lie. Implements `identity.Keys`."""

    def __init__(self, key_file: Path) -> None:
        found = PyJWKSet.from_dict(jwks(key_file)).keys
        self._keys = {each.key_id: each.key for each in found if isinstance(each.key, RSAPublicKey)}

    async def key(self, kid: str) -> RSAPublicKey | None:
        return self._keys.get(kid)


def platform(desk: Desk, key_file: Path) -> Starlette:
    """`/jwks`, and everything else the coordinator's."""

    async def keys(request: Request) -> JSONResponse:
        return JSONResponse(jwks(key_file))

    verifier = Verifier(
        FileKeys(key_file),
        audiences=frozenset({COORDINATOR}),
        issuers=frozenset({ISSUER}),
        clock=SystemClock(),
    )

    async def ready() -> None:
        return

    coordinator = application(
        service="coordinator",
        served=_served(desk),
        guard=ServiceGuard(verifier, {Audience.RUNNER: frozenset({RUNNER})}),
        ready=ready,
        clock=SystemClock(),
        ids=SystemIds(),
        body_limit=2 * 1024 * 1024,
    )
    return Starlette(routes=[Route("/jwks", keys), Mount("/", coordinator)])


def _served(desk: Desk) -> list[Served]:
    async def claim(call: Call[Claim]) -> ClaimAnswer:
        return await desk.claim(RunId(call.path["run"]), call.body)

    async def start(call: Call[Start]) -> Orders:
        return await desk.start(RunId(call.path["run"]), call.body)

    async def heartbeat(call: Call[Heartbeat]) -> Orders:
        return await desk.heartbeat(RunId(call.path["run"]), call.body)

    async def append_log(call: Call[AppendLog]) -> Empty:
        await desk.append_log(RunId(call.path["run"]), call.body)
        return Empty()

    async def report(call: Call[Report]) -> Empty:
        await desk.report(RunId(call.path["run"]), call.body)
        return Empty()

    async def complete(call: Call[Complete]) -> Empty:
        await desk.complete(RunId(call.path["run"]), call.body)
        return Empty()

    return [
        route(internal.CLAIM, claim),
        route(internal.START, start),
        route(internal.HEARTBEAT, heartbeat),
        route(internal.APPEND_LOG, append_log),
        route(internal.REPORT, report),
        route(internal.COMPLETE, complete),
    ]
