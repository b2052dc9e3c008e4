"""How refused deliveries are counted."""

from dataclasses import replace

from services.coordinator.records.refusals import Refusals, Tally
from services.coordinator.rules import refusals
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.webhooks import CountRefusals, Refusal
from tests.unit.coordinator.builders import EARLIER, NOW, PROJECT_ID, project, webhook

SITE = project()


def told(times: int = 3, provider: Provider = Provider.GITHUB) -> CountRefusals:
    return CountRefusals(refused={provider: {Refusal.BAD_SIGNATURE: times}})


def stored(*, bad: int, since: str = "github") -> Refusals:
    tally = Tally(since=EARLIER, last_at=EARLIER, counts={"bad_signature": bad, "disabled": 1})
    return Refusals(project_id=PROJECT_ID, tallies={since: tally})


def test_the_first_refusals_begin_a_tally_of_the_present_secret() -> None:
    tally = Tally(since=EARLIER, last_at=NOW, counts={"bad_signature": 3})
    assert refusals.add(None, SITE, told(), now=NOW) == Refusals(project_id=PROJECT_ID, tallies={"github": tally})


def test_later_ones_are_added_reason_by_reason() -> None:
    added = refusals.add(stored(bad=4), SITE, told(), now=NOW)
    assert added is not None
    assert added.tallies["github"].counts == {"bad_signature": 7, "disabled": 1}


def test_other_providers_keep_their_counts() -> None:
    added = refusals.add(stored(bad=4, since="gitea"), SITE, told(), now=NOW)
    assert added is not None
    assert added.tallies["gitea"] == stored(bad=4, since="gitea").tallies["gitea"]


def test_after_a_rotation_counting_begins_anew() -> None:
    rotated = SITE.with_webhook("github", replace(webhook("v2"), rotated_at=NOW))
    added = refusals.add(stored(bad=4), rotated, told(), now=NOW)
    assert added is not None
    assert added.tallies["github"] == Tally(since=NOW, last_at=NOW, counts={"bad_signature": 3})


def test_what_was_counted_before_a_rotation_is_not_shown_after_it() -> None:
    rotated = SITE.with_webhook("github", replace(webhook("v2"), rotated_at=NOW))
    assert refusals.current(stored(bad=4), SITE)["github"] == {"bad_signature": 4, "disabled": 1}
    assert refusals.current(stored(bad=4), rotated)["github"] == {}


def test_a_webhook_that_does_not_exist_has_no_counts() -> None:
    assert refusals.add(None, SITE.without_webhook("gitlab"), told(provider=Provider.GITLAB), now=NOW) is None
    assert refusals.current(None, SITE)["github"] == {}
