"""Secrets are compared in constant time, and patterns are matched in full."""

import pytest

from tests.architecture.comparisons import compared_secrets, loose_matches
from tests.architecture.tree import Tree

SECRETS_COMPARED = [
    "found = signature == expected",
    "found = expected != request.webhook_secret",
    "found = mac.hexdigest() == given",
    "found = given == body_digest",
    "found = attempt.token == given",
]

LOOSELY_MATCHED = [
    "import re\nre.match('[a-z]+', text)",
    "import re\nre.compile('[a-z]+').match(text)",
    "import re\nre.compile('^[a-z]+$')",
    r"import re" + "\n" + r"re.fullmatch(r'\d+', text)",
]

FINE = [
    "found = secret_id == known",
    "found = kind == Kind.TOKEN",
    "found = hmac.compare_digest(signature, expected)",
    "import re\nre.fullmatch('[0-9a-f]{40}', text)",
    r"import re" + "\n" + r"re.fullmatch(r'\d+', text, re.ASCII)",
]


@pytest.mark.threat("A1")
def test_no_secret_is_compared_in_a_time_that_tells(project: Tree) -> None:
    assert list(compared_secrets(project.sources())) == []


@pytest.mark.threat("A23", "A60")
def test_every_pattern_is_matched_in_full(project: Tree) -> None:
    assert list(loose_matches(project.sources())) == []


@pytest.mark.parametrize("line", SECRETS_COMPARED)
def test_a_planted_comparison_of_a_secret_is_seen(copy: Tree, line: str) -> None:
    copy.plant("services/coordinator/planted.py", line)
    assert any("planted.py" in found for found in compared_secrets(copy.sources()))


@pytest.mark.parametrize("line", LOOSELY_MATCHED)
def test_a_planted_loose_match_is_seen(copy: Tree, line: str) -> None:
    copy.plant("services/coordinator/planted.py", line)
    assert any("planted.py" in found for found in loose_matches(copy.sources()))


@pytest.mark.parametrize("line", FINE)
def test_what_tells_nothing_may_be_compared(copy: Tree, line: str) -> None:
    copy.plant("services/coordinator/planted.py", line)
    found = [*compared_secrets(copy.sources()), *loose_matches(copy.sources())]
    assert not any("planted.py" in place for place in found)
