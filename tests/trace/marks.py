"""Which test carries which mark, as pytest collects them."""

import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import pytest


class Kind(StrEnum):
    REQUIREMENT = "req"
    INVARIANT = "inv"
    THREAT = "threat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """`test` is a test function's node id, without parameters."""

    kind: Kind
    id: str
    test: str


class CollectionFailed(Exception):
    """Some tests could not be read, so what they prove is unknown."""


@dataclass(slots=True)
class Collector:
    """A pytest plugin that keeps the marks of what was collected. A skipped or expected failure proves nothing."""

    marks: set[Mark] = field(default_factory=set[Mark])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if not _proves_nothing(item):
                self.marks.update(_marks(item))


def collect(paths: Sequence[str] = ()) -> set[Mark]:
    """The marks of every test.

    Raises:
        CollectionFailed: with pytest's own words.
    """
    collector = Collector()
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = pytest.main(["--collect-only", "-qq", "--color=no", *paths], plugins=[collector])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise CollectionFailed(said.getvalue())
    return collector.marks


def _proves_nothing(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) is not None for name in ("skip", "xfail"))


def _marks(item: pytest.Item) -> Iterator[Mark]:
    test = item.nodeid.partition("[")[0]
    for kind in Kind:
        for mark in item.iter_markers(kind):
            yield from (Mark(kind=kind, id=str(id), test=test) for id in mark.args)
