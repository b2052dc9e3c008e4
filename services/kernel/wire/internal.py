"""What the services ask of each other: the coordinator's `/v1`, and what tasks and the scheduler post.

Projects are named by slug here, as in the webhook's URL; the answer to `verification` says which id that is.
"""

from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import (
    IdempotencyKeyReused,
    NotFound,
    NotRerunnable,
    OwnershipLost,
    ProjectBusy,
    QueueFull,
    RepositoryMismatch,
    SlugTaken,
    StaleVerification,
    WebhookChanged,
)
from services.kernel.wire import deliveries, projects, runs, webhooks
from services.kernel.wire.model import Empty, Page, PageQuery, ProjectIdText, Wire


class CreateProject(projects.NewProject):
    """`project_id` is the caller's own fresh id, so that asking again finds itself applied."""

    project_id: ProjectIdText
    actor: str


class PatchProject(projects.ProjectPatch):
    actor: str


class ProjectsQuery(PageQuery):
    """Only these projects, given as comma-separated slugs; all of them if absent."""

    slugs: str | None = None


class LogQuery(Wire):
    """A run's log from byte `after` on."""

    after: int = 0


# Hooks

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

# Console: projects

LIST_PROJECTS = Endpoint(
    method="GET",
    path="/v1/projects",
    summary="Projects, newest first",
    request=ProjectsQuery,
    response=Page[projects.Project],
    audience=Audience.CONSOLE,
)
CREATE_PROJECT = Endpoint(
    method="POST",
    path="/v1/projects",
    summary="Create a project",
    request=CreateProject,
    response=projects.Project,
    audience=Audience.CONSOLE,
    status=201,
    errors=(SlugTaken,),
)
GET_PROJECT = Endpoint(
    method="GET",
    path="/v1/projects/{project}",
    summary="One project",
    request=Empty,
    response=projects.Project,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
PATCH_PROJECT = Endpoint(
    method="PATCH",
    path="/v1/projects/{project}",
    summary="Change the given fields of a project",
    request=PatchProject,
    response=projects.Project,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
DELETE_PROJECT = Endpoint(
    method="DELETE",
    path="/v1/projects/{project}",
    summary="Delete a project without open runs",
    request=Empty,
    response=Empty,
    audience=Audience.CONSOLE,
    status=204,
    errors=(NotFound, ProjectBusy),
)
GET_QUEUE = Endpoint(
    method="GET",
    path="/v1/projects/{project}/queue",
    summary="Who runs and who waits, in order",
    request=Empty,
    response=projects.Queue,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)

# Console: runs

ACCEPT_RUN = Endpoint(
    method="POST",
    path="/v1/projects/{project}:acceptRun",
    summary="Queue a manual run or a rerun",
    request=runs.AcceptRun,
    response=runs.RunAccepted,
    audience=Audience.CONSOLE,
    errors=(NotFound, QueueFull, NotRerunnable, IdempotencyKeyReused),
)
LIST_RUNS = Endpoint(
    method="GET",
    path="/v1/projects/{project}/runs",
    summary="A project's runs, newest first",
    request=PageQuery,
    response=Page[runs.Run],
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
GET_RUN = Endpoint(
    method="GET",
    path="/v1/runs/{run}",
    summary="One run with its steps and the end of its log",
    request=Empty,
    response=runs.RunView,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
GET_LOG = Endpoint(
    method="GET",
    path="/v1/runs/{run}/log",
    summary="A stretch of a run's log",
    request=LogQuery,
    response=runs.LogPart,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)
CANCEL_RUN = Endpoint(
    method="POST",
    path="/v1/runs/{run}:cancel",
    summary="Ask for the end of a run",
    request=runs.CancelRun,
    response=runs.RunView,
    audience=Audience.CONSOLE,
    errors=(NotFound,),
)

# Console: webhooks and deliveries

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
    request=Empty,
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

# Runner

CLAIM = Endpoint(
    method="POST",
    path="/v1/runs/{run}:claim",
    summary="Take an executable run; the same token asked again gets the same answer",
    request=runs.Claim,
    response=runs.ClaimAnswer,
    audience=Audience.RUNNER,
)
START = Endpoint(
    method="POST",
    path="/v1/runs/{run}:start",
    summary="The commit is checked out; commands may begin",
    request=runs.Start,
    response=runs.Orders,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
HEARTBEAT = Endpoint(
    method="POST",
    path="/v1/runs/{run}:heartbeat",
    summary="Renew the lease",
    request=runs.Heartbeat,
    response=runs.Orders,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
APPEND_LOG = Endpoint(
    method="POST",
    path="/v1/runs/{run}:appendLog",
    summary="Store chunks of the log",
    request=runs.AppendLog,
    response=Empty,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
REPORT = Endpoint(
    method="POST",
    path="/v1/runs/{run}:report",
    summary="How the run ended; the first report stands",
    request=runs.Report,
    response=Empty,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)
COMPLETE = Endpoint(
    method="POST",
    path="/v1/runs/{run}:complete",
    summary="The sandbox is gone: end the run and let the next one go",
    request=runs.Complete,
    response=Empty,
    audience=Audience.RUNNER,
    errors=(OwnershipLost,),
)

# Tasks and the scheduler

RECONCILE = Endpoint(
    method="POST",
    path="/tasks/reconcile",
    summary="Look at one run",
    request=runs.ReconcileTask,
    response=Empty,
    audience=Audience.TASKS,
)
SWEEP = Endpoint(
    method="POST",
    path="/sweep",
    summary="Look at everything that is due",
    request=Empty,
    response=runs.Swept,
    audience=Audience.SCHEDULER,
)
RUN = Endpoint(
    method="POST",
    path="/tasks/run",
    summary="Execute a run if it is executable; answers when it has ended",
    request=runs.RunTask,
    response=runs.ClaimAnswer,
    audience=Audience.TASKS,
)
