"""What the hooks ask: verify, record, count."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import NotFound, RepositoryMismatch, StaleVerification
from services.kernel.wire import deliveries, webhooks
from services.kernel.wire.model import Empty

VERIFICATION = Endpoint(
    method="GET",
    path="/v1/projects/{project}/webhooks/{provider}:verification",
    summary="What is needed to verify a delivery; an unknown project has nothing",
    request=Empty,
    response=webhooks.Verification,
    audience=Audience.HOOKS,
)
ACCEPT_DELIVERY = Endpoint(
    method="POST",
    path="/v1/projects/{project}:acceptDelivery",
    summary="Record a verified delivery and, if it asks for one, its run",
    request=deliveries.AcceptDelivery,
    response=deliveries.DeliveryAnswer,
    audience=Audience.HOOKS,
    errors=(NotFound, StaleVerification, RepositoryMismatch),
)
COUNT_REFUSALS = Endpoint(
    method="POST",
    path="/v1/projects/{project}:countRefusals",
    summary="Add to the counters of refused deliveries",
    request=webhooks.CountRefusals,
    response=Empty,
    audience=Audience.HOOKS,
    errors=(NotFound,),
)
