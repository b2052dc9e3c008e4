"""The tests can see: every bug that is planted is caught by the test that names the rule."""

import pytest

from tests.mutants.campaign import campaign, caught, table
from tests.mutants.catalogue import read


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_every_planted_bug_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    trials = campaign(read())
    with capsys.disabled():
        print(f"\n{table(trials)}")  # noqa: T201 (who runs the soak wants to see it)

    assert [trial.mutant.name for trial in trials if not caught(trial)] == []
