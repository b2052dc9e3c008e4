"""Webhooks, and what they delivered."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import ConfirmationRequired, NotFound, SecretNotAllowed, WeakSecret, WebhookChanged
from services.kernel.wire import deliveries, webhooks
from services.kernel.wire.model import Empty, Page

LIST_WEBHOOKS = Endpoint(
    method="GET",
    path="/api/private/projects/{project}/webhooks",
    summary="A project's webhooks with their newest deliveries; never a secret",
    request=Empty,
    response=Page[webhooks.Webhook],
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
PUT_WEBHOOK = Endpoint(
    method="PUT",
    path="/api/private/projects/{project}/webhooks/{provider}",
    summary="Create a webhook (201), or update it (200)",
    request=webhooks.PutWebhook,
    response=webhooks.WebhookPut,
    audience=Audience.OPERATOR,
    errors=(NotFound, SecretNotAllowed, WeakSecret),
)
ROTATE_SECRET = Endpoint(
    method="POST",
    path="/api/private/projects/{project}/webhooks/{provider}/rotate-secret",
    summary="Replace the secret; the old one fails at once",
    request=webhooks.RotateSecret,
    response=webhooks.SecretOnce,
    audience=Audience.OPERATOR,
    errors=(NotFound, ConfirmationRequired, WebhookChanged),
)
DELETE_WEBHOOK = Endpoint(
    method="DELETE",
    path="/api/private/projects/{project}/webhooks/{provider}",
    summary="Delete a webhook and its secret for good",
    request=Empty,
    response=Empty,
    audience=Audience.OPERATOR,
    status=204,
    errors=(NotFound,),
)
TEST_WEBHOOK = Endpoint(
    method="POST",
    path="/api/private/projects/{project}/webhooks/{provider}/test",
    summary="Sign a sample delivery, send it through the public URL, and say what it met",
    request=Empty,
    response=webhooks.WebhookTest,
    audience=Audience.OPERATOR,
    errors=(NotFound,),
)
LIST_DELIVERIES = Endpoint(
    method="GET",
    path="/api/private/projects/{project}/deliveries",
    summary="A project's deliveries, newest first",
    request=deliveries.DeliveryQuery,
    response=Page[deliveries.Delivery],
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
GET_DELIVERY = Endpoint(
    method="GET",
    path="/api/private/projects/{project}/deliveries/{delivery}",
    summary="One delivery",
    request=Empty,
    response=deliveries.Delivery,
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
