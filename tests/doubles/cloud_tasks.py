"""Cloud Tasks, played over gRPC, with faults that can be switched.

In a test: `CloudTasksDouble`. As a process of its own, on loopback, until it is interrupted:

    python -m tests.doubles.cloud_tasks --port 9022 --http-port 9023 --key-file KEY.pem --issuer https://anvil.local \\
        --queue projects/p/locations/l/queues/runner=1 --queue projects/p/locations/l/queues/coordinator=8

It says `ready` once it serves. Its tokens are signed with that key, and the issuer's JWKS is at `/jwks` of the HTTP
port; `POST /faults` there takes `{"refusals": ["UNAVAILABLE"], "lostAnswers": 1, "delaySeconds": 0.5}`.
"""

import argparse
import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import grpc.aio
import httpx2
from google.cloud.tasks_v2 import CreateTaskRequest
from google.cloud.tasks_v2 import Task as CloudTask
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
from tests.contract.serving import served
from tests.doubles.dispatch import TASKS, DispatchQueue, Limits, Refused, Sign


@dataclass(slots=True)
class Faults:
    """The next creates are answered with `refusals` and change nothing. After them, `lost_answers` more take effect and
    are answered UNAVAILABLE. Every answer waits for `delay`."""

    refusals: deque[StatusCode] = field(default_factory=deque[StatusCode])
    lost_answers: int = 0
    delay: timedelta = timedelta()


class CloudTasksDouble:
    """These queues, by full resource name, at `address` (`host:port`) while it is started."""

    def __init__(
        self, queues: Mapping[str, Limits], *, http: httpx2.AsyncClient, sign: Sign, clock: Clock, port: int = 0
    ) -> None:
        self.faults = Faults()
        self.created: list[CloudTask] = []
        self.queues = {
            name: DispatchQueue(name, limits, http=http, sign=sign, clock=clock) for name, limits in queues.items()
        }
        self._clock = clock
        self._port = port
        self._server = grpc.aio.server()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    async def start(self) -> None:
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        create = grpc.unary_unary_rpc_method_handler(
            self._create, request_deserializer=CreateTaskRequest.deserialize, response_serializer=TASKS.serialize
        )
        self._server.add_registered_method_handlers("google.cloud.tasks.v2.CloudTasks", {"CreateTask": create})
        self._port = self._server.add_insecure_port(self.address)
        await self._server.start()
        for queue in self.queues.values():
            queue.start()

    async def stop(self) -> None:
        await self._server.stop(None)
        for queue in self.queues.values():
            await queue.stop()

    async def _create(
        self, request: CreateTaskRequest, context: grpc.aio.ServicerContext[CreateTaskRequest, CloudTask]
    ) -> CloudTask:
        try:
            self._take(request)
        except Refused as refused:
            await self._clock.sleep(self.faults.delay)
            await context.abort(refused.status, refused.message)
        await self._clock.sleep(self.faults.delay)
        return request.task

    def _take(self, request: CreateTaskRequest) -> None:
        if self.faults.refusals:
            raise Refused(self.faults.refusals.popleft(), "refused for the test")
        if (queue := self.queues.get(request.parent)) is None:
            raise Refused(StatusCode.NOT_FOUND, "Queue does not exist.")
        queue.take(request.task)
        self.created.append(request.task)
        if self.faults.lost_answers:
            self.faults.lost_answers -= 1
            raise Refused(StatusCode.UNAVAILABLE, "the answer was lost")


@asynccontextmanager
async def running(double: CloudTasksDouble) -> AsyncGenerator[CloudTasksDouble]:
    await double.start()
    try:
        yield double
    finally:
        await double.stop()


def signer(key_file: Path, *, issuer: str, clock: Clock) -> Sign:
    """Signs as whoever is asked for, as Google does for service accounts."""

    async def sign(email: str, audience: str) -> str:
        return (await LocalMinter(key_file, email=email, issuer=issuer, clock=clock).mint(audience)).value

    return sign


class _Switch(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    refusals: tuple[str, ...] = ()
    lost_answers: int = 0
    delay_seconds: float = 0


def control(double: CloudTasksDouble, *, key_file: Path) -> Starlette:
    """The issuer's keys, and the switches of the faults."""
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

    return Starlette(routes=[Route("/jwks", publish), Route("/faults", switch, methods=["POST"])])


async def main(arguments: Sequence[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    named: list[str] = given.queue
    queues = {name: Limits(concurrency=int(places)) for name, _, places in (each.partition("=") for each in named)}
    clock = SystemClock()
    async with httpx2.AsyncClient(trust_env=False) as http:
        sign = signer(given.key_file, issuer=given.issuer, clock=clock)
        double = CloudTasksDouble(queues, http=http, sign=sign, clock=clock, port=given.port)
        async with running(double), served(control(double, key_file=given.key_file), port=given.http_port):
            print("ready", flush=True)  # noqa: T201 (whoever started this waits for it)
            await asyncio.Event().wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.doubles.cloud_tasks", description="Plays Cloud Tasks.")
    parser.add_argument("--port", type=int, required=True, help="of gRPC")
    parser.add_argument("--http-port", type=int, required=True, help="of the keys and the switches")
    parser.add_argument("--key-file", type=Path, required=True, help="the issuer's private key (PEM)")
    parser.add_argument("--issuer", required=True)
    parser.add_argument("--queue", action="append", required=True, help="full resource name=concurrent dispatches")
    return parser


if __name__ == "__main__":
    asyncio.run(main())
