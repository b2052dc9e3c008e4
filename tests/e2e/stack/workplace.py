"""A project with a repository, a webhook and files to wait for: one test's own."""

import shlex
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Self

import httpx2

from services.kernel.runs import Status
from services.kernel.wire.deliveries import HookAnswer
from services.kernel.wire.runs import RunView
from services.local.story.api import Api
from services.local.story.push import Push
from services.local.story.repository import Repository

SOON = timedelta(seconds=60)

PIPELINE = """\
version: 1
run:
  steps:
    - {name: test, run: bash test.sh}
"""


@dataclass(slots=True, kw_only=True)
class Workplace:
    api: Api
    project: str
    repository: Repository
    folder: Path
    secret: str = field(repr=False)
    _numbers: "count[int]" = field(default_factory=count)

    @classmethod
    async def make(cls, api: Api, project: str, *, folder: Path) -> Self:
        repository = Repository.make(folder / "repository")
        await api.create_project(project, repository_url=repository.url)
        secret = await api.webhook_secret(project)
        return cls(api=api, project=project, repository=repository, folder=folder, secret=secret)

    def commit(self, test: str) -> str:
        """Push a commit to main whose only step is this script; its SHA."""
        return self.repository.commit("a commit", files={".anvil.yml": PIPELINE, "test.sh": f"{test}\n"})

    def push(self, commit_sha: str, *, delivery_id: str | None = None, branch: str = "main") -> Push:
        """A delivery nobody has sent yet."""
        return Push(
            repository_url=self.repository.url,
            commit_sha=commit_sha,
            delivery_id=delivery_id or f"delivery-{next(self._numbers)}",
            branch=branch,
        )

    async def deliver(self, push: Push, *, secret: str | None = None) -> httpx2.Response:
        return await self.api.deliver(self.project, push, secret=self.secret if secret is None else secret)

    async def answered(self, push: Push) -> httpx2.Response:
        """Deliver until the answer is about the push, and not that there was no time for one."""
        while True:
            response = await self.deliver(push)
            if response.status_code != 503 or response.json()["code"] != "unavailable":
                return response

    async def run_of(self, push: Push) -> str:
        """Deliver a push that must be accepted; its run."""
        response = await self.deliver(push)
        assert response.status_code == 202, response.text
        run = HookAnswer.model_validate_json(response.content).run_id
        assert run is not None
        return run

    async def running(self, run: str) -> RunView:
        return await self.api.until(run, lambda view: view.run.status is Status.RUNNING, within=SOON)

    async def finished(self, run: str) -> RunView:
        return await self.api.finished(run, within=SOON)

    @property
    def gate(self) -> Path:
        """A file that does not exist until the test makes it."""
        return self.folder / "gate"

    @property
    def waits_at_the_gate(self) -> str:
        return f"echo waiting; until [ -e {shlex.quote(str(self.gate))} ]; do sleep 0.05; done; echo through"
