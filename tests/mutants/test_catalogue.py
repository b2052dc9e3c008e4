"""What is planted fits the sources as they are, breaks a rule that is stated, and is caught by a test that names it."""

import contextlib
import io
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.documents.test_marks import stated
from tests.mutants.catalogue import PATCHES, ROOT, parse, read
from tests.mutants.scratch import DoesNotApply, apply
from tests.trace.marks import Kind
from tests.trace.requirements import STATED
from tests.trace.requirements import parse as parse_requirements

MUTANTS = read()
AT_LEAST = 30


@dataclass(slots=True)
class Rules:
    """A pytest plugin: by node id, with and without parameters, the rules that a test's marks name."""

    of: dict[str, set[tuple[Kind, str]]] = field(default_factory=dict[str, set[tuple[Kind, str]]])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            marks = {(kind, str(id)) for kind in Kind for mark in item.iter_markers(kind) for id in mark.args}
            self.of[item.nodeid] = self.of[item.nodeid.partition("[")[0]] = marks


def stale(patch: Path) -> DoesNotApply | None:
    try:
        apply(patch, "--check", at=ROOT)
    except DoesNotApply as error:
        return error
    return None


@pytest.fixture(scope="module")
def rules() -> Rules:
    found = Rules()
    files = sorted({mutant.test.partition("::")[0] for mutant in MUTANTS})
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", *files], plugins=[found])
    assert code == pytest.ExitCode.OK
    return found


@pytest.fixture(scope="module")
def known() -> dict[Kind, set[str]]:
    return {
        Kind.REQUIREMENT: {requirement.id for requirement in parse_requirements(STATED.read_text())},
        Kind.INVARIANT: stated("invariants.md"),
        Kind.THREAT: stated("security.md"),
    }


def test_there_are_enough_of_them() -> None:
    assert len(MUTANTS) >= AT_LEAST


def test_every_patch_applies_to_the_sources() -> None:
    assert [str(error) for patch in sorted(PATCHES.glob("*.patch")) if (error := stale(patch)) is not None] == []


def test_a_patch_that_does_not_fit_is_seen(tmp_path: Path) -> None:
    with pytest.raises(DoesNotApply):
        apply(MUTANTS[0].patch, "--check", at=tmp_path)


def test_a_patch_changes_nothing_but_services() -> None:
    for patch in {mutant.patch for mutant in MUTANTS}:
        changed = [line for line in patch.read_text().splitlines() if line.startswith(("--- ", "+++ "))]
        assert [line for line in changed if not line[4:].startswith(("a/services/", "b/services/"))] == []


def test_every_patch_is_in_the_catalogue() -> None:
    assert {mutant.patch for mutant in MUTANTS} == set(PATCHES.glob("*.patch"))


def test_what_is_broken_is_a_rule_that_is_stated(known: dict[Kind, set[str]]) -> None:
    assert [mutant.name for mutant in MUTANTS if mutant.rule not in known[mutant.kind]] == []


def test_what_catches_it_is_a_test_that_is_there(rules: Rules) -> None:
    assert [mutant.test for mutant in MUTANTS if mutant.test not in rules.of] == []


def test_what_catches_it_names_the_rule(rules: Rules) -> None:
    marked = [mutant for mutant in MUTANTS if not mutant.told_by_output]
    assert [mutant.name for mutant in marked if (mutant.kind, mutant.rule) not in rules.of[mutant.test]] == []


@pytest.mark.parametrize("rule", ["", 'req = "R1"\ninv = "Q1"'])
def test_an_entry_names_one_rule(rule: str) -> None:
    with pytest.raises(ValueError, match="must name one"):
        parse(f'[planted]\npatch = "p"\nplants = "a bug"\ntest = "t"\n{rule}')
