"""Plays, in one process on loopback, Cloud Tasks, the issuer of identity tokens, and Cloud Scheduler if it is asked:

    python -m services.local.doubles.cloud --port 9022 --http-port 9023 --key-file KEY.pem \\
        --issuer https://anvil.local --queue projects/p/locations/l/queues/runner=1 \\
        --sweep http://127.0.0.1:8081/sweep --sweep-audience anvil-coordinator --sweep-as scheduler@anvil.local

Cloud Tasks speaks gRPC at the one port. At the other, `/jwks` has the issuer's keys. There `POST /faults` takes
`{"refusals": ["UNAVAILABLE"], "lostAnswers": 1, "delaySeconds": 0.5}`, about the creation of tasks, and
`POST /disorder` takes `{"seed": 7, "lateSeconds": 0.5, "twice": 0.3}`, about their delivery.
"""

import argparse
import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from random import Random

import httpx2
from grpc import StatusCode
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.kernel.adapters.clock import SystemClock
from services.kernel.adapters.local_minter import LocalMinter, jwks
from services.kernel.ports import Clock
from services.local.doubles.cloud_scheduler import Job, ticking
from services.local.doubles.cloud_tasks import CloudTasksDouble, Faults, running
from services.local.doubles.dispatch import Disorder, Limits, Sign
from services.local.doubles.serving import serve


class _Switch(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    refusals: tuple[str, ...] = ()
    lost_answers: int = 0
    delay_seconds: float = 0


class _Disorder(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    seed: int = 0
    late_seconds: float = 0
    twice: float = 0


def signer(key_file: Path, *, issuer: str, clock: Clock) -> Sign:
    """Signs as whoever is asked for, as Google does for service accounts."""

    async def sign(email: str, audience: str) -> str:
        return (await LocalMinter(key_file, email=email, issuer=issuer, clock=clock).mint(audience)).value

    return sign


def control(double: CloudTasksDouble, *, key_file: Path) -> Starlette:
    """The issuer's keys, and the switches of faults and disorder."""
    keys = jwks(key_file)

    async def publish(_: Request) -> Response:
        return JSONResponse(keys)

    async def switch(request: Request) -> Response:
        asked = _Switch.model_validate_json(await request.body())
        double.faults = Faults(
            deque(StatusCode[name] for name in asked.refusals),
            asked.lost_answers,
            timedelta(seconds=asked.delay_seconds),
        )
        return Response(status_code=204)

    async def disturb(request: Request) -> Response:
        asked = _Disorder.model_validate_json(await request.body())
        late = timedelta(seconds=asked.late_seconds)
        for queue in double.queues.values():
            queue.disorder = Disorder(random=Random(asked.seed), late=late, twice=asked.twice)
        return Response(status_code=204)

    switches = [Route("/faults", switch, methods=["POST"]), Route("/disorder", disturb, methods=["POST"])]
    return Starlette(routes=[Route("/jwks", publish), *switches])


async def main(arguments: Sequence[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    named: list[str] = given.queue
    queues = {name: Limits(concurrency=int(places)) for name, _, places in (each.partition("=") for each in named)}
    clock = SystemClock()
    async with AsyncExitStack() as opened:
        http = await opened.enter_async_context(httpx2.AsyncClient(trust_env=False))
        sign = signer(given.key_file, issuer=given.issuer, clock=clock)
        double = CloudTasksDouble(queues, http=http, sign=sign, clock=clock, port=given.port)
        await opened.enter_async_context(running(double))
        if given.sweep:
            job = Job(url=given.sweep, audience=given.sweep_audience, email=given.sweep_as)
            await opened.enter_async_context(ticking(job, http=http, sign=sign, clock=clock))
        await serve(control(double, key_file=given.key_file), port=given.http_port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m services.local.doubles.cloud", description="Plays Cloud Tasks and Cloud Scheduler."
    )
    parser.add_argument("--port", type=int, required=True, help="of gRPC")
    parser.add_argument("--http-port", type=int, required=True, help="of the keys and the switches")
    parser.add_argument("--key-file", type=Path, required=True, help="the issuer's private key (PEM)")
    parser.add_argument("--issuer", required=True)
    parser.add_argument("--queue", action="append", required=True, help="full resource name=concurrent dispatches")
    parser.add_argument("--sweep", help="the URL that Cloud Scheduler posts to, every second")
    parser.add_argument("--sweep-audience", help="of its tokens")
    parser.add_argument("--sweep-as", help="its e-mail")
    return parser


if __name__ == "__main__":
    asyncio.run(main())
