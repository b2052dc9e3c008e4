"""Where runs may be that somebody asked for."""

from tests.history.conservation import Read, violations


def read(acknowledged: str, *, unknown: str = "", queued: str = "", active: str = "", ended: str = "") -> list[str]:
    """What is wrong with one look; each letter is a run."""
    look = Read(
        acknowledged=set(acknowledged), unknown=set(unknown), queued=set(queued), active=set(active), ended=set(ended)
    )
    return list(violations(look))


def test_every_acknowledged_run_is_in_one_place() -> None:
    assert read("abc", queued="a", active="b", ended="c") == []


def test_a_run_that_nobody_was_told_of_may_be_there_or_not() -> None:
    assert read("a", unknown="xy", queued="ax") == []


def test_a_run_that_is_nowhere_is_missed() -> None:
    assert read("ab", queued="a") == ["b was acknowledged, and is nowhere"]


def test_a_run_that_nobody_asked_for_is_seen() -> None:
    assert read("a", queued="a", ended="z") == ["z is there, and nobody asked"]


def test_a_run_in_two_places_is_seen() -> None:
    assert read("a", queued="a", ended="a") == ["a is queued and ended"]
