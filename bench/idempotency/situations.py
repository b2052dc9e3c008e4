"""The ten situations, told once for both sides. Each says what every caller was told; charges are counted besides."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from bench.idempotency.side import LEASE, Order, Side
from bench.idempotency.upstream import Upstream

Told = str
Situation = Callable[[Side, Upstream], Awaitable[Told]]

PAST_LEASE = LEASE + 0.5
"""Seconds after which a caller that has not come back is taken for dead, where age decides."""
SETTLED_LATER = 3600
"""Seconds by which an operator's clock is ahead: past any bar against settling a call that still runs."""


async def crash_after_commit(side: Side, upstream: Upstream) -> Told:
    """The caller's process dies after the other system acted, before it stored that; later somebody asks again."""
    first = await side.do(Order(key="k", dies=True))
    await asyncio.sleep(PAST_LEASE)
    return f"first {first}, next {await side.do(Order(key='k'))}"


async def timeout_takeover(side: Side, upstream: Upstream) -> Told:
    """The other system answers later than the caller's time allows; meanwhile somebody asks again."""
    upstream.behave(late=4)
    first = await side.begin(Order(key="k"))
    await asyncio.sleep(2 * PAST_LEASE)
    upstream.behave()
    second = await side.do(Order(key="k"))
    return f"first {await first.found()}, second {second}"


async def stale_owner_completes(side: Side, upstream: Upstream) -> Told:
    """A process stops in the middle, its key is freed (by age, or wrongly by an operator) and used; then it goes on."""
    first = await side.begin(Order(key="k", stops=True))
    await first.stopped()
    await asyncio.sleep(PAST_LEASE)
    if not side.claims_by_age:
        seen = await side.do(Order(key="k"))
        await side.do(Order(verb="release", key="k", later=SETTLED_LATER, if_version=seen.version))
    second = await side.do(Order(key="k"))
    first.goes_on()
    stale = await first.found()
    return f"stale owner {stale}, new owner {second}, later {await side.do(Order(key='k'))}"


async def oversize(side: Side, upstream: Upstream) -> Told:
    """The result is larger than the store takes; later somebody asks again."""
    upstream.behave(filler=900_000)
    first = await side.do(Order(key="k"))
    upstream.behave()
    await asyncio.sleep(PAST_LEASE)
    return f"first {first}, next {await side.do(Order(key='k'))}"


async def two_principals(side: Side, upstream: Upstream) -> Told:
    """Another caller uses the same key for a request of its own."""
    first = await side.do(Order(key="k", payer="ada"))
    second = await side.do(Order(key="k", payer="bob"))
    leaked = ", and was shown ada's result" if second.payer == "ada" else ""
    return f"ada {first}, bob {second}{leaked}"


async def expired_row(side: Side, upstream: Upstream) -> Told:
    """A result has expired, but its row is not deleted yet; two ask again at once."""
    first = await side.do(Order(key="k", keep=60 if side.name == "Anvil" else 1))
    await asyncio.sleep(2.1)
    again = Order(key="k", later=61 if side.name == "Anvil" else 0, keep=60)
    both = await asyncio.gather(side.do(again), side.do(again))
    return f"first {first}, then {' and '.join(sorted(map(str, both)))}"


async def lost_create_answer(side: Side, upstream: Upstream) -> Told:
    """The reservation is written, but the store's answer never comes; later somebody asks again."""
    first = await side.do(Order(key="k", loses="create"))
    return f"first {first}, next {await side.do(Order(key='k'))}"


async def lost_complete_answer(side: Side, upstream: Upstream) -> Told:
    """The result is stored, but the store's answer never comes; later somebody asks again."""
    first = await side.do(Order(key="k", loses="complete"))
    return f"first {first}, next {await side.do(Order(key='k'))}"


async def ambiguous_failure(side: Side, upstream: Upstream) -> Told:
    """The other system acts and hangs up without an answer; the caller asks again."""
    upstream.behave(hangs_up=True)
    first = await side.do(Order(key="k"))
    upstream.behave()
    return f"first {first}, next {await side.do(Order(key='k'))}"


async def operator_race(side: Side, upstream: Upstream) -> Told:
    """Nobody knows whether it happened; two operators settle it differently, both by what they last saw."""
    await side.do(Order(key="k", dies=True, lease=30))
    seen = await side.do(Order(key="k"))
    verdict = Order(key="k", later=SETTLED_LATER, if_version=seen.version)
    released = await side.begin(replace(verdict, verb="release"))
    completed = await side.begin(replace(verdict, verb="complete"))
    told = sorted([f"release {await released.found()}", f"complete {await completed.found()}"])
    return f"{', '.join(told)}; next {await side.do(Order(key='k'))}"


SITUATIONS: Mapping[str, Situation] = {
    "crash after commit": crash_after_commit,
    "timeout takeover": timeout_takeover,
    "stale owner completes": stale_owner_completes,
    "oversize": oversize,
    "two principals": two_principals,
    "expired row not yet deleted": expired_row,
    "lost create answer": lost_create_answer,
    "lost complete answer": lost_complete_answer,
    "ambiguous failure": ambiguous_failure,
    "operator race": operator_race,
}
