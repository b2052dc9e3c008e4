"""`anvil ledger` on the whole product: an unknown outcome is looked at and settled."""

import hashlib
import json
import re

import pytest

from tests.unit.cli.whole.desk import REF, Desk
from tests.unit.coordinator.book import COLLECTION, document

pytestmark = pytest.mark.anyio


async def test_rows_are_listed_by_state_and_by_age(desk: Desk) -> None:
    await desk.unknown(1)
    await desk.whole.book.answered(2)
    listed = [
        json.loads((await desk("ledger", "list", *more, "--format", "json")).out)["data"]["items"]
        for more in ((), ("--status", "in_progress"), ("--older-than", "1m"), ("--older-than", "2020-01-01T00:00:00Z"))
    ]

    assert [[row["ledgerRef"][-1] for row in rows] for rows in listed] == [["2", "1"], ["1"], ["1"], []]


async def test_a_row_is_shown_with_both_verdicts_filled_in(desk: Desk) -> None:
    version = await desk.unknown()
    shown = await desk("ledger", "show", REF)
    row = json.loads((await desk("ledger", "show", REF.removeprefix("firestore/"), "--format", "json")).out)["data"]

    assert shown.code == 0
    assert re.search(rf"^version +{version}$", shown.out, re.MULTILINE)
    assert re.search(r"^result ceiling bytes +819200$", shown.out, re.MULTILINE)
    common, rest = f"{REF} --if-version {version}", "--evidence FILE --reason TEXT"
    assert shown.err.splitlines() == [
        f"not before {row['maxUntil']}, once you know from the other system (a dry run; --apply does it):",
        f"it acted: anvil ledger complete {common} --response-file FILE {rest}",
        f"it did not act: anvil ledger release {common} --not-committed {rest}",
    ]


async def test_completing_is_a_dry_run_until_it_is_applied(desk: Desk) -> None:
    version = await desk.unknown()
    tried = await desk.complete(version, "--format", "json")
    untouched = await desk.whole.book.show()
    applied = await desk.complete(version, "--apply", "--format", "json")

    digest = hashlib.sha256(b"invoice;customer\ni-1;c-1\n").hexdigest()
    assert json.loads(tried.out)["data"] == {
        "dryRun": True,
        "would": "complete",
        "ledgerRef": REF,
        "ifVersion": version,
        "request": {
            "evidenceSha256": digest,
            "reason": "it is there",
            "response": {"status": 201, "body": {"invoice": "i-1", "secret": "planted"}},
        },
    }
    assert tried.err == "nothing was changed; with --apply it is done\n"
    assert (untouched.version, untouched.history) == (version, ())
    assert (tried.code, applied.code) == (0, 0)
    assert json.loads(applied.out)["data"]["row"]["status"] == "completed"
    (entry,) = await desk.whole.book.entries()
    assert (entry.evidence_sha256, entry.reason, entry.actor) == (digest, "it is there", "admin@anvil.local")


async def test_releasing_is_a_dry_run_until_it_is_applied_and_needs_the_word(desk: Desk) -> None:
    version = await desk.unknown()
    without = await desk.release(version, "--apply")
    tried = await desk.release(version, "--not-committed")
    assert (await desk.whole.book.show()).version == version
    applied = await desk.release(version, "--not-committed", "--apply")

    assert (without.code, tried.code, applied.code) == (2, 0, 0)
    assert "expected --not-committed" in without.err
    assert re.search(r"^would +release$", tried.out, re.MULTILINE)
    assert re.search(r"^done +released$", applied.out, re.MULTILINE)
    assert (await desk("ledger", "show", REF)).code == 6


@pytest.mark.parametrize("more", [(), ("--apply",)], ids=["dry run", "applied"])
async def test_a_stale_version_ends_with_7_and_the_new_state(desk: Desk, more: tuple[str, ...]) -> None:
    version = await desk.unknown()
    await desk.whole.book.complete(version, {"invoice": "i-1"})
    now = (await desk.whole.book.show()).version
    for verdict in (await desk.complete(version, *more), await desk.release(version, "--not-committed", *more)):
        said, following = verdict.err.splitlines()

        assert (verdict.code, verdict.out) == (7, "")
        assert said == f"anvil: the row is completed at version {now}, not at {version}; nothing was changed"
        assert following == f"next: anvil ledger show {REF}"


@pytest.mark.parametrize("more", [(), ("--apply",)], ids=["dry run", "applied"])
async def test_nothing_is_settled_while_a_call_may_be_running(desk: Desk, more: tuple[str, ...]) -> None:
    reserved = await desk.whole.book.reserve(operation="make-required")
    refused = await desk.release(reserved.version, "--not-committed", *more)

    assert refused.code == 1
    assert refused.err.startswith("anvil: a call may be running until ")
    assert (await desk.whole.book.show()).version == reserved.version


async def test_what_is_completed_needs_no_verdict(desk: Desk) -> None:
    version = await desk.whole.book.answered()
    shown = await desk("ledger", "show", REF)
    refused = await desk.release(version, "--not-committed")

    assert shown.err == "completed: there is nothing to settle\n"
    assert (refused.code, refused.err.splitlines()[0]) == (
        1,
        "anvil: This row is completed; there is nothing to settle.",
    )


async def test_a_note_is_written_at_once(desk: Desk) -> None:
    version = await desk.unknown()
    noted = await desk("ledger", "note", REF, "--if-version", f'"{version}"', "--reason", "asked their support")
    shown = await desk("ledger", "show", REF)

    assert noted.code == 0
    assert "asked their support" in shown.out
    assert (await desk.whole.book.show()).version == version


async def test_what_cannot_be_a_verdict_is_not_sent(desk: Desk) -> None:
    version = await desk.unknown()
    said = ("--if-version", version, "--evidence", f"sha256:{'e' * 64}", "--reason", "r", "--response-file")
    wrong = {
        '{"status": 201}': "body",
        '{"status": 99, "body": 1}': "status",
        '{"status": 201, "body": 1, "more": 1}': "more",
        "nothing": "expected JSON",
        '{"status": 201, "body": "' + "x" * 819_200 + '"}': "a row holds 819200",
    }
    for text, expected in wrong.items():
        refused = await desk("ledger", "complete", REF, *said, desk.file("answer.json", text), "--apply")
        assert (refused.code, expected in refused.err) == (2, True), text[:40]
    for ref in ("runs/x", f"firestore/{COLLECTION}/x", f"gopher/{COLLECTION}/{document(1)}"):
        assert (await desk("ledger", "show", ref)).code == 2
    blank = await desk("ledger", "note", REF, "--if-version", version, "--reason", " \u200b")
    assert (blank.code, blank.err) == (2, "anvil: --reason: has no visible character, not ' \\u200b'\n")
    no_evidence = await desk("ledger", "note", REF, "--if-version", version, "--reason", "r", "--evidence", "none.csv")

    assert (no_evidence.code, await desk.whole.book.history()) == (2, [])


async def test_a_ledger_that_is_away_ends_with_75(desk: Desk) -> None:
    version = await desk.unknown()
    desk.whole.book.rows.away = True
    codes = [
        (await desk("ledger", "list")).code,
        (await desk.release(version, "--not-committed", "--apply")).code,
        (await desk.execute("required", "--key", "k")).code,
    ]

    assert codes == [75, 75, 75]
    assert desk.whole.billing.requests == []


async def test_who_may_only_look_settles_nothing(desk: Desk) -> None:
    token = await desk("auth", "token", "--role", "viewer")
    desk.anvil.environment["ANVIL_TOKEN"] = token.out.strip()

    assert (await desk("operation", "list")).code == 0
    assert (await desk("ledger", "list")).code == 4
