"""A log is bounded in every direction, says what is missing, and never decides over its run."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel.errors import Ambiguous, Invalid, OwnershipLost, Unavailable
from services.kernel.wire.runs import AppendLog, LogChunk
from services.runner.logs import LogLimits, RunLog
from services.runner.logs.chunks import Chunks
from services.runner.logs.lines import Lines
from tests.unit.runner.clocks import SwiftClock

SMALL = LogLimits(line=256, chunk=64, head=1000, tail=400)
SECOND = timedelta(seconds=1)


def lines(*blocks: bytes, longest: int = 1128) -> str:
    stream = Lines(longest)
    return "".join([*map(stream.feed, blocks), stream.end_line()])


def stored(chunks: Chunks) -> list[LogChunk]:
    chunks.close()
    found: list[LogChunk] = []
    while batch := chunks.take():
        found += batch
    return found


# Lines


@given(st.text(), st.integers(1, 7))
def test_text_comes_out_as_it_went_in_however_it_is_cut(text: str, size: int) -> None:
    raw = text.encode()
    blocks = [raw[start : start + size] for start in range(0, len(raw), size)]
    assert lines(*blocks, longest=100_000) == text + ("" if text.endswith("\n") or not text else "\n")


def test_invalid_utf_8_is_replaced_and_the_rest_is_kept() -> None:
    assert lines(b"a\xffb\x00\x1b[31m\xe2\x82", b"\n") == "a\ufffdb\x00\x1b[31m\ufffd\n"


def test_an_endless_line_is_cut_and_says_by_how_much() -> None:
    assert lines(b"x" * 900, b"x" * 900, b"x\nshort\n") == "x" * 1000 + " … 801 more bytes in this line\nshort\n"


def test_a_line_of_just_the_limit_is_whole() -> None:
    assert lines(b"x" * 1000, b"\n") == "x" * 1000 + "\n"


def test_a_line_is_never_cut_inside_a_character() -> None:
    assert lines("€".encode() * 400) == "€" * 333 + " … 200 more bytes in this line\n"


@pytest.mark.threat("A47")
@given(st.lists(st.binary(max_size=400) | st.just(b"z" * 700), max_size=20))
def test_no_line_is_longer_than_the_limit(blocks: list[bytes]) -> None:
    assert all(len(line.encode()) <= 1128 for line in lines(*blocks).split("\n"))


# Chunks


def test_chunks_count_themselves_their_lines_and_their_bytes() -> None:
    chunks = Chunks(SMALL)
    chunks.add("eins\nzwei\n")
    first = chunks.take()
    chunks.add("drei ü\n")
    second = chunks.take()
    assert [(c.seq, c.first_line, c.offset, c.text) for c in (*first, *second)] == [
        (0, 1, 0, "eins\nzwei\n"),
        (1, 3, 10, "drei ü\n"),
    ]
    assert second[0].sha256 == hashlib.sha256("drei ü\n".encode()).hexdigest()


def test_one_call_takes_at_most_sixteen_chunks() -> None:
    chunks = Chunks(LogLimits())
    chunks.add("x" * (20 * 64 * 1024))
    assert [len(chunks.take()), len(chunks.take()), len(chunks.take())] == [16, 4, 0]


def test_one_call_stays_within_what_the_coordinator_takes_also_of_control_characters() -> None:
    chunks = Chunks(LogLimits())
    chunks.add("\x1b" * (16 * 64 * 1024))
    message = AppendLog(attempt="a" * 22, chunks=chunks.take())
    assert 1_500_000 < len(message.model_dump_json()) < 2 * 1024 * 1024


@given(st.lists(st.text(max_size=90), max_size=12))
def test_a_log_within_the_limits_is_stored_whole_and_in_order(texts: list[str]) -> None:
    chunks = Chunks(LogLimits(chunk=64, head=100_000))
    for text in texts:
        chunks.add(text)
    found = stored(chunks)
    assert "".join(chunk.text for chunk in found) == "".join(texts)
    assert all(0 < len(chunk.text.encode()) <= 64 for chunk in found)


def test_a_log_that_just_fits_has_no_gap() -> None:
    chunks = Chunks(SMALL)
    chunks.add("x" * 1000)
    chunks.add("y" * 272)
    assert "".join(chunk.text for chunk in stored(chunks)) == "x" * 1000 + "y" * 272


@pytest.mark.inv("R2")
def test_past_the_limit_the_newest_lines_are_kept_and_the_gap_says_its_size() -> None:
    chunks = Chunks(SMALL)
    for number in range(1000):
        chunks.add(f"line {number:04}\n")
    text = "".join(chunk.text for chunk in stored(chunks))
    first = "".join(f"line {number:04}\n" for number in range(100))
    last = "".join(f"line {number:04}\n" for number in range(973, 1000))
    assert text == f"{first}\n── 8730 bytes are left out here\n{last}"


@given(st.lists(st.text(max_size=300), min_size=1, max_size=30))
def test_a_log_never_outgrows_its_limit(texts: list[str]) -> None:
    chunks = Chunks(SMALL)
    for text in texts:
        chunks.add(text)
    assert sum(len(chunk.text.encode()) for chunk in stored(chunks)) <= 1400


# The upload


class Shelf:
    """What was appended, and when; fails first as often as it is told."""

    def __init__(self, clock: SwiftClock, *failures: Exception) -> None:
        self._clock = clock
        self._failures = list(failures)
        self.calls: list[tuple[timedelta, tuple[int, ...]]] = []
        self.chunks: dict[int, str] = {}
        self._called = asyncio.Event()

    async def append(self, batch: tuple[LogChunk, ...]) -> None:
        self._called.set()
        self.calls.append((self._clock.elapsed(), tuple(chunk.seq for chunk in batch)))
        if self._failures:
            raise self._failures.pop(0)
        self.chunks.update({chunk.seq: chunk.text for chunk in batch})

    async def called(self, times: int) -> None:
        """Wait for the call of this number to have ended."""
        while len(self.calls) < times:
            self._called.clear()
            await self._called.wait()
        await asyncio.sleep(0)

    @property
    def text(self) -> str:
        return "".join(self.chunks[seq] for seq in sorted(self.chunks))


@asynccontextmanager
async def uploading(*failures: Exception, limits: LogLimits = SMALL) -> AsyncGenerator[tuple[RunLog, Shelf]]:
    clock = SwiftClock()
    shelf = Shelf(clock, *failures)
    run_log = RunLog(shelf.append, limits=limits, clock=clock)
    upload = asyncio.create_task(run_log.upload())
    yield run_log, shelf
    upload.cancel()
    await asyncio.gather(upload, return_exceptions=True)


@pytest.mark.anyio
async def test_what_the_runner_says_stands_on_a_line_of_its_own() -> None:
    async with uploading() as (run_log, shelf):
        run_log.write(b"no newline")
        run_log.say("step 2/3: test")
        run_log.write(b"ok\n")
        await run_log.finish()
        assert run_log.lost == 0
    assert shelf.text == "no newline\n── step 2/3: test\nok\n"


@pytest.mark.anyio
async def test_the_log_is_sent_while_the_run_goes_on() -> None:
    async with uploading() as (run_log, shelf):
        run_log.write(b"first\n")
        await shelf.called(1)
        assert shelf.text == "first\n"
        run_log.write(b"second\n")
        await shelf.called(2)
        assert shelf.text == "first\nsecond\n"


@pytest.mark.anyio
async def test_there_is_a_second_between_two_calls_and_sixteen_chunks_in_one() -> None:
    async with uploading(limits=LogLimits(chunk=64, head=10_000)) as (run_log, shelf):
        run_log.write(b"x\n" * 1100)
        await run_log.finish()
        assert run_log.lost == 0
    assert [(at, len(seqs)) for at, seqs in shelf.calls] == [(0 * SECOND, 16), (1 * SECOND, 16), (2 * SECOND, 3)]


@pytest.mark.anyio
async def test_a_failed_call_is_repeated_with_the_same_chunks() -> None:
    async with uploading(Unavailable(), Ambiguous()) as (run_log, shelf):
        run_log.write(b"text\n")
        await run_log.finish()
        assert run_log.lost == 0
    assert shelf.calls == [(0 * SECOND, (0,)), (1 * SECOND, (0,)), (2 * SECOND, (0,))]
    assert shelf.text == "text\n"


@pytest.mark.anyio
async def test_a_part_that_is_refused_is_counted_and_the_rest_is_sent() -> None:
    async with uploading(Invalid()) as (run_log, shelf):
        run_log.write(b"bad\n")
        await shelf.called(1)
        run_log.write(b"good\n")
        await run_log.finish()
        assert run_log.lost == 4
    assert shelf.text == "good\n"


@pytest.mark.anyio
async def test_what_cannot_be_sent_in_time_is_given_up_and_counted() -> None:
    async with uploading(*[Unavailable()] * 1_000_000) as (run_log, shelf):
        run_log.write(b"text\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await run_log.finish()
        assert run_log.lost == 5
    assert shelf.text == ""


@pytest.mark.anyio
async def test_the_upload_ends_when_the_run_is_anothers() -> None:
    clock = SwiftClock()
    run_log = RunLog(Shelf(clock, OwnershipLost()).append, limits=SMALL, clock=clock)
    run_log.write(b"text\n")
    with pytest.raises(OwnershipLost):
        await run_log.upload()
