"""The store's contract: reading and writing documents."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.kernel.errors import AlreadyExists, PreconditionFailed
from services.kernel.ports import Create, Delete, Ref, Replace, Store, Value, Version, Write
from tests.contract.stores import Database, content, document, read, thing

pytestmark = pytest.mark.anyio


async def test_of_32_creators_at_once_exactly_one_wins(database: Database) -> None:
    instances = [database.open(), database.open()]

    async def create(number: int) -> int | None:
        try:
            await instances[number % 2].commit([Create(thing("one"), document(winner=number))])
        except AlreadyExists:
            return None
        return number

    winners = [number for number in await asyncio.gather(*map(create, range(32))) if number is not None]

    assert len(winners) == 1
    assert content((await read(instances[0], thing("one"))).data) == {"winner": winners[0]}


async def test_a_commit_answers_with_the_version_that_a_read_then_shows(store: Store) -> None:
    (created,) = await store.commit([Create(thing("a"), document(n=1))])
    assert (await read(store, thing("a"))).version == created

    (replaced,) = await store.commit([Replace(thing("a"), document(n=2), created)])
    assert (await read(store, thing("a"))).version == replaced != created


async def test_a_replacement_leaves_nothing_of_the_old_document(store: Store) -> None:
    (version,) = await store.commit([Create(thing("a"), document(old=1))])
    await store.commit([Replace(thing("a"), document(new=2), version)])

    assert content((await read(store, thing("a"))).data) == {"new": 2}


@pytest.mark.parametrize("kind", ["replace", "delete"])
async def test_a_write_at_a_version_that_has_passed_changes_nothing(store: Store, kind: str) -> None:
    (stale,) = await store.commit([Create(thing("a"), document(n=1))])
    await store.commit([Replace(thing("a"), document(n=2), stale)])

    with pytest.raises(PreconditionFailed):
        await store.commit([_write(kind, stale)])
    assert content((await read(store, thing("a"))).data) == {"n": 2}


@pytest.mark.parametrize("kind", ["replace", "delete"])
async def test_a_version_of_a_document_that_is_gone_matches_nothing(store: Store, kind: str) -> None:
    (version,) = await store.commit([Create(thing("a"), document())])
    await store.commit([Delete(thing("a"), version)])

    with pytest.raises(PreconditionFailed):
        await store.commit([_write(kind, version)])
    assert await store.get([thing("a")]) == [None]


def _write(kind: str, version: Version) -> Write:
    return Replace(thing("a"), document(n=9), version) if kind == "replace" else Delete(thing("a"), version)


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_one_write_that_fails_undoes_its_whole_batch(store: Store, place: int) -> None:
    (version,) = await store.commit([Create(thing("there"), document(n=1))])
    writes: list[Write] = [Create(thing("new"), document()), Replace(thing("there"), document(n=2), version)]
    writes.insert(place, Create(thing("taken"), document()))
    await store.commit([Create(thing("taken"), document())])

    with pytest.raises(AlreadyExists):
        await store.commit(writes)
    assert await store.get([thing("new")]) == [None]
    assert content((await read(store, thing("there"))).data) == {"n": 1}


async def test_a_batch_creates_replaces_and_deletes_at_once(store: Store) -> None:
    first, second = await store.commit([Create(thing("a"), document(n=1)), Create(thing("b"), document(n=1))])
    answered = await store.commit(
        [Create(thing("c"), document(n=3)), Replace(thing("a"), document(n=2), first), Delete(thing("b"), second)]
    )

    found = await store.get([thing("c"), thing("a"), thing("b")])
    assert [snapshot and content(snapshot.data) for snapshot in found] == [{"n": 3}, {"n": 2}, None]
    assert [snapshot.version for snapshot in found if snapshot] == answered[:2]


async def test_an_empty_batch_does_nothing(store: Store) -> None:
    assert await store.commit([]) == []


async def test_a_replacement_by_the_same_content_does_not_move_the_version(store: Store) -> None:
    data = document(n=1, inner={"x": 1, "y": 2})
    (version,) = await store.commit([Create(thing("a"), data)])

    assert await store.commit([Replace(thing("a"), dict(reversed(data.items())), version)]) == [version]
    assert (await read(store, thing("a"))).version == version


async def test_a_document_created_again_has_a_version_that_it_never_had(store: Store) -> None:
    data = document(n=1)
    seen: set[Version] = set()
    for _ in range(20):
        (version,) = await store.commit([Create(thing("a"), data)])
        await store.commit([Delete(thing("a"), version)])
        seen.add(version)

    assert len(seen) == 20


async def test_documents_come_in_the_order_asked_and_none_where_there_is_none(store: Store) -> None:
    await store.commit([Create(thing("a"), document(n=1)), Create(thing("b"), document(n=2))])

    found = await store.get([thing("b"), thing("no"), thing("a"), thing("b")])
    assert [snapshot and (snapshot.ref.id, snapshot.data["n"]) for snapshot in found] == [
        ("b", 2),
        None,
        ("a", 1),
        ("b", 2),
    ]
    assert await store.get([]) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [(["a"], {"a": 1}), (["a", "no"], {"a": 1}), (["a.b"], {"a.b": 3}), ([], {}), (["c"], {"c": {"d": 4}})],
)
async def test_a_mask_gives_the_asked_fields_that_exist(
    store: Store, fields: Sequence[str], expected: dict[str, Value]
) -> None:
    data: dict[str, Value] = {"nonce": "n", "a": 1, "b": 2, "a.b": 3, "c": {"d": 4}}
    (version,) = await store.commit([Create(thing("x"), data)])

    (found,) = await store.get([thing("x")], fields=fields)
    assert found is not None
    assert found.data == expected
    assert found.version == version


@pytest.mark.threat("A22")
async def test_a_dot_in_a_field_name_is_a_character_like_any_other(store: Store) -> None:
    data: dict[str, Value] = {"nonce": "n", "a.b": 1, "a": {"b": 2}, "`": 3, "*": 4}
    await store.commit([Create(thing("x"), data)])

    assert (await read(store, thing("x"))).data == data


async def test_a_document_of_a_document_is_another_document(store: Store) -> None:
    inner = thing("a").under("log", "1")
    await store.commit([Create(inner, document(n=1))])

    assert await store.get([thing("a"), Ref("log", "1"), thing("1")]) == [None, None, None]
    assert (await read(store, inner)).ref == Ref("things/a/log", "1")


async def test_namespaces_in_one_database_do_not_see_each_other(database: Database) -> None:
    ours, theirs = database.open(namespace="ours"), database.open(namespace="theirs")
    await ours.commit([Create(thing("a"), document(n=1))])
    await theirs.commit([Create(thing("a"), document(n=2))])

    assert content((await read(ours, thing("a"))).data) == {"n": 1}
    assert content((await read(theirs, thing("a"))).data) == {"n": 2}


async def test_documents_read_together_are_as_of_one_moment(database: Database) -> None:
    if not database.commits_are_seen_whole:
        pytest.skip("the emulator shows a commit's documents one after another")
    writer, reader = database.open(), database.open()
    a, b = await writer.commit([Create(thing("a"), document(n=0)), Create(thing("b"), document(n=0))])

    async def write(a: Version, b: Version) -> None:
        for n in range(1, 40):
            a, b = await writer.commit([Replace(thing("a"), document(n=n), a), Replace(thing("b"), document(n=n), b)])

    writing = asyncio.create_task(write(a, b))
    seen: list[list[Value]] = []
    while not writing.done():
        found = await reader.get([thing("a"), thing("b")])
        seen.append([snapshot.data["n"] for snapshot in found if snapshot])
    await writing

    assert all(first == second for first, second in seen)
    assert seen[0] != seen[-1], "the reader met the writer at work"


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=50),
    st.binary(max_size=50),
    st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(fold=0)),
)
_NAMES = st.text(min_size=1, max_size=20).filter(lambda name: not (name.startswith("__") and name.endswith("__")))
_MAPS = st.recursive(
    st.dictionaries(_NAMES, _SCALARS, max_size=4),
    lambda inner: st.dictionaries(
        _NAMES, st.one_of(inner, _SCALARS, st.lists(st.one_of(inner, _SCALARS), max_size=4)), max_size=4
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=_MAPS)
async def test_every_value_comes_back_as_it_went_in(store: Store, data: dict[str, Value]) -> None:
    written = document(data=data)
    (old,) = await store.get([thing("x")])
    await store.commit([Create(thing("x"), written) if old is None else Replace(thing("x"), written, old.version)])

    assert _typed((await read(store, thing("x"))).data) == _typed(written)


def _typed(value: Value) -> object:
    """The value so that equal means of equal type: in Python `True == 1 == 1.0`, and `0.0 == -0.0`."""
    match value:
        case None | bool() | int() | float() | str() | bytes() | datetime():
            return type(value).__name__, repr(value)
        case Mapping():
            return {name: _typed(item) for name, item in value.items()}
        case _:
            return [_typed(item) for item in value]


async def test_a_time_keeps_its_microseconds_and_comes_back_in_utc(store: Store) -> None:
    local = datetime(2026, 11, 30, 13, 8, 0, 123457, tzinfo=timezone(timedelta(hours=2)))
    await store.commit([Create(thing("a"), document(at=local))])

    found = (await read(store, thing("a"))).data["at"]
    assert found == datetime(2026, 11, 30, 11, 8, 0, 123457, tzinfo=UTC)
    assert isinstance(found, datetime)
    assert found.utcoffset() == timedelta(0)
