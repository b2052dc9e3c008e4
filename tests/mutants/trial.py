"""Whether a test tells of a planted bug."""

import asyncio
import re
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree

from tests.mutants.catalogue import Mutant
from tests.mutants.scratch import DoesNotApply, Scratch, pytest_command

_BAD = ("failure", "error")
_RAISED_AT = re.compile(r"^((?:tests|services)/\S+):[0-9]+: ", re.MULTILINE)


class Verdict(StrEnum):
    CAUGHT = "caught"
    SURVIVED = "survived"
    UNNAMED = "the rule is not named"
    BROKEN = "the test is broken by it"
    STALE = "does not apply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """`said` is the last of what the test said, for people."""

    mutant: Mutant
    verdict: Verdict
    seconds: float
    said: str = ""


async def attempt(mutant: Mutant, scratch: Scratch) -> Trial:
    """Plant the bug, run its test, and take the bug out again."""
    began = time.monotonic()
    try:
        with scratch.planted(mutant.patch):
            verdict, said = await _verdict(mutant, scratch)
    except DoesNotApply as error:
        verdict, said = Verdict.STALE, str(error)
    return Trial(mutant=mutant, verdict=verdict, seconds=time.monotonic() - began, said=said)


async def passes(tests: Sequence[str], scratch: Scratch, *, seeds: int) -> str | None:
    """None if they all pass where nothing is planted, else what pytest said."""
    code, said = await _run(scratch, *tests, seeds=seeds)
    return None if code == 0 else said


async def _verdict(mutant: Mutant, scratch: Scratch) -> tuple[Verdict, str]:
    report = scratch.root.with_suffix(".xml")
    report.unlink(missing_ok=True)
    code, said = await _run(scratch, "-x", f"--junitxml={report}", mutant.test, seeds=mutant.seeds)
    last = "\n".join(said.splitlines()[-30:])
    if code == 0:
        return Verdict.SURVIVED, last
    if code != 1 or not _tells(report):
        return Verdict.BROKEN, last
    if mutant.told_by_output and re.search(rf"\b{mutant.rule}: ", said) is None:
        return Verdict.UNNAMED, last
    return Verdict.CAUGHT, last


def _tells(report: Path) -> bool:
    """Whether all that failed is an expectation of a test's, or met an error of the product's; and something did."""
    found = [each for case in ElementTree.parse(report).iter("testcase") for each in case if each.tag in _BAD]
    return bool(found) and all(each.tag == "failure" and _is_told(each) for each in found)


def _is_told(failure: ElementTree.Element) -> bool:
    message, raised_at = failure.get("message", ""), _RAISED_AT.findall(failure.text or "")
    if message.startswith("Failed: Timeout"):
        return False
    return message.startswith("services.") or (bool(raised_at) and raised_at[-1].startswith("tests/"))


async def _run(scratch: Scratch, *arguments: str, seeds: int) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *pytest_command(*arguments),
        cwd=scratch.root,
        env=scratch.environment(ANVIL_SEEDS=str(seeds)),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode(errors="replace")
