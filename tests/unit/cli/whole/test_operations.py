"""`anvil operation` on the whole product, and what is said of an outcome that is not known."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from tests.unit.cli.whole.desk import Desk
from tests.unit.coordinator.operations.billing import answers, drops, refuses

pytestmark = pytest.mark.anyio


@pytest.mark.req("R143")
async def test_operations_are_listed_with_the_ceiling_of_their_replays(desk: Desk) -> None:
    listed = await desk("operation", "list")
    lines = {line.split()[0]: line for line in listed.out.splitlines()}

    assert (listed.code, listed.err) == (0, "")
    assert lines["make-required"].endswith("604800 s, at most 819200 bytes")
    assert lines["make-none"].endswith("-")


async def test_an_answer_is_shown_and_a_repeat_is_told_as_one(desk: Desk) -> None:
    first = await desk.execute("required", "--key", "k", "--format", "json")
    again = await desk.execute("required", "--key", "k")

    assert json.loads(first.out)["data"] == {"status": 201, "result": {"invoice": "i-1"}, "replayed": False}
    assert again.out == 'status    201\nreplayed  yes\n{"invoice": "i-1"}\n'
    assert (first.code, again.code, len(desk.whole.billing.requests)) == (0, 0, 1)


async def test_input_may_come_from_a_pipe_and_a_dry_run_calls_nobody(desk: Desk) -> None:
    tried = ("operation", "execute", "make-required", "--input", "-", "--key", "k", "--dry-run")
    shown = await desk(*tried, stdin='{"customer": "c-1"}')

    assert shown.code == 0
    assert "http://billing.test" in shown.out
    assert shown.err == "a dry run: nobody was called\n"
    assert desk.whole.billing.requests == []


@pytest.mark.parametrize(
    ("mode", "more", "code"),
    [("required", (), 2), ("none", (), 2), ("none", ("--confirm",), 0), ("natural", (), 0), ("tea", (), 6)],
)
async def test_what_a_mode_needs_is_asked_for(desk: Desk, mode: str, more: tuple[str, ...], code: int) -> None:
    assert (await desk.execute(mode, *more)).code == code


async def test_a_refusal_of_the_other_system_is_a_failure(desk: Desk) -> None:
    desk.whole.billing.answers = [refuses(422, {"why": "no such customer"})]
    refused = await desk.execute("required", "--key", "k")

    assert refused.code == 1
    assert refused.out.startswith("status    422\n")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": NaN}'])
async def test_what_is_no_input_is_not_sent(desk: Desk, text: str) -> None:
    refused = await desk("operation", "execute", "make-natural", "--input", desk.file("input.json", text))

    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("anvil: --input: expected a JSON ")


async def test_an_unknown_outcome_ends_with_8_and_names_the_next_command(desk: Desk) -> None:
    desk.whole.billing.answers = [drops(acts=True)]
    first = await desk.execute("required", "--key", "k")
    later = await desk.execute("required", "--key", "k", "--format", "json")
    ref = json.loads(later.out)["error"]["ledgerRef"]

    assert (first.code, later.code) == (8, 8)
    assert first.err.splitlines()[1] == f"next: anvil ledger show {ref}"
    assert json.loads(later.out)["error"]["code"] == "idempotency_in_progress"
    assert (await desk(*first.err.splitlines()[1].split()[2:])).code == 0


async def test_an_unguarded_outcome_ends_with_8_too(desk: Desk) -> None:
    desk.whole.billing.answers = [drops(acts=True)]
    lost = await desk.execute("none", "--confirm")

    assert (lost.code, lost.out) == (8, "")
    assert "may do it twice" in lost.err


async def test_a_lost_answer_may_be_asked_for_again_under_the_same_key(desk: Desk) -> None:
    desk.whole.line.loses = [":execute"]
    lost = await desk.execute("required", "--key", "order-4711")

    assert lost.code == 8
    assert lost.err.endswith("; ask again with the same --key\n")


@asynccontextmanager
async def silent(desk: Desk, *, closes: bool) -> AsyncGenerator[None]:
    """For the command, where Anvil should be, somebody listens who never answers."""
    hold = asyncio.Event()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if not closes:
            await hold.wait()
        writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    desk.anvil.environment["ANVIL_ENDPOINT"] = f"http://{host}:{port}"
    yield
    hold.set()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("closes", [True, False], ids=["closes", "hangs"])
@pytest.mark.parametrize(
    ("more", "code", "retryable", "advice"),
    [
        (
            ("--confirm",),
            "operation_outcome_unknown",
            False,
            "asking again may do it twice: see what became of it first",
        ),
        (("--key", "k"), "unavailable", True, "ask again with the same --key"),
        (("--dry-run",), "unavailable", True, "nobody was called, so ask again"),
    ],
    ids=["neither", "key", "dry run"],
)
async def test_an_answer_that_the_command_waits_for_in_vain_is_told_by_what_asking_again_would_do(
    desk: Desk, closes: bool, more: tuple[str, ...], code: str, retryable: bool, advice: str
) -> None:
    async with silent(desk, closes=closes):
        lost = await desk.execute("none", *more, "--timeout", "1s")
        document = await desk.execute("none", *more, "--timeout", "1s", "--format", "json")
    error = json.loads(document.out)["error"]

    assert (lost.code, lost.out, document.code) == (8, "", 8)
    assert (error["code"], error["retryable"]) == (code, retryable)
    assert lost.err.endswith(f"{advice}\n")
    assert error["detail"].endswith(advice)


async def test_what_may_be_repeated_by_its_nature_stays_so_without_a_key(desk: Desk) -> None:
    desk.whole.line.loses = [":execute"]
    lost = await desk.execute("natural", "--format", "json")
    error = json.loads(lost.out)["error"]

    assert (lost.code, error["code"], error["retryable"]) == (8, "unavailable", True)


@pytest.mark.inv("I5")
@pytest.mark.parametrize(
    ("key", "input_", "loses"),
    [
        ("order-4711", '{"customer": "c-1"}', True),
        ("order-4711", '{"customer": 1}', False),
        ("order-4711 ", "{}", False),
    ],
    ids=["lost", "refused", "none that is one"],
)
async def test_no_failure_has_the_key_in_it(desk: Desk, key: str, input_: str, loses: bool) -> None:
    desk.whole.line.loses = [":execute"] * loses
    asked = ("operation", "execute", "make-required", "--input", desk.file("input.json", input_), "--key", key)
    failed = await desk(*asked, "--format", "json")

    assert json.loads(failed.out)["error"]
    assert "order-4711" not in failed.out + failed.err


async def test_a_success_that_could_not_be_stored_says_so(desk: Desk) -> None:
    desk.whole.billing.answers = [answers(201, {"text": "x" * 819_200})]
    done = await desk.execute("required", "--key", "k")

    assert done.code == 0
    assert "its result could not be stored" in done.err
    assert re.search(r"^next: anvil ledger show firestore/", done.err, re.MULTILINE)
