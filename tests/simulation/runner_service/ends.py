"""What must be so in the end of a world with real runners, besides the invariants."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from services.coordinator.records.run import LogChunk, Run, log_of
from services.kernel.ids import RunId
from services.kernel.ports import Snapshot, Version
from services.kernel.runs import Reason, Status
from tests.simulation.runner_service.effects import Did, Effect
from tests.simulation.runner_service.truth import Truth
from tests.simulation.state import State

Steps = Mapping[str, Sequence[str]]
"""The names of the steps of each commit's pipeline, in order."""


_LOG = log_of(RunId(""))


def wrong_in_the_end(truth: Truth, steps: Steps) -> list[str]:
    found = [f"R6: {each}" for each in _reports(truth)]
    for run in truth.world.state.runs.values():
        done = truth.effects.of(run.run_id)
        found += [f"S4: {each}" for each in _told_truly(run, done, steps)]
        found += [f"Q14: {each}" for each in _in_order(run, done, steps)]
        found += [f"R2: {each}" for each in _log(run, truth)]
    return found


def stored_log(state: State, run: str) -> list[LogChunk]:
    found = [
        _LOG.load(Snapshot(ref=ref, version=Version("0"), data=data)).value
        for ref, data in state.documents.items()
        if ref.collection == f"runs/{run}/log"
    ]
    return sorted(found, key=lambda chunk: chunk.seq)


def printed(text: str) -> str:
    """The lines of a log that the commands wrote, not the runner."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("──"))


def _told_truly(run: Run, done: Sequence[Effect], steps: Steps) -> Iterator[str]:
    """A status is what the commands came to, and the exit code their own (R5)."""
    codes = [effect.code for effect in done if effect.did is Did.ENDED]
    if run.status is Status.PASSED and (
        run.commit_sha is None or codes != [0] * len(steps[run.commit_sha]) or run.exit_code != 0
    ):
        yield f"{run.run_id} passed, its steps ended with {codes}"
    if run.reason is Reason.STEP_FAILED and (not codes or codes[-1] == 0 or codes[-1] != run.exit_code):
        yield f"{run.run_id} failed with {run.exit_code}, its steps ended with {codes}"


def _in_order(run: Run, done: Sequence[Effect], steps: Steps) -> Iterator[str]:
    """One step after the other, each after the one before has passed."""
    flow = [effect for effect in done if effect.did in (Did.BEGAN, Did.ENDED)]
    began = [effect.step for effect in flow if effect.did is Did.BEGAN]
    if began and (run.commit_sha is None or began != list(steps[run.commit_sha][: len(began)])):
        yield f"{run.run_id} ran {began}"
    for was, effect in pairwise(flow):
        if effect.did is Did.BEGAN and (was.did is not Did.ENDED or was.code != 0):
            yield f"{run.run_id} began {effect.step} though {was.step} {was.did} with {was.code}"


def _reports(truth: Truth) -> Iterator[str]:
    """A report is repeated, the same under the same token, until it is accepted or refused for good."""
    attempts = {(said.process, said.run) for said in truth.said}
    for process, run in attempts:
        mine = [said for said in truth.said if said.process is process and said.run == run]
        if len({said.message.attempt for said in mine if said.name != "claim"}) > 1:
            yield f"one attempt at {run} has several tokens"
        for name in ("report", "complete"):
            told = [said for said in mine if said.name == name]
            if told and not told[-1].settled and not process.life.ended:
                yield f"the {name} of {run} was given up"
            if len({said.body for said in told}) > 1:
                yield f"the {name} of {run} changed when it was repeated"


def _log(run: Run, truth: Truth) -> Iterator[str]:
    """What is stored is the beginning of what was written, each part where it belongs."""
    chunks = stored_log(truth.world.state, run.run_id)
    text = "".join(chunk.text for chunk in chunks)
    offset, line = 0, 1
    for number, chunk in enumerate(chunks):
        raw = chunk.text.encode()
        if (chunk.seq, chunk.offset, chunk.first_line) != (number, offset, line):
            yield f"chunk {chunk.seq} of {run.run_id} is at {chunk.offset}, expected was {number} at {offset}"
        if chunk.sha256 != hashlib.sha256(raw).hexdigest():
            yield f"chunk {chunk.seq} of {run.run_id} is not what it says"
        offset, line = offset + len(raw), line + raw.count(b"\n")
    if not truth.written[run.run_id].startswith(printed(text)):
        yield f"the log of {run.run_id} is {printed(text)!r}, written was {truth.written[run.run_id]!r}"
