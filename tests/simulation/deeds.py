"""What Git hosts, and those who are none, may do in a storm at any time."""

from services.kernel.wire.deliveries import Outcome
from tests.simulation.calls import Calls
from tests.simulation.cast import PLACES, Cast, together
from tests.simulation.custody import Place, secret_of
from tests.simulation.hooks import send
from tests.simulation.hosts import FORGED_SHA, SENDERS, About, Told
from tests.unit.coordinator.builders import SHA

_ABOUT = (*[About.PUSH] * 12, *About)


async def push(cast: Cast, calls: Calls) -> str | None:
    """Sign with what people were told last, which may be out of date."""
    places = [place for place in PLACES if place in cast.world.told]
    if not places:
        return None
    place = cast.random.choice(places)
    return await _sent(cast, place, _told(cast, place))


async def push_at_once(cast: Cast, calls: Calls) -> str | None:
    """The same one two or three times at the same time, to any instances."""
    places = [place for place in PLACES if place in cast.world.told]
    if not places:
        return None
    place = cast.random.choice(places)
    told = _told(cast, place)
    return await together(*(_sent(cast, place, told) for _ in range(cast.random.randint(2, 3))))


async def push_again(cast: Cast, calls: Calls) -> str | None:
    """Send what was answered with 503, for the queue was full."""
    full = [row for row in cast.world.state.deliveries.values() if row.outcome is Outcome.QUEUE_FULL]
    slugs = {project.project_id: project.slug for project in cast.world.state.projects.values()}
    known = [row for row in full if (slugs[row.project_id], row.provider) in cast.world.told]
    if not known:
        return None
    row = cast.random.choice(known)
    place = (slugs[row.project_id], row.provider)
    told = Told(sender=cast.random.choice(SENDERS[row.provider]), delivery_id=row.delivery_id)
    return await _sent(cast, place, told)


async def _sent(cast: Cast, place: Place, told: Told) -> str:
    key = (place, told.delivery_id)
    if key in cast.asked:
        cast.world.testimony.reached["a delivery that came again"] += 1
    if cast.under_way[key]:
        cast.world.testimony.reached["a delivery that came again while it was decided"] += 1
    cast.asked.add(key)
    cast.under_way[key] += 1
    try:
        answer = await send(cast.world, cast.gate(), place, told, secret=cast.world.told[place])
    finally:
        cast.under_way[key] -= 1
    return f"{told.about} {key}: {answer.outcome} {answer.run_id}"


async def forge(cast: Cast, calls: Calls) -> str:
    """Sign with a secret that is not valid any more, or never was."""
    retired = [each for each in cast.world.retired if cast.world.secrets.now.get(each[0]) != each[1]]
    guess = (cast.random.choice(PLACES), secret_of("nobody"))
    place, secret = cast.random.choice([*retired[-4:], guess])
    answer = await send(cast.world, cast.gate(), place, _told(cast, place, sha=FORGED_SHA), secret=secret)
    return f"{place}: {answer.outcome}"


async def tell(cast: Cast, calls: Calls) -> str:
    """An ingress tells what it refused."""
    await cast.gate().settle()
    return ""


def _told(cast: Cast, place: Place, *, sha: str | None = None) -> Told:
    return Told(
        sender=cast.random.choice(SENDERS[place[1]]),
        delivery_id=cast.random.choice(cast.profile.ids),
        about=cast.random.choice(_ABOUT) if sha is None else About.PUSH,
        sha=sha or SHA,
        layout=cast.random.choice((None, 2)),
    )
