"""All mutants, each planted in one of two copies of the sources."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.catalogue import Mutant
from tests.mutants.scratch import Scratch
from tests.mutants.trial import Trial, Verdict, attempt, passes

_COPIES = 2


class FailsUnplanted(Exception):
    """A test fails though nothing is planted, so that its failing tells nothing; with pytest's own words."""


def campaign(mutants: Sequence[Mutant]) -> list[Trial]:
    """
    Raises:
        FailsUnplanted: some test does.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Scratch.make(Path(folder).resolve() / f"copy-{number}") for number in range(_COPIES)]
        trials = asyncio.run(_all(mutants, copies))
    return sorted(trials, key=lambda trial: mutants.index(trial.mutant))


async def _all(mutants: Sequence[Mutant], copies: Sequence[Scratch]) -> list[Trial]:
    tests = sorted({mutant.test for mutant in mutants})
    seeds = max(mutant.seeds for mutant in mutants)
    shares = [tests[number :: len(copies)] for number in range(len(copies))]
    baselines = [passes(share, copy, seeds=seeds) for share, copy in zip(shares, copies, strict=True) if share]
    if said := [said for said in await asyncio.gather(*baselines) if said is not None]:
        raise FailsUnplanted("\n".join(said))
    # The longest first, so that neither copy waits for the other in the end.
    waiting = sorted(mutants, key=lambda mutant: (mutant.seeds, mutant.told_by_output))
    trials: list[Trial] = []

    async def work(copy: Scratch) -> None:
        while waiting:
            trials.append(await attempt(waiting.pop(), copy))

    await asyncio.gather(*(work(copy) for copy in copies))
    return trials


def table(trials: Sequence[Trial]) -> str:
    """For people: mutant, rule, what caught it, seconds; then what is wrong, and how many were caught."""
    lines = [f"{'mutant':<48}{'rule':<6}{'seconds':>8}  caught by"]
    lines += [_line(trial) for trial in trials]
    lines += [f"\n{each.mutant.name}: {each.verdict}\n{each.said}" for each in trials if not caught(each)]
    return "\n".join([*lines, "", f"{sum(caught(each) for each in trials)} of {len(trials)} caught"])


def caught(trial: Trial) -> bool:
    return trial.verdict is Verdict.CAUGHT


def _line(trial: Trial) -> str:
    by = trial.mutant.test if caught(trial) else trial.verdict.upper()
    return f"{trial.mutant.name:<48}{trial.mutant.rule:<6}{trial.seconds:>8.1f}  {by}"
