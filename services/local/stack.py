"""A running local stack: its state, where it listens, its processes."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from services.local.addresses import Addresses, Service
from services.local.environment import Environment
from services.local.program import programs
from services.local.state import StateDirectory, publish, shorten
from services.local.supervisor import Keeper, Report, StartFailed, supervised

ALL = frozenset(Service)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    state: StateDirectory
    addresses: Addresses
    keepers: Mapping[Service, Keeper] = field(repr=False)

    @property
    def endpoint(self) -> str:
        """The URL of ingress."""
        return self.addresses.url(Service.INGRESS)

    def pid(self, service: Service) -> int:
        """The service's gunicorn master; it leads the process group."""
        return self.keepers[service].pid


@asynccontextmanager
async def running(
    state: StateDirectory,
    *,
    addresses: Addresses,
    report: Report,
    chosen: frozenset[Service] = ALL,
    overrides: Mapping[Service, Environment] | None = None,
) -> AsyncGenerator[Stack]:
    """The chosen services, ready, until the end of the block.

    Raises:
        StartFailed: one of them did not come to serve, or this is not Linux.
    """
    if sys.platform != "linux":
        raise StartFailed("the local stack needs Linux, which ties its processes together (prctl, pidfd)")
    plan = programs(chosen, state=state, addresses=addresses, inherited=os.environ, overrides=overrides or {})
    for program in plan:
        shorten(program.log)
    async with supervised(plan, report=report) as keepers:
        stack = Stack(state=state, addresses=addresses, keepers=keepers)
        if Service.INGRESS in chosen:
            publish(state.endpoint, f"{stack.endpoint}\n")
        yield stack
