"""The log: what is stored of it is what its runner wrote, in order, without a gap, and no less than it was told."""

from collections.abc import Iterator

from tests.simulation.invariants.step import Check, Step


def log(step: Step) -> Iterator[str]:
    """Chunks are numbered and placed without a gap, none is another's, and none that was acknowledged is missing."""
    for run_id, chunks in step.after.logs.items():
        if len(chunks) == len(step.before.logs.get(run_id, ())):
            continue
        written = step.testimony.written.get(run_id)
        if written is not None and [each.text for each in chunks] != written[: len(chunks)]:
            yield f"the log of {run_id} is {[each.text for each in chunks]}, its runner wrote {written}"
        offset, line = 0, 1
        for seq, each in enumerate(chunks):
            if (each.seq, each.offset, each.first_line) != (seq, offset, line):
                yield f"chunk {each.seq} of {run_id} is at byte {each.offset} and line {each.first_line}"
            offset, line = each.end, line + each.text.count("\n")
    for run_id, kept in step.testimony.kept.items():
        if kept > len(step.after.logs.get(run_id, ())):
            yield f"{kept} chunks of {run_id} were acknowledged"


LOGS: tuple[Check, ...] = (log,)
