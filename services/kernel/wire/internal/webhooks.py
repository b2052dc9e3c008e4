"""Webhooks and deliveries, asked for by the console."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import NotFound, WebhookChanged
from services.kernel.wire import audit, deliveries, webhooks
from services.kernel.wire.model import Empty, Page

LIST_WEBHOOKS = Endpoint(
    method="GET",
    path="/v1/projects/{project}/webhooks",
    summary="A project's webhooks with their newest deliveries",
    request=Empty,
    response=Page[webhooks.Webhook],
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
CREATE_WEBHOOK = Endpoint(
    method="POST",
    path="/v1/projects/{project}/webhooks/{provider}:create",
    summary="Create a webhook with a sealed secret",
    request=webhooks.CreateWebhook,
    response=webhooks.Webhook,
    audience=Audience.CONSOLE,
    status=201,
    errors=(NotFound, WebhookChanged),
)
UPDATE_WEBHOOK = Endpoint(
    method="PATCH",
    path="/v1/projects/{project}/webhooks/{provider}",
    summary="Enable, disable or configure a webhook; its secret stays",
    request=webhooks.UpdateWebhook,
    response=webhooks.Webhook,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
REPLACE_SECRET = Endpoint(
    method="POST",
    path="/v1/projects/{project}/webhooks/{provider}:replaceSecret",
    summary="Put a new sealed secret in the place of the old one, which fails from then on",
    request=webhooks.ReplaceSecret,
    response=webhooks.Webhook,
    audience=Audience.CONSOLE,
    errors=(NotFound, WebhookChanged),
)
DELETE_WEBHOOK = Endpoint(
    method="DELETE",
    path="/v1/projects/{project}/webhooks/{provider}",
    summary="Delete a webhook and its secret for good",
    request=audit.Actor,
    response=Empty,
    audience=Audience.CONSOLE,
    status=204,
    errors=(NotFound,),
)
TEST_MATERIAL = Endpoint(
    method="GET",
    path="/v1/projects/{project}/webhooks/{provider}:testMaterial",
    summary="What is needed to sign a sample delivery; an unknown webhook has nothing",
    request=Empty,
    response=webhooks.Verification,
    audience=Audience.CONSOLE,
)
LIST_DELIVERIES = Endpoint(
    method="GET",
    path="/v1/projects/{project}/deliveries",
    summary="A project's deliveries, newest first",
    request=deliveries.DeliveryQuery,
    response=Page[deliveries.Delivery],
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
GET_DELIVERY = Endpoint(
    method="GET",
    path="/v1/projects/{project}/deliveries/{delivery}",
    summary="One delivery",
    request=Empty,
    response=deliveries.Delivery,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
