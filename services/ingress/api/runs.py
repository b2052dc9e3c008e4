"""Runs: started, shown, canceled, run again. A run's own paths do not name its project, so the run is loaded first."""

import re

from services.ingress import repository
from services.ingress.api.idempotency import idempotency_key
from services.ingress.coordinator import Coordinator
from services.ingress.roles import Role, Roles
from services.kernel.errors import NotFound
from services.kernel.ids import RUN_ID, new_run_id
from services.kernel.ports import Ids
from services.kernel.web import Call, Caller, Served, route
from services.kernel.wire import api, internal
from services.kernel.wire.model import Empty, Page, PageQuery
from services.kernel.wire.runs import AcceptRun, CancelRun, Run, RunView, Started, StartRun


class Runs:
    """`url` is where people reach this API, without a slash at the end."""

    def __init__(self, coordinator: Coordinator, roles: Roles, ids: Ids, *, url: str) -> None:
        self._coordinator = coordinator
        self._roles = roles
        self._ids = ids
        self._url = url

    def served(self) -> list[Served]:
        return [
            route(api.LIST_RUNS, self._list),
            route(api.START_RUN, self._start),
            route(api.GET_RUN, self._get),
            route(api.CANCEL_RUN, self._cancel),
            route(api.RERUN, self._rerun),
        ]

    async def visible(self, run: str, caller: Caller, needed: Role) -> RunView:
        """The run, if the caller has that role in its project.

        Raises:
            NotFound: there is no such run, or not for this caller.
            Forbidden: the role is too low.
        """
        if re.fullmatch(RUN_ID, run) is None:
            raise NotFound(f"there is no run {run!r}")
        view = await self._coordinator.call(internal.GET_RUN, path={"run": run})
        if self._roles.of(caller.email, view.run.project) is None:
            raise NotFound(f"there is no run {run}")
        self._roles.require(caller.email, view.run.project, needed)
        return view

    async def _list(self, call: Call[PageQuery]) -> Page[Run]:
        return await self._coordinator.call(internal.LIST_RUNS, path=call.path, body=call.body)

    async def _start(self, call: Call[StartRun]) -> Started:
        if call.body.branch is not None:
            repository.check_branch(call.body.branch, field="branch")
        command = AcceptRun(
            run_id=new_run_id(self._ids),
            branch=call.body.branch,
            idempotency_key=idempotency_key(call.headers),
            actor=call.caller.email,
        )
        return await self._accept(call.path["project"], command)

    async def _get(self, call: Call[Empty]) -> RunView:
        return self._linked(await self.visible(call.path["run"], call.caller, Role.VIEWER))

    async def _cancel(self, call: Call[Empty]) -> RunView:
        await self.visible(call.path["run"], call.caller, Role.OPERATOR)
        command = CancelRun(actor=call.caller.email)
        return self._linked(await self._coordinator.call(internal.CANCEL_RUN, path=call.path, body=command))

    async def _rerun(self, call: Call[Empty]) -> Started:
        source = (await self.visible(call.path["run"], call.caller, Role.OPERATOR)).run
        command = AcceptRun(
            run_id=new_run_id(self._ids),
            source=source.run_id,
            idempotency_key=idempotency_key(call.headers),
            actor=call.caller.email,
        )
        return await self._accept(source.project, command)

    async def _accept(self, project: str, command: AcceptRun) -> Started:
        accepted = await self._coordinator.call(internal.ACCEPT_RUN, path={"project": project}, body=command)
        return Started(run_id=accepted.run_id, url=self._link(accepted.run_id))

    def _linked(self, view: RunView) -> RunView:
        own = self._link(view.run.run_id)
        return view.model_copy(update={"links": {**view.links, "self": own, "log": f"{own}/log"}})

    def _link(self, run: str) -> str:
        return self._url + api.GET_RUN.path.format(run=run)
