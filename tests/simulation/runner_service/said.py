"""What runners say to the coordinator, over a wire on which everything may get lost."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx2
from pydantic import ConfigDict

from services.kernel.errors import Ambiguous, OwnershipLost, Unavailable
from services.kernel.runs import Directive, Verdict
from services.kernel.wire.model import Wire
from tests.simulation.runner_service.line import Port
from tests.simulation.runner_service.time import apart

if TYPE_CHECKING:
    from tests.simulation.runner_service.process import RunnerProcess


class Message(Wire):
    """What is looked at of any message, and of any answer."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    attempt: str = ""
    status: str | int = ""
    commit_sha: str = ""
    verdict: Verdict | None = None
    directive: Directive | None = None
    code: str = ""


@dataclass(slots=True, kw_only=True)
class Said:
    """A message, when it was sent, and how it was answered; None if its sender never heard."""

    process: "RunnerProcess"
    run: str
    name: str
    body: bytes
    sent_at: timedelta
    answer: Message | None = None

    @property
    def message(self) -> Message:
        return Message.model_validate_json(self.body)

    @property
    def accepted(self) -> bool:
        return self.answer is not None and not self.answer.code

    @property
    def settled(self) -> bool:
        """Whether asking again would come to nothing else."""
        return self.answer is not None and self.answer.code in ("", OwnershipLost.code)


class Telephone(httpx2.AsyncBaseTransport):
    """From one process to whichever coordinator is there."""

    def __init__(self, process: "RunnerProcess") -> None:
        self._process = process

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        run, _, name = request.url.path.rpartition("/")[2].partition(":")
        process, stage = self._process, self._process.stage
        said = Said(process=process, run=run, name=name, body=request.content, sent_at=stage.clock.elapsed())
        stage.truth.said.append(said)
        try:
            async with process.around(Port.CALL, name):
                stage.truth.asked(said)
                asked = apart(_answered(stage.coordinator(), request))
                await asyncio.wait({asked})
                response = asked.result()
        except Unavailable as error:
            raise httpx2.ConnectError("nobody is there") from error
        except Ambiguous as error:
            raise httpx2.ReadError("no answer came") from error
        said.answer = Message.model_validate_json(response.content or b"{}")
        stage.truth.heard(said)
        return response


async def _answered(coordinator: httpx2.AsyncBaseTransport, request: httpx2.Request) -> httpx2.Response:
    answer = await coordinator.handle_async_request(request)
    return httpx2.Response(answer.status_code, headers=answer.headers, content=await answer.aread())
