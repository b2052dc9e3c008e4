"""`anvil up`: the whole system on this machine, until Ctrl-C."""

import asyncio
import os
from pathlib import Path

from rich.console import Console

from services.local import addresses, interruption, stack, state
from services.local.addresses import Addresses, PortTaken, Service
from services.local.interruption import Interrupted
from services.local.stack import Stack
from services.local.state import StateDirectory, StateInUse
from services.local.supervisor import StartFailed

OK = 0
FAILED = 1

NEXT_STEPS = """
  anvil project create hello --repository-url file:///path/to/repository.git
  anvil webhook put github --project hello     # the payload URL, and the secret, this once
  anvil run start --project hello --watch      # runs the head of its main branch
  anvil auth token                             # a token for other clients

Ctrl-C stops it."""


def run(*, state_dir: Path | None, port: int, services: tuple[str, ...], store: str) -> int:
    """Run the stack until SIGINT or SIGTERM; the exit code.

    `services` are those to start besides the platform (none: all); `port` 0 takes any that are free.
    """
    console = Console(highlight=False, soft_wrap=True)
    try:
        with state.held(state_dir or state.default_root(os.environ)) as directory:
            chosen = frozenset(Service(name) for name in services) | {Service.PLATFORM} if services else stack.ALL
            interruption.run(
                _serve(directory, where=addresses.choose(port), chosen=chosen, store=store, console=console)
            )
    except Interrupted:
        return OK
    except (StateInUse, PortTaken, StartFailed) as error:
        console.print(str(error), markup=False)
        return FAILED
    return OK


async def _serve(
    directory: StateDirectory,
    *,
    where: Addresses,
    chosen: frozenset[Service],
    store: str,
    console: Console,
) -> None:
    """Never ends by itself."""
    overrides = {Service.COORDINATOR: {"ANVIL_STORE": store}}

    def report(event: str) -> None:
        console.print(event, markup=False)

    console.print(f"starting {', '.join(sorted(chosen))} …")
    async with stack.running(directory, addresses=where, chosen=chosen, overrides=overrides, report=report) as running:
        console.print(_welcome(running), markup=False)
        try:
            await asyncio.Event().wait()
        finally:
            console.print("stopping …")


def _welcome(running: Stack) -> str:
    lines = [f"  {service:<12} {running.addresses.url(service)}" for service in Service if service in running.keepers]
    lines.append(f"  {'state, logs':<12} {running.state.root}")
    return "\n".join(["Anvil is up.", "", *lines, NEXT_STEPS])
