"""A command whose answer from the store was lost, while others went on from what it did: it is told nothing wrong."""

from collections.abc import Generator

import pytest

from tests.history.webhook_version import Name
from tests.simulation.machine.faults import Armed, Fault
from tests.simulation.machine.world import Stage
from tests.simulation.node import Issuer
from tests.simulation.ports import Side, Site

COMMITTED = (Site.COMMIT, Side.AFTER)


@pytest.fixture
def stage(issuer: Issuer) -> Generator[Stage]:
    """The next commit is applied and not answered, and its instance stops there until it is let go on."""
    stage = Stage(issuer)
    stage.arsenal.armed += [Armed((Fault.STOP, *COMMITTED)), Armed((Fault.AMBIGUOUS, *COMMITTED))]
    yield stage
    stage.close()


@pytest.mark.inv("D8")
def test_a_delivery_that_was_accepted_is_not_refused_for_a_rotation_since(stage: Stage) -> None:
    stage.does(stage.deliver("site", "a", kind="push"), at=0)
    stage.does(stage.change("site", Name.ROTATE), at=1)
    stage.continues()

    assert stage.wrong() == []
    assert len(stage.world.testimony.acked) == 1
    assert stage.ends() == []


@pytest.mark.inv("K4")
def test_a_rotation_that_won_is_not_told_that_it_lost(stage: Stage) -> None:
    stage.does(stage.change("site", Name.ROTATE), at=0)
    stage.does(stage.change("site", Name.ROTATE), at=1)
    stage.continues()

    assert stage.ends() == []


@pytest.mark.inv("K5")
def test_a_deletion_takes_no_webhook_that_was_made_after_it(stage: Stage) -> None:
    stage.does(stage.change("site", Name.DELETE), at=0)
    stage.does(stage.change("site", Name.CREATE), at=1)
    stage.continues()

    assert stage.ends() == []


@pytest.mark.inv("K4")
def test_a_switch_does_not_give_its_version_to_a_later_secret(stage: Stage) -> None:
    """Who has cached that version would go on verifying with the old secret."""
    stage.does(stage.change("site", Name.SWITCH, enabled=False), at=0)
    stage.does(stage.change("site", Name.SWITCH, enabled=True), at=1)
    stage.does(stage.change("site", Name.ROTATE), at=1)
    stage.continues()

    assert stage.ends() == []
