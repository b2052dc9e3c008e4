"""The public webhook endpoint: what comes in from a Git host, and what it is answered."""

from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from services.ingress.acceptance import Acceptance, Accepted
from services.ingress.hints import hint
from services.ingress.materials import Webhook
from services.ingress.providers.headers import only
from services.ingress.providers.port import GitHost, Received
from services.ingress.providers.registry import git_host
from services.kernel import deadline, errors
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.log import get_logger
from services.kernel.ports import Clock
from services.kernel.web import Caller, Served, raw, read_body
from services.kernel.wire.deliveries import HookAnswer, Outcome
from services.kernel.wire.model import Empty

log = get_logger(__name__)

ANSWER_WITHIN: Final = timedelta(seconds=3.8)
"""From the arrival of the whole request, so that its host has the answer within 4 s; the most impatient waits 5 s."""

_BODY_WITHIN: Final = timedelta(seconds=10)

HOOK: Final = Endpoint(
    method="POST",
    path="/api/public/hooks/{provider}/{project}",
    summary="A delivery of a Git host: 202 if it is accepted for the first time, else 200 with what became of it",
    request=Empty,
    response=HookAnswer,
    audience=Audience.PUBLIC,
    status=202,
    errors=(
        errors.NotFound,
        errors.PayloadTooLarge,
        errors.UnsupportedMediaType,
        errors.RequestTimeout,
        errors.InvalidSignature,
        errors.TooManyRequests,
        errors.InvalidDeliveryId,
        errors.InvalidPayload,
        errors.RepositoryMismatch,
        errors.QueueFullForNow,
        errors.Unavailable,
    ),
)


class Hooks:
    def __init__(self, acceptance: Acceptance, *, body_limit: int, clock: Clock) -> None:
        self._acceptance = acceptance
        self._body_limit = body_limit
        self._clock = clock

    def served(self) -> list[Served]:
        return [raw(HOOK, self._delivered)]

    async def _delivered(self, request: Request, caller: Caller) -> Response:
        provider, host = git_host(request.path_params["provider"])
        project: str = request.path_params["project"]
        received = await self._received(request, host)
        accepted = await self._accepted(Webhook.at(project, provider), host, received)
        return _response(accepted, project)

    async def _accepted(self, webhook: Webhook, host: GitHost, received: Received) -> Accepted:
        try:
            # A deadline that a stranger sends along counts for nothing.
            with deadline.scope(self._clock, ANSWER_WITHIN):
                async with deadline.within(self._clock, at_most=ANSWER_WITHIN):
                    return await self._acceptance.accept(webhook, host, received)
        except (errors.Unavailable, errors.Ambiguous) as error:
            # Which part is away is nothing for strangers to know.
            log.warning("a delivery was not answered in time", project=webhook.project, detail=error.detail)
            raise errors.Unavailable("It may have been recorded; sending it again is safe.") from error

    async def _received(self, request: Request, host: GitHost) -> Received:
        media_type = (only(request.headers, "content-type") or "").partition(";")[0].strip().lower()
        if media_type not in host.media_types:
            raise errors.UnsupportedMediaType(f"a delivery is one of: {', '.join(sorted(host.media_types))}")
        body = await read_body(request, limit=self._body_limit, within=_BODY_WITHIN, clock=self._clock)
        return Received(headers=request.headers, media_type=media_type, body=body)


def _response(accepted: Accepted, project: str) -> Response:
    """202 for what is accepted for the first time, 200 for all else that is settled (C2).

    Raises:
        QueueFullForNow: it is recorded, and sent again it may be accepted (R46).
    """
    answer = accepted.answer
    if answer.outcome is Outcome.QUEUE_FULL and not answer.duplicate:
        raise errors.QueueFullForNow
    body = HookAnswer(
        outcome=answer.outcome,
        duplicate=answer.duplicate,
        delivery_id=accepted.delivery_id,
        run_id=answer.run_id,
        first_seen_at=answer.first_seen_at,
        hint=hint(answer, project=project),
    )
    first = answer.outcome is Outcome.ACCEPTED and not answer.duplicate
    return Response(
        body.model_dump_json(),
        status_code=HOOK.status if first else 200,
        media_type="application/json",
        headers={"Cache-Control": "no-store"},
    )
