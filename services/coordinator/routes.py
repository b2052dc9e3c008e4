"""Which use case answers which endpoint."""

from dataclasses import dataclass

from services.coordinator.attempts import Attempts
from services.coordinator.deliveries import Deliveries
from services.coordinator.logs import Logs
from services.coordinator.projects import Projects
from services.coordinator.reconcile import Reconciler
from services.coordinator.refusals import Refusals
from services.coordinator.runs import Runs
from services.coordinator.sweep import Sweeper
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
class Routes:
    projects: Projects
    webhooks: Webhooks
    refusals: Refusals
    deliveries: Deliveries
    runs: Runs
    attempts: Attempts
    logs: Logs
    reconciler: Reconciler
    sweeper: Sweeper

    def served(self) -> list[Served]:
        return [*self._for_hooks(), *self._for_console(), *self._for_runners(), *self._for_timers()]

    def _for_hooks(self) -> list[Served]:
        return [
            route(internal.VERIFICATION, self._verification),
            route(internal.ACCEPT_DELIVERY, self._accept_delivery),
            route(internal.COUNT_REFUSALS, self._count_refusals),
        ]

    def _for_console(self) -> list[Served]:
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

    def _for_runners(self) -> list[Served]:
        return [
            route(internal.CLAIM, self._claim),
            route(internal.START, self._start),
            route(internal.HEARTBEAT, self._heartbeat),
            route(internal.APPEND_LOG, self._append_log),
            route(internal.REPORT, self._report),
            route(internal.COMPLETE, self._complete),
        ]

    def _for_timers(self) -> list[Served]:
        return [
            route(internal.RECONCILE, self._reconcile),
            route(internal.SWEEP, self._sweep),
        ]

    async def _verification(self, call: Call[Empty]) -> webhook_wire.Verification:
        return await self.webhooks.verification(call.path["project"], call.path["provider"])

    async def _accept_delivery(self, call: Call[delivery_wire.AcceptDelivery]) -> delivery_wire.DeliveryAnswer:
        return await self.deliveries.accept(call.path["project"], call.body)

    async def _count_refusals(self, call: Call[webhook_wire.CountRefusals]) -> Empty:
        await self.refusals.count(call.path["project"], call.body)
        return Empty()

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

    async def _list_deliveries(self, call: Call[delivery_wire.DeliveryQuery]) -> Page[delivery_wire.Delivery]:
        return await self.deliveries.page(call.path["project"], call.body)

    async def _get_delivery(self, call: Call[Empty]) -> delivery_wire.Delivery:
        return await self.deliveries.show(call.path["project"], DeliveryRowId(call.path["delivery"]))

    async def _claim(self, call: Call[run_wire.Claim]) -> run_wire.ClaimAnswer:
        return await self.attempts.claim(RunId(call.path["run"]), call.body)

    async def _start(self, call: Call[run_wire.Start]) -> run_wire.Orders:
        return await self.attempts.start(RunId(call.path["run"]), call.body)

    async def _heartbeat(self, call: Call[run_wire.Heartbeat]) -> run_wire.Orders:
        return await self.attempts.heartbeat(RunId(call.path["run"]), call.body)

    async def _append_log(self, call: Call[run_wire.AppendLog]) -> Empty:
        await self.logs.append(RunId(call.path["run"]), call.body)
        return Empty()

    async def _report(self, call: Call[run_wire.Report]) -> Empty:
        await self.attempts.report(RunId(call.path["run"]), call.body)
        return Empty()

    async def _complete(self, call: Call[run_wire.Complete]) -> Empty:
        await self.attempts.complete(RunId(call.path["run"]), call.body)
        return Empty()

    async def _reconcile(self, call: Call[run_wire.ReconcileTask]) -> Empty:
        await self.reconciler.look(RunId(call.body.run))
        return Empty()

    async def _sweep(self, call: Call[Empty]) -> run_wire.Swept:
        return await self.sweeper.sweep()
