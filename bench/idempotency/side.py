"""A side of the comparison: how its callers are started, and what they are told."""

import asyncio
import json
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

Verb = Literal["call", "complete", "release"]
Lost = Literal["", "create", "complete"]

LEASE = 1.0
"""Seconds that a caller has for its work; Lambda's timeout on the one side, the attempt's on the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one process is to do. It `dies` or `stops` after the other system has answered, before it stores that.

    `keep`: seconds that a result is replayed. `later`: seconds by which its clock is ahead. `loses`: the write whose
    answer never comes, though it was applied.
    """

    verb: Verb = "call"
    key: str
    payer: str = "ada"
    dies: bool = False
    stops: bool = False
    loses: Lost = ""
    keep: int = 3600
    later: int = 0
    lease: float = LEASE
    if_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a process came back with; `number` and `payer` are of the charge whose result it was given."""

    got: str
    number: int | None = None
    payer: str | None = None
    version: str = ""

    def __str__(self) -> str:
        whose = "" if self.number is None else f" charge {self.number}"
        return f"{self.got}{whose}"


@dataclass(slots=True)
class Caller:
    """A process that was started."""

    process: asyncio.subprocess.Process

    async def stopped(self) -> None:
        """Return when it has stopped itself."""
        while self._state() != "T":  # noqa: ASYNC110 (a process tells nobody that it has stopped)
            await asyncio.sleep(0.02)

    def goes_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    async def found(self) -> Found:
        output, _ = await self.process.communicate()
        lines = output.splitlines()
        return Found(**json.loads(lines[-1])) if lines else Found(got="died")

    def _state(self) -> str:
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """`told` is what its callers need besides an order; `claims_by_age`: whether time alone frees a key.

    `prepare` readies what lies outside of the callers for an order.
    """

    name: str
    program: Sequence[str]
    told: Mapping[str, str]
    claims_by_age: bool
    prepare: Callable[[Order], None] = lambda _: None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    async def begin(self, order: Order) -> Caller:
        self.prepare(order)
        asked = json.dumps({**asdict(order), **self.told})
        return Caller(
            await asyncio.create_subprocess_exec(
                *self.program, asked, stdout=asyncio.subprocess.PIPE, env=dict(self.environment)
            )
        )

    async def do(self, order: Order) -> Found:
        return await (await self.begin(order)).found()
