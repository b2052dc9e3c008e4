"""`anvil up`: the whole system on this machine, until Ctrl-C."""

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from rich.console import Console

from services.local import addresses, interruption, stack, state
from services.local.addresses import PortTaken, Service
from services.local.interruption import Interrupted
from services.local.stack import Stack
from services.local.state import StateInUse
from services.local.store import started
from services.local.supervisor import StartFailed

OK = 0
FAILED = 1

NEXT_STEPS = """
  anvil project create hello --repository-url file:///path/to/repository.git
  anvil webhook put github --project hello     # the payload URL, and the secret, this once
  anvil run start --project hello --watch      # runs the head of its main branch
  anvil auth token                             # a token for other clients

Ctrl-C stops it."""


def run(*, state_dir: Path | None, port: int, services: tuple[str, ...], store: str, instances: int = 1) -> int:
    """Run the stack until SIGINT or SIGTERM; the exit code.

    `services` are those to start besides the platform (none: all); `port` 0 takes any that are free. On Firestore there
    are all of them, in so many `instances`.
    """
    console = Console(highlight=False, soft_wrap=True)
    try:
        with state.held(state_dir or state.default_root(os.environ)) as directory:
            chosen = frozenset(Service(name) for name in services) | {Service.PLATFORM} if services else stack.ALL
            begun = started(
                directory,
                store=store,
                addresses=addresses.choose(port),
                report=lambda event: console.print(event, markup=False),
                chosen=chosen,
                instances=instances,
            )
            interruption.run(_serve(begun, chosen=chosen, console=console))
    except Interrupted:
        return OK
    except (StateInUse, PortTaken, StartFailed) as error:
        console.print(str(error), markup=False)
        return FAILED
    return OK


async def _serve(begun: AbstractAsyncContextManager[Stack], *, chosen: frozenset[Service], console: Console) -> None:
    """Never ends by itself."""
    console.print(f"starting {', '.join(sorted(chosen))} …")
    async with begun as running:
        console.print(_welcome(running, chosen), markup=False)
        try:
            await asyncio.Event().wait()
        finally:
            console.print("stopping …")


def _welcome(running: Stack, chosen: frozenset[Service]) -> str:
    lines = [f"  {service:<12} {running.addresses.url(service)}" for service in Service if service in chosen]
    lines.append(f"  {'state, logs':<12} {running.state.root}")
    return "\n".join(["Anvil is up.", "", *lines, NEXT_STEPS])
