"""A Firestore that answers every call with one status, over real gRPC."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc.aio
from grpc import StatusCode

SERVICE = "google.firestore.v1.Firestore"


@dataclass(slots=True)
class Refusing:
    status: StatusCode
    detail: str = ""
    calls: list[str] = field(default_factory=list[str])
    address: str = ""

    async def commit(self, request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        self.calls.append("commit")
        await context.abort(self.status, self.detail)

    async def read(self, request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        self.calls.append("read")
        await context.abort(self.status, self.detail)


@asynccontextmanager
async def refusing(status: StatusCode, detail: str = "") -> AsyncGenerator[Refusing]:
    answering = Refusing(status, detail)
    server = grpc.aio.server()
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        "Commit": grpc.unary_unary_rpc_method_handler(answering.commit),
        "BatchGetDocuments": grpc.unary_stream_rpc_method_handler(answering.read),
        "RunQuery": grpc.unary_stream_rpc_method_handler(answering.read),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    answering.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield answering
    finally:
        await server.stop(None)
