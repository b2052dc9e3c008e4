"""Calls to other systems under the ledger, and what operators find out about those of which nobody knows."""

from typing import cast

from tests.simulation.callers import Play
from tests.simulation.flows.flow import Act, flow
from tests.simulation.operations_people import BOB, Customer, Operator, SettledWorld
from tests.simulation.operations_upstream import Behaviour
from tests.simulation.operations_world import INVOICE, ORDER, OperationsWorld


def of(play: Play) -> OperationsWorld:
    return cast("OperationsWorld", play.world)


def after(*behaviours: Behaviour, operation: str = INVOICE) -> Act:
    """One call that met this."""

    async def called(play: Play) -> None:
        of(play).books.script.extend(behaviours)
        await Customer(world=of(play), operation=operation).insists()

    return called


async def settled(play: Play) -> None:
    """What is open is settled; who asks again is answered by what was found out."""
    for document in of(play).in_progress():
        await Operator(world=of(play), actor=BOB).settles(document, noting=True)
    await Customer(world=of(play)).insists()


def once(play: Play) -> list[str]:
    """In the end the other system did what was asked for, once for each who had the key."""
    did = len(of(play).books.effects)
    return [] if did == 1 else [f"I7: the other system did {did} things"]


@flow("F13", title="a call under the ledger", points=13, world=SettledWorld, wrong=once)
async def acted(play: Play) -> None:
    await after(Behaviour.ACTS)(play)
    await Customer(world=of(play)).insists()


@flow("F13 again", title="a call that is repeated inside", points=9, world=SettledWorld, wrong=once)
async def repeated(play: Play) -> None:
    await after(Behaviour.FAILS, Behaviour.ACTS_UNHEARD, operation=ORDER)(play)


@flow("F13 refused", title="a refusal that proves itself", points=14, world=SettledWorld, wrong=once)
async def refused(play: Play) -> None:
    await after(Behaviour.REFUSES)(play)
    await Customer(world=of(play)).insists()


@flow("F13 lost", title="a call that acted unheard", points=12, world=SettledWorld, wrong=once)
async def unheard(play: Play) -> None:
    await after(Behaviour.ACTS_UNHEARD)(play)
    await Customer(world=of(play)).insists()


@flow("F13 large", title="a result that no row holds", points=12, world=SettledWorld, wrong=once)
async def oversized(play: Play) -> None:
    await after(Behaviour.ACTS_HUGELY)(play)
    await Customer(world=of(play)).insists()


@flow("F13 others", title="another caller with the key", points=13, world=SettledWorld, wrong=once)
async def collided(play: Play) -> None:
    await after(Behaviour.ACTS)(play)
    await Customer(world=of(play), actor=BOB).insists()


flow("F14 complete", title="it had acted", points=28, before=after(Behaviour.ACTS_UNHEARD), world=SettledWorld)(settled)
flow("F14 release", title="it had not acted", points=31, before=after(Behaviour.IS_LOST), world=SettledWorld)(settled)
