"""Powertools for AWS Lambda (Python) in an environment of its own, on a DynamoDB that moto plays."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.idempotency.losing import Line, line
from bench.idempotency.side import Order, Side
from bench.idempotency.upstream import Upstream

PACKAGES = ("aws-lambda-powertools==3.37.0", "boto3==1.44.8", "moto[dynamodb,server]==5.2.5")
AMAZON = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}

_TABLE = """
import sys, boto3
client = boto3.client("dynamodb", endpoint_url=sys.argv[1])
client.create_table(
    TableName="idempotency",
    KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    BillingMode="PAY_PER_REQUEST",
)
"""


def install(folder: Path) -> Path:
    """An environment with the packages, made once; its interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


@dataclass(frozen=True, slots=True)
class Powertools:
    """A fresh, empty table."""

    python: Path
    upstream: Upstream
    line: Line

    def side(self, *, validates: str = "") -> Side:
        """`validates`: the part of a request that must not differ under one key; none, unless one asks for it."""
        return Side(
            name="Powertools",
            program=(str(self.python), str(Path(__file__).with_name("powertools_caller.py"))),
            told={"upstream": self.upstream.url, "store": self.line.url, "validates": validates},
            claims_by_age=True,
            prepare=self._prepare,
            environment=AMAZON,
        )

    def _prepare(self, order: Order) -> None:
        if order.loses:
            self.line.loses = order.loses


@asynccontextmanager
async def powertools(python: Path, upstream: Upstream, *, port: int) -> AsyncGenerator[Powertools]:
    server = await asyncio.create_subprocess_exec(
        str(python.with_name("moto_server")),
        "--host", "127.0.0.1", "--port", str(port),
        env=AMAZON,
        stderr=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await _answers(port)
        made = await asyncio.create_subprocess_exec(str(python), "-c", _TABLE, f"http://127.0.0.1:{port}", env=AMAZON)
        assert await made.wait() == 0
        async with line(port) as between:
            yield Powertools(python, upstream, between)
    finally:
        server.terminate()
        await server.wait()


async def _answers(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.1)
            continue
        writer.close()
        return
