"""`anvil up` and `anvil demo`: the whole system on this machine."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from services.cli.exits import Exit, Usage
from services.cli.noun import Noun
from services.cli.world import Invocation

StateDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Where everything is kept.")]
Port = Annotated[int, typer.Option(min=0, max=65_535, metavar="PORT", help="Ingress's; the others take the next ones.")]
Services = Annotated[str | None, typer.Option(metavar="A,B", help="Only these services; else all.")]
Instances = Annotated[int, typer.Option(min=1, max=9, metavar="N", help="Of each service; on Firestore only.")]
Keep = Annotated[bool, typer.Option("--keep", help="Leave the demo's directory for a look around.")]

NAMES = ("ingress", "coordinator", "runner")


class StoreKind(StrEnum):
    SQLITE = "sqlite"
    FIRESTORE = "firestore"


StoreOption = Annotated[StoreKind, typer.Option(help="Where the truth is kept.")]


def add_to(root: Noun) -> None:
    root.local_verb("up")(up)
    root.local_verb("demo")(demo)


def up(
    at: Invocation,
    *,
    state_dir: StateDir = None,
    port: Port = 8080,
    services: Services = None,
    store: StoreOption = StoreKind.SQLITE,
    instances: Instances = 1,
) -> Exit:
    """Start the local stack and keep it running until Ctrl-C."""
    from services.local import up as stack

    chosen = tuple(services.split(",")) if services is not None else ()
    if unknown := [name for name in chosen if name not in NAMES]:
        raise Usage(f"--services: expected some of {','.join(NAMES)}, not {','.join(unknown)!r}")
    if store is StoreKind.SQLITE and instances > 1:
        raise Usage("--instances: expected --store firestore too, which several may share")
    if store is StoreKind.FIRESTORE and chosen:
        raise Usage("--services: expected --store sqlite; on Firestore all are started")
    return _ended(stack.run(state_dir=state_dir, port=port, services=chosen or NAMES, store=store, instances=instances))


def demo(at: Invocation, *, keep: Keep = False, store: StoreOption = StoreKind.SQLITE) -> Exit:
    """Push a commit through the whole system on this machine, and watch it pass."""
    from services.local import demo as story

    return _ended(story.run(keep=keep, store=store))


def _ended(code: int) -> Exit:
    """The local stack knows success, failure and being interrupted."""
    return Exit(code) if code in set(Exit) else Exit.ERROR
