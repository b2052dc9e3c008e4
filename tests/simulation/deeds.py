"""What anybody may do in a storm at any time: Git hosts, people, runners, the task queue, the scheduler, time."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from services.kernel.errors import AnvilError
from services.kernel.wire.deliveries import Outcome, Provider
from tests.simulation.callers import ask_for_run, new_run_id
from tests.simulation.calls import Calls
from tests.simulation.custody import Place, secret_of
from tests.simulation.gate import Gate
from tests.simulation.hooks import send
from tests.simulation.hosts import FORGED_SHA, SENDERS, About, Told
from tests.simulation.people import Person
from tests.simulation.profile import Profile
from tests.simulation.runner import Runner
from tests.simulation.world import World
from tests.unit.coordinator.builders import SHA

SLUGS = ("site", "other")
_PLACES: Sequence[Place] = [(slug, provider) for slug in SLUGS for provider in (Provider.GITHUB, *Provider)]
_ABOUT = (*[About.PUSH] * 12, *About)
_KEYS = (None, "nightly", "hourly")


@dataclass(slots=True, kw_only=True)
class Cast:
    """Who takes part, and what they know. `seen` are versions of webhooks as people saw them last."""

    world: World
    random: Random
    profile: Profile
    runners: list[Runner] = field(default_factory=list[Runner])
    seen: dict[Place, str] = field(default_factory=dict[Place, str])
    asked: set[tuple[Place, str]] = field(default_factory=set[tuple[Place, str]])
    under_way: Counter[tuple[Place, str]] = field(default_factory=Counter[tuple[Place, str]])
    busy: set[int] = field(default_factory=set[int])

    def gate(self) -> Gate:
        return self.world.gate(self.random.choice(self.world.open()))

    def person(self) -> Person:
        return Person(self.world, self.gate())

    def told(self, place: Place, *, sha: str | None = None) -> Told:
        about = self.random.choice(_ABOUT) if sha is None else About.PUSH
        return Told(
            sender=self.random.choice(SENDERS[place[1]]),
            delivery_id=self.random.choice(self.profile.ids),
            about=about,
            sha=sha or SHA,
            layout=self.random.choice((None, 2)),
        )


Deed = Callable[[Cast, Calls], Awaitable[str | None]]
"""One thing that somebody does, and what came of it; refusals are raised. None: there was nothing to do."""


# Git hosts


async def push(cast: Cast, calls: Calls) -> str | None:
    """Sign with what people were told last, which may be out of date."""
    places = [place for place in _PLACES if place in cast.world.told]
    if not places:
        return None
    place = cast.random.choice(places)
    return await _sent(cast, place, cast.told(place))


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
    guess = (cast.random.choice(_PLACES), secret_of("nobody"))
    place, secret = cast.random.choice([*retired[-4:], guess])
    answer = await send(cast.world, cast.gate(), place, cast.told(place, sha=FORGED_SHA), secret=secret)
    return f"{place}: {answer.outcome}"


async def tell(cast: Cast, calls: Calls) -> str:
    """An ingress tells what it refused."""
    await cast.gate().settle()
    return ""


# People


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
    place, enabled = cast.random.choice(_PLACES), cast.random.random() < 0.8
    secret = secret_of(cast.world.ids.token()) if cast.random.random() < 0.2 else None
    await cast.person().put(place, enabled=enabled, secret=secret)
    return f"{place} enabled: {enabled}"


async def look(cast: Cast, calls: Calls) -> str:
    place = cast.random.choice(_PLACES)
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


async def delete(cast: Cast, calls: Calls) -> str:
    place = cast.random.choice(_PLACES)
    await cast.person().delete(place)
    return f"{place}"
