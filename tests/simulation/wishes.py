"""What people may ask for in a storm at any time."""

from collections import Counter

from services.kernel.errors import AnvilError
from tests.simulation.callers import ask_for_run, new_run_id
from tests.simulation.calls import Calls
from tests.simulation.cast import PLACES, SLUGS, Cast, together
from tests.simulation.custody import Place, secret_of

_KEYS = (None, "nightly", "hourly")


async def ask(cast: Cast, calls: Calls) -> str:
    """As a console would that chooses its run's id, so that it is known what must not be there."""
    slug, key = cast.random.choice(SLUGS), cast.random.choice(_KEYS)
    return await ask_for_run(cast.world, calls, slug, run_id=new_run_id(cast.world), key=key)


async def crowd(cast: Cast, calls: Calls) -> str:
    """As many runs as there is room for, and more."""
    slug, came = cast.random.choice(SLUGS), Counter[str]()
    for _ in range(cast.random.randint(1, cast.profile.crowd)):
        try:
            await ask_for_run(cast.world, calls, slug, run_id=new_run_id(cast.world))
            came["accepted"] += 1
        except AnvilError as error:
            came[type(error).__name__] += 1
    return f"{slug}: {dict(came)}"


async def start(cast: Cast, calls: Calls) -> str:
    return await cast.person().start(cast.random.choice(SLUGS), key=cast.random.choice(_KEYS))


async def rerun(cast: Cast, calls: Calls) -> str | None:
    ended = [run for run in cast.world.state.runs.values() if run.status.terminal]
    if not ended:
        return None
    return await cast.person().rerun(cast.random.choice(ended).run_id, key=cast.random.choice(_KEYS))


async def cancel(cast: Cast, calls: Calls) -> str | None:
    """Mostly of a run that has not ended."""
    runs = cast.world.state.runs
    if not runs:
        return None
    going = [run_id for run_id, run in runs.items() if not run.status.terminal]
    run_id = cast.random.choice(going if going and cast.random.random() < 0.7 else list(runs))
    return f"{run_id}: {await cast.person().cancel(run_id)}"


async def put(cast: Cast, calls: Calls) -> str:
    """Create, enable or disable; at times with a secret, which an update refuses."""
    place, enabled = cast.random.choice(PLACES), cast.random.random() < 0.8
    secret = secret_of(cast.world.ids.token()) if cast.random.random() < 0.2 else None
    await cast.person().put(place, enabled=enabled, secret=secret)
    return f"{place} enabled: {enabled}"


async def look(cast: Cast, calls: Calls) -> str:
    return await _looked(cast, cast.random.choice(PLACES))


async def _looked(cast: Cast, place: Place) -> str:
    webhook = await cast.person().webhook(place)
    if webhook is not None:
        cast.seen[place] = webhook.version
    return f"{place} is at {None if webhook is None else webhook.version}"


async def rotate(cast: Cast, calls: Calls) -> str | None:
    """By the version that was seen last, which may be out of date."""
    if cast.random.random() < 0.7:
        await look(cast, calls)
    if not cast.seen:
        return None
    place = cast.random.choice(list(cast.seen))
    await cast.person().rotate(place, version=cast.seen[place])
    return f"{place} from {cast.seen[place]}"


async def rotate_at_once(cast: Cast, calls: Calls) -> str | None:
    """Two people who saw the same version: one of them may win (K4)."""
    if not cast.seen:
        return None
    place = cast.random.choice(list(cast.seen))
    await _looked(cast, place)
    return await together(*(cast.person().rotate(place, version=cast.seen[place]) for _ in range(2)))


async def delete(cast: Cast, calls: Calls) -> str:
    place = cast.random.choice(PLACES)
    await cast.person().delete(place)
    return f"{place}"
