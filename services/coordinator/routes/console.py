"""What the console asks about projects, runs and webhooks."""

from dataclasses import dataclass

from services.coordinator.deliveries import Deliveries
from services.coordinator.projects import Projects
from services.coordinator.runs import Runs
from services.coordinator.webhooks import Webhooks
from services.kernel.ids import DeliveryRowId, RunId
from services.kernel.web import Call, Served, route
from services.kernel.wire import deliveries as delivery_wire
from services.kernel.wire import internal
from services.kernel.wire import projects as project_wire
from services.kernel.wire import runs as run_wire
from services.kernel.wire import webhooks as webhook_wire
from services.kernel.wire.audit import Actor
from services.kernel.wire.model import Empty, Page, PageQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleRoutes:
    projects: Projects
    runs: Runs
    webhooks: Webhooks
    deliveries: Deliveries

    def served(self) -> list[Served]:
        return [
            route(internal.LIST_PROJECTS, self._list_projects),
            route(internal.CREATE_PROJECT, self._create_project),
            route(internal.GET_PROJECT, self._get_project),
            route(internal.PATCH_PROJECT, self._patch_project),
            route(internal.DELETE_PROJECT, self._delete_project),
            route(internal.GET_QUEUE, self._get_queue),
            route(internal.ACCEPT_RUN, self._accept_run),
            route(internal.LIST_RUNS, self._list_runs),
            route(internal.GET_RUN, self._get_run),
            route(internal.GET_LOG, self._get_log),
            route(internal.CANCEL_RUN, self._cancel_run),
            route(internal.LIST_WEBHOOKS, self._list_webhooks),
            route(internal.CREATE_WEBHOOK, self._create_webhook),
            route(internal.UPDATE_WEBHOOK, self._update_webhook),
            route(internal.REPLACE_SECRET, self._replace_secret),
            route(internal.DELETE_WEBHOOK, self._delete_webhook),
            route(internal.TEST_MATERIAL, self._verification),
            route(internal.LIST_DELIVERIES, self._list_deliveries),
            route(internal.GET_DELIVERY, self._get_delivery),
        ]

    async def _list_projects(self, call: Call[internal.ProjectsQuery]) -> Page[project_wire.Project]:
        return await self.projects.page(call.body)

    async def _create_project(self, call: Call[internal.CreateProject]) -> project_wire.Project:
        return await self.projects.create(call.body)

    async def _get_project(self, call: Call[Empty]) -> project_wire.Project:
        return await self.projects.show(call.path["project"])

    async def _patch_project(self, call: Call[internal.PatchProject]) -> project_wire.Project:
        return await self.projects.patch(call.path["project"], call.body)

    async def _delete_project(self, call: Call[Actor]) -> Empty:
        await self.projects.delete(call.path["project"], actor=call.body.actor)
        return Empty()

    async def _get_queue(self, call: Call[Empty]) -> project_wire.Queue:
        return await self.projects.queue(call.path["project"])

    async def _accept_run(self, call: Call[run_wire.AcceptRun]) -> run_wire.RunAccepted:
        return await self.runs.accept(call.path["project"], call.body)

    async def _list_runs(self, call: Call[PageQuery]) -> Page[run_wire.Run]:
        return await self.runs.page(call.path["project"], call.body)

    async def _get_run(self, call: Call[Empty]) -> run_wire.RunView:
        return await self.runs.show(RunId(call.path["run"]))

    async def _get_log(self, call: Call[internal.LogQuery]) -> run_wire.LogPart:
        return await self.runs.log(RunId(call.path["run"]), after=call.body.after)

    async def _cancel_run(self, call: Call[run_wire.CancelRun]) -> run_wire.RunView:
        return await self.runs.cancel(RunId(call.path["run"]), actor=call.body.actor)

    async def _list_webhooks(self, call: Call[Empty]) -> Page[webhook_wire.Webhook]:
        return await self.webhooks.page(call.path["project"])

    async def _create_webhook(self, call: Call[webhook_wire.CreateWebhook]) -> webhook_wire.Webhook:
        return await self.webhooks.create(call.path["project"], call.path["provider"], call.body)

    async def _update_webhook(self, call: Call[webhook_wire.UpdateWebhook]) -> webhook_wire.Webhook:
        return await self.webhooks.update(call.path["project"], call.path["provider"], call.body)

    async def _replace_secret(self, call: Call[webhook_wire.ReplaceSecret]) -> webhook_wire.Webhook:
        return await self.webhooks.replace_secret(call.path["project"], call.path["provider"], call.body)

    async def _delete_webhook(self, call: Call[Actor]) -> Empty:
        await self.webhooks.delete(call.path["project"], call.path["provider"], actor=call.body.actor)
        return Empty()

    async def _verification(self, call: Call[Empty]) -> webhook_wire.Verification:
        return await self.webhooks.verification(call.path["project"], call.path["provider"])

    async def _list_deliveries(self, call: Call[delivery_wire.DeliveryQuery]) -> Page[delivery_wire.Delivery]:
        return await self.deliveries.page(call.path["project"], call.body)

    async def _get_delivery(self, call: Call[Empty]) -> delivery_wire.Delivery:
        return await self.deliveries.show(call.path["project"], DeliveryRowId(call.path["delivery"]))
