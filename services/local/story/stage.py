"""What the demo's scenes share: a project's repository, its webhook, and a reader of logs."""

import asyncio
import shlex
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from services.kernel.runs import Status
from services.kernel.wire.deliveries import HookAnswer
from services.kernel.wire.runs import RunView
from services.local.story.api import LOOK_AGAIN, Api
from services.local.story.narration import Narrator
from services.local.story.push import NO_COMMIT, Push
from services.local.story.repository import Repository

PROJECT = "demo"
A_RUN = timedelta(seconds=30)

PIPELINE = """\
version: 1
run:
  steps:
    - name: greet
      run: echo "this is $(cat greeting.txt)"
    - name: test
      run: bash test.sh
"""


class NotSeen(Exception):
    """Something was not as it should be."""


def expect(seen: bool, wanted: str, *, found: object) -> None:
    """Raise NotSeen unless `seen`."""
    if not seen:
        raise NotSeen(f"expected {wanted}, found {found}")


@dataclass(slots=True, kw_only=True)
class Stage:
    """`pushes` are those made so far, the last one is the branch's head; `shown` is how much of each log was shown."""

    api: Api
    repository: Repository
    gates: Path
    narrator: Narrator
    secret: str = field(default="", repr=False)
    pushes: list[Push] = field(default_factory=list[Push])
    shown: dict[str, int] = field(default_factory=dict[str, int])

    def push(self, greeting: str, *, test: str) -> Push:
        """Push a commit whose test is this script. Nobody tells Anvil of it yet."""
        files = {".anvil.yml": PIPELINE, "greeting.txt": f"{greeting}\n", "test.sh": f"{test}\n"}
        made = Push(
            repository_url=self.repository.url,
            commit_sha=self.repository.commit(greeting, files=files),
            before_sha=self.pushes[-1].commit_sha if self.pushes else NO_COMMIT,
            delivery_id=f"demo-{len(self.pushes) + 1}",
        )
        self.pushes.append(made)
        self.narrator.say(f"pushed {short(made.commit_sha)} “{greeting}”")
        return made

    async def tell(self, push: Push, *, status: int) -> HookAnswer:
        """Send the signed delivery of a push, which must be answered with `status`."""
        response = await self.api.deliver(PROJECT, push, secret=self.secret)
        expect(response.status_code == status, f"{status}", found=f"{response.status_code} {response.text}")
        answer = HookAnswer.model_validate_json(response.content)
        self.narrator.say(f"delivery {push.delivery_id} → {status} {answer.outcome}, run {answer.run_id}")
        return answer

    async def queued(self, push: Push) -> str:
        """Tell of a push that is to be run; its run."""
        answer = await self.tell(push, status=202)
        if answer.run_id is None:
            raise NotSeen(f"expected a run, found {answer.outcome}")
        return answer.run_id

    async def follow(self, run: str, *, until: str | None = None) -> RunView:
        """Show the run's log as it comes, until it has ended, or says `until`."""
        log = ""
        async with asyncio.timeout(A_RUN.total_seconds()):
            while True:
                view = await self.api.run(run)
                text, self.shown[run] = await self.api.log(run, after=self.shown.get(run, 0))
                self.narrator.log(text)
                log += text
                if view.run.status.terminal or (until is not None and until in log):
                    return view
                await asyncio.sleep(LOOK_AGAIN.total_seconds())

    def gate(self, name: str) -> Path:
        """A file that does not exist yet, for a test to wait for."""
        return self.gates / name


def waits_for(gate: Path) -> str:
    """A test that says so and waits until the file exists."""
    return f"echo waiting\nuntil [ -e {shlex.quote(str(gate))} ]; do sleep 0.1; done\necho done waiting"


def ended(view: RunView, status: Status, *, exit_code: int | None) -> None:
    found = (view.run.status, view.run.exit_code)
    expect(
        found == (status, exit_code),
        f"{status} with exit code {exit_code}",
        found=f"{found[0]} with exit code {found[1]} ({view.detail or view.reason})",
    )


def ran_at(view: RunView, sha: str) -> None:
    expect(view.run.commit_sha == sha, f"commit {short(sha)}", found=view.run.commit_sha)


def short(sha: str) -> str:
    return sha[:10]
