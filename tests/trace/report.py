"""What the tests prove, set against what is required. Pure."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.trace.marks import Kind, Mark
from tests.trace.requirements import Requirement

IDS = {Kind.INVARIANT: re.compile("[QSYDIPKHR][0-9]+"), Kind.THREAT: re.compile("A[0-9]+")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`tests` by kind and id; `lost` were proven once; `unknown` marks name nothing that is stated."""

    requirements: Sequence[Requirement]
    tests: Mapping[Kind, Mapping[str, Sequence[str]]]
    lost: Sequence[str]
    unknown: Sequence[Mark]

    @property
    def proven(self) -> frozenset[str]:
        stated = {requirement.id for requirement in self.requirements}
        return frozenset(stated & self.tests[Kind.REQUIREMENT].keys())

    @property
    def holds(self) -> bool:
        return not self.lost and not self.unknown


def compare(*, requirements: Sequence[Requirement], marks: Collection[Mark], proven: frozenset[str]) -> Trace:
    tests: dict[Kind, dict[str, list[str]]] = {kind: defaultdict(list) for kind in Kind}
    for mark in sorted(marks, key=lambda mark: mark.test):
        tests[mark.kind][mark.id].append(mark.test)
    stated = frozenset(requirement.id for requirement in requirements)
    return Trace(
        requirements=requirements,
        tests=tests,
        lost=_by_number(proven - tests[Kind.REQUIREMENT].keys()),
        unknown=[mark for mark in sorted(marks, key=lambda mark: mark.test) if not _is_known(mark, stated)],
    )


def render(trace: Trace) -> Iterator[str]:
    """The report's lines: each section with its requirements, the other marks, then what is wrong."""
    yield from _sections(trace)
    for kind, title in ((Kind.INVARIANT, "Invariants"), (Kind.THREAT, "Threats")):
        yield f"\n{title}"
        for id in _by_number(trace.tests[kind]):
            yield f"  {id:<5} {', '.join(trace.tests[kind][id])}"
    yield f"\n{len(trace.proven)} of {len(trace.requirements)} requirements and choices are proven"
    yield from (f"LOST     {id} was proven once and no test carries it any more" for id in trace.lost)
    yield from (f"UNKNOWN  {mark.kind} {mark.id} on {mark.test}" for mark in trace.unknown)


def _sections(trace: Trace) -> Iterator[str]:
    section = None
    for requirement in trace.requirements:
        if requirement.section != section:
            section = requirement.section
            ids = [each.id for each in trace.requirements if each.section == section]
            yield f"\n{section}: {sum(id in trace.proven for id in ids)} of {len(ids)}"
        tests = trace.tests[Kind.REQUIREMENT].get(requirement.id, ())
        yield f"  {'✓' if tests else '·'} {requirement.id:<5} {requirement.text}"
        yield from (f"          {test}" for test in tests)


def _is_known(mark: Mark, stated: frozenset[str]) -> bool:
    if mark.kind is Kind.REQUIREMENT:
        return mark.id in stated
    return IDS[mark.kind].fullmatch(mark.id) is not None


def _by_number(ids: Collection[str]) -> list[str]:
    return sorted(ids, key=lambda id: (id[:1], int(id[1:]) if id[1:].isdecimal() else 0))
