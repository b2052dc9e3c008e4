"""The private API of ingress, as its clients call it."""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import (
    ConfirmationRequired,
    IdempotencyKeyReused,
    InvalidRepositoryUrl,
    NotFound,
    NotRerunnable,
    ProjectBusy,
    QueueFull,
    SecretNotAllowed,
    SlugTaken,
    WeakSecret,
    WebhookChanged,
)
from services.kernel.wire import deliveries, projects, runs, webhooks
from services.kernel.wire.internal import LogQuery
from services.kernel.wire.model import Empty, Page, PageQuery, Wire


class Me(Wire):
    """Who the caller is, and the highest role it has in any project."""

    principal: str
    role: str


ME = Endpoint(
    method="GET",
    path="/api/private/me",
    summary="Who am I",
    request=Empty,
    response=Me,
    audience=Audience.VIEWER,
)

LIST_PROJECTS = Endpoint(
    method="GET",
    path="/api/private/projects",
    summary="The projects that the caller may see, newest first",
    request=PageQuery,
    response=Page[projects.Project],
    audience=Audience.VIEWER,
)
CREATE_PROJECT = Endpoint(
    method="POST",
    path="/api/private/projects",
    summary="Create a project",
    request=projects.NewProject,
    response=projects.Project,
    audience=Audience.ADMIN,
    status=201,
    errors=(SlugTaken, InvalidRepositoryUrl),
)
GET_PROJECT = Endpoint(
    method="GET",
    path="/api/private/projects/{project}",
    summary="One project",
    request=Empty,
    response=projects.Project,
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
PATCH_PROJECT = Endpoint(
    method="PATCH",
    path="/api/private/projects/{project}",
    summary="Change the given fields of a project",
    request=projects.ProjectPatch,
    response=projects.Project,
    audience=Audience.ADMIN,
    errors=(NotFound, InvalidRepositoryUrl),
)
DELETE_PROJECT = Endpoint(
    method="DELETE",
    path="/api/private/projects/{project}",
    summary="Delete a project without open runs",
    request=Empty,
    response=Empty,
    audience=Audience.ADMIN,
    status=204,
    errors=(NotFound, ProjectBusy),
)
GET_QUEUE = Endpoint(
    method="GET",
    path="/api/private/projects/{project}/queue",
    summary="Who runs and who waits, in order",
    request=Empty,
    response=projects.Queue,
    audience=Audience.VIEWER,
    errors=(NotFound,),
)

LIST_RUNS = Endpoint(
    method="GET",
    path="/api/private/projects/{project}/runs",
    summary="A project's runs, newest first",
    request=PageQuery,
    response=Page[runs.Run],
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
START_RUN = Endpoint(
    method="POST",
    path="/api/private/projects/{project}/runs",
    summary="Queue a run of a branch head",
    request=runs.StartRun,
    response=runs.Started,
    audience=Audience.OPERATOR,
    status=202,
    errors=(NotFound, QueueFull, IdempotencyKeyReused),
    headers=("Idempotency-Key",),
)
GET_RUN = Endpoint(
    method="GET",
    path="/api/private/runs/{run}",
    summary="One run with its steps and the end of its log",
    request=Empty,
    response=runs.RunView,
    audience=Audience.VIEWER,
    errors=(NotFound,),
)
CANCEL_RUN = Endpoint(
    method="POST",
    path="/api/private/runs/{run}/cancel",
    summary="Ask for the end of a run; a finished one is returned unchanged",
    request=Empty,
    response=runs.RunView,
    audience=Audience.OPERATOR,
    errors=(NotFound,),
)
RERUN = Endpoint(
    method="POST",
    path="/api/private/runs/{run}/rerun",
    summary="Queue a finished run again",
    request=Empty,
    response=runs.Started,
    audience=Audience.OPERATOR,
    status=202,
    errors=(NotFound, NotRerunnable, QueueFull, IdempotencyKeyReused),
    headers=("Idempotency-Key",),
)
GET_LOG = Endpoint(
    method="GET",
    path="/api/private/runs/{run}/log",
    summary="The log from a byte offset; X-Log-Cursor says where to go on, X-Log-Complete whether that was all",
    request=LogQuery,
    response=Empty,
    audience=Audience.VIEWER,
    errors=(NotFound,),
    media_type="text/plain",
)

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
