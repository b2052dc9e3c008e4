"""A run's log: appended by its attempt alone, read by anybody from any byte."""

import pytest

from services.coordinator.records.run import HEARTBEATS
from services.kernel.errors import Conflict, NotFound, OwnershipLost
from services.kernel.wire import internal
from services.kernel.wire.internal import LogQuery
from services.kernel.wire.runs import LogChunk, LogPart
from tests.unit.coordinator.builders import run_id, seconds
from tests.unit.coordinator.driver import Driver, chunk
from tests.unit.coordinator.instance import Instance

pytestmark = pytest.mark.anyio

FIRST = chunk(0, "one\ntwo\n", offset=0)
SECOND = chunk(1, "drei für vier\n", offset=8, first_line=3)


async def read(anvil: Driver, *, after: int = 0, number: int = 1) -> LogPart:
    return await anvil.console.call(internal.GET_LOG, path={"run": run_id(number)}, body=LogQuery(after=after))


async def running(anvil: Driver) -> None:
    await anvil.push(1)
    await anvil.begin(1)
    await anvil.instance.settle()


async def test_what_was_appended_is_read_in_order(anvil: Driver) -> None:
    await running(anvil)
    await anvil.append(1, FIRST, SECOND)

    assert await read(anvil) == LogPart(text="one\ntwo\ndrei für vier\n", cursor=23, complete=False)


@pytest.mark.parametrize(
    ("after", "text"), [(0, "one\ntwo\ndrei für vier\n"), (4, "two\ndrei für vier\n"), (8, "drei für vier\n"), (23, "")]
)
async def test_reading_goes_on_at_any_byte(anvil: Driver, after: int, text: str) -> None:
    await running(anvil)
    await anvil.append(1, FIRST, SECOND)

    assert await read(anvil, after=after) == LogPart(text=text, cursor=23, complete=False)


async def test_the_log_of_an_ended_run_is_complete(anvil: Driver) -> None:
    await running(anvil)
    await anvil.append(1, FIRST)
    await anvil.finish(1)

    assert (await read(anvil)).complete
    assert await read(anvil, after=8) == LogPart(text="", cursor=8, complete=True)


async def test_a_long_log_is_read_in_stretches(anvil: Driver) -> None:
    await running(anvil)
    for first in (0, 16):
        lines = [chunk(seq, "x\n", offset=2 * seq, first_line=seq + 1) for seq in range(first, first + 16)]
        await anvil.append(1, *lines)
    await anvil.finish(1)
    parts = [await read(anvil, after=after) for after in (0, 32, 64)]

    assert [(len(part.text), part.cursor, part.complete) for part in parts] == [
        (32, 32, False),
        (32, 64, False),
        (0, 64, True),
    ]


async def test_appending_again_changes_nothing(anvil: Driver, home: Instance) -> None:
    await running(anvil)
    await anvil.append(1, FIRST, SECOND)
    home.store.forget()
    await anvil.append(1, FIRST, SECOND)

    assert home.store.commits == []
    assert (await read(anvil)).cursor == 23


async def test_of_what_is_appended_again_only_the_rest_is_added(anvil: Driver) -> None:
    await running(anvil)
    await anvil.append(1, FIRST)
    await anvil.append(1, FIRST, SECOND)

    assert (await read(anvil)).text == "one\ntwo\ndrei für vier\n"


async def test_a_chunk_is_never_replaced_by_another(anvil: Driver) -> None:
    await running(anvil)
    await anvil.append(1, FIRST)
    with pytest.raises(Conflict):
        await anvil.append(1, chunk(0, "another\n", offset=0))

    assert (await read(anvil)).text == "one\ntwo\n"


async def test_an_append_renews_no_lease(anvil: Driver, home: Instance) -> None:
    await running(anvil)
    before = await home.stored(HEARTBEATS, run_id(1))
    home.clock.move(seconds(10))
    await anvil.append(1, FIRST)

    assert await home.stored(HEARTBEATS, run_id(1)) == before


@pytest.mark.inv("S7")
@pytest.mark.parametrize("appended", [FIRST, SECOND, chunk(0, "another\n", offset=0)])
async def test_whoever_does_not_own_the_run_appends_nothing(anvil: Driver, appended: LogChunk) -> None:
    await running(anvil)
    await anvil.append(1, FIRST)
    with pytest.raises(OwnershipLost):
        await anvil.append(1, appended, attempt=2)

    assert (await read(anvil)).text == "one\ntwo\n"


async def test_an_attempt_that_loses_its_run_meanwhile_appends_nothing(
    anvil: Driver, another: Driver, home: Instance
) -> None:
    await running(anvil)
    home.clock.move(seconds(46))
    home.store.meanwhile = lambda: another.look(1)
    with pytest.raises(OwnershipLost):
        await anvil.append(1, FIRST)

    assert (await read(anvil)).text == ""


async def test_after_its_end_nothing_is_appended_to_a_run(anvil: Driver) -> None:
    await running(anvil)
    await anvil.report(1)
    await anvil.complete(1, teardown_complete=False)
    with pytest.raises(OwnershipLost):
        await anvil.append(1, FIRST)


async def test_a_run_shows_the_end_of_its_log(anvil: Driver) -> None:
    await running(anvil)
    lines = [f"line {number}\n" for number in range(30)]
    await anvil.append(1, chunk(0, "".join(lines), offset=0))

    assert (await anvil.show(1)).log_tail == tuple(f"line {number}" for number in range(10, 30))


async def test_the_end_of_a_slow_log_is_made_of_many_chunks(anvil: Driver) -> None:
    await running(anvil)
    lines = [f"line {number:02}\n" for number in range(30)]
    for seq, line in enumerate(lines):
        await anvil.append(1, chunk(seq, line, offset=8 * seq))

    assert (await anvil.show(1)).log_tail == tuple(f"line {number:02}" for number in range(10, 30))


async def test_there_is_no_log_of_a_run_that_is_not_there(anvil: Driver) -> None:
    with pytest.raises(NotFound):
        await read(anvil, number=7)
