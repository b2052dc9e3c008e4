"""One try of a Git host at an ingress, and what its answer says of secrets: who signed with which, and was taken."""

import json
from collections.abc import Iterator
from datetime import datetime

import httpx2

from services.kernel.errors import Ambiguous, AnvilError, QueueFullForNow
from services.kernel.wire.deliveries import DeliveryAnswer, HookAnswer, Outcome
from tests.simulation.custody import Place
from tests.simulation.gate import Gate
from tests.simulation.hosts import Told
from tests.simulation.testimony import Answered
from tests.simulation.world import World

_GENUINE = frozenset({200, 202, 400, 403})
"""Answers that only holders of the secret get."""


async def send(world: World, gate: Gate, place: Place, told: Told, *, secret: str) -> DeliveryAnswer:
    """
    Raises:
        AnvilError: what the host was told.
        Ambiguous: it was told nothing.
    """
    began, asked_at = world.secrets.moment, world.clock.now()
    sent = told.signed(secret)
    try:
        response = await gate.delivered(place, sent.body, sent.headers)
    except httpx2.RequestError as error:
        raise Ambiguous("the host was told nothing") from error
    world.violations += _judged(world, gate, place, response, secret=secret, began=began)
    answer = _answer(response, asked_at)
    world.testimony.delivered(
        Answered(key=(*place, told.delivery_id), asked_at=asked_at, at=world.clock.now(), answer=answer)
    )
    return answer


def _judged(
    world: World, gate: Gate, place: Place, response: httpx2.Response, *, secret: str, began: int
) -> Iterator[str]:
    """Whether the signature was judged by a secret of the time between question and answer."""
    valid = world.secrets.since(place, began)
    full = not response.is_success and isinstance(_error(response), QueueFullForNow)
    genuine = full or response.status_code in _GENUINE
    if len(valid) > 1:
        world.testimony.reached["a rotation during a delivery"] += 1
    if response.status_code == 401:
        world.testimony.refusals.add(_shown(response))
        if (place, secret) in gate.verified:
            world.testimony.reached["an old secret, refused where it was known"] += 1
        if all(each == secret for each in valid):
            yield f"H1: a genuine delivery to {place} was refused"
    if genuine and secret not in valid:
        yield f"K4: {place} took a secret that was not valid at any time since it was asked"
    if genuine:
        gate.verified.add((place, secret))


def _answer(response: httpx2.Response, asked_at: datetime) -> DeliveryAnswer:
    if response.is_success:
        said = HookAnswer.model_validate_json(response.content)
        return DeliveryAnswer(
            outcome=said.outcome, duplicate=said.duplicate, run_id=said.run_id, first_seen_at=said.first_seen_at
        )
    error = _error(response)
    if isinstance(error, QueueFullForNow):
        return DeliveryAnswer(outcome=Outcome.QUEUE_FULL, duplicate=False, run_id=None, first_seen_at=asked_at)
    raise error


def _error(response: httpx2.Response) -> AnvilError:
    problem = json.loads(response.content)
    told = (problem["code"], problem["retryable"])
    kinds = (kind for kind in _known(AnvilError) if (kind.code, kind.retryable) == told)
    return next(kinds, AnvilError)(problem["detail"])


def _known(kind: type[AnvilError]) -> Iterator[type[AnvilError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _known(child)


def _shown(response: httpx2.Response) -> str:
    """All that tells one refusal from another, so nothing may (H2)."""
    headers = {name: value for name, value in response.headers.items() if name not in ("x-request-id", "traceparent")}
    problem = {name: value for name, value in json.loads(response.content).items() if name != "traceId"}
    return f"{sorted(headers.items())} {problem}"
