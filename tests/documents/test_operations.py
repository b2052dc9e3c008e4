"""The page about operations shows a catalogue that a coordinator takes, and the table of modes that it goes by."""

import re
from datetime import timedelta
from pathlib import Path

from services.coordinator.operations.catalogue import parse
from services.coordinator.operations.modes import RULES, Need
from services.kernel.wire.operations import Mode

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text()

KEYS = {"needed": Need.REQUIRED, "may be given": Need.OPTIONAL, "refused": Need.NEVER}
LEDGERS = {
    "needed, and durable": Need.REQUIRED,
    "used if there is one and a key": Need.OPTIONAL,
    "never": Need.NEVER,
}
ATTEMPTS = {"up to 5": Need.REQUIRED, "up to 5 with a key, else 1": Need.OPTIONAL, "1": Need.NEVER}


def test_the_example_is_a_catalogue_that_a_coordinator_takes() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    catalogue = parse(example.encode(), replay_ttl=timedelta(days=7), allow_local=False)
    assert list(catalogue.operations) == ["create-invoice", "find-invoice"]


def test_every_field_of_the_catalogue_is_in_the_table() -> None:
    named = re.findall(r"^\| `([a-zA-Z]+)` \| ", PAGE.partition("## Modes")[0], re.MULTILINE)
    assert named == [
        "id",
        "title",
        "approved",
        "upstream",
        "method",
        "path",
        "query",
        "input",
        "idempotency",
        "credential",
        "success",
        "provesNoEffect",
        "timeoutSeconds",
        "attempts",
        "replayTtlSeconds",
        "redact",
    ]


def test_the_table_of_modes_is_the_one_that_the_code_goes_by() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert [mode for mode, *_ in rows] == [str(mode) for mode in Mode]
    for mode, key, ledger, confirmation, attempts in rows:
        rules = RULES[Mode(mode)]
        assert (rules.key, rules.ledger, rules.repeats) == (KEYS[key], LEDGERS[ledger], ATTEMPTS[attempts])
        assert rules.confirmation is (confirmation == "`confirm: true`")
