"""The store's contract: queries by declared shape."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from services.kernel.errors import Invalid
from services.kernel.ports import Create, Cursor, Delete, Op, Order, Query, Ref, Replace, Snapshot, Store, Value, Where
from tests.contract.stores import Database, document, thing

pytestmark = pytest.mark.anyio

BY_RANK = Query(collection="things", order=(Order("rank"),))
BY_RANK_DESCENDING = Query(collection="things", order=(Order("rank", descending=True),))

MIXED: dict[str, Value] = {
    "null": None,
    "no": False,
    "yes": True,
    "least": -(2**63),
    "minus": -1.5,
    "zero": 0,
    "half": 0.5,
    "one": 1,
    "large": 2**53,
    "larger": 2**53 + 1,
    "largest": 2**63 - 1,
    "huge": 1e300,
    "early": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "late": datetime(2026, 11, 30, tzinfo=UTC),
    "empty": "",
    "a": "a",
    "a0": "a\x00",
    "ab": "ab",
    "b": "b",
    "é": "é",
    "raw": b"\x00",
    "rawer": b"\x00\x00",
    "list": [1],
    "longer": [1, 2],
    "map": {"a": 1},
}
"""One document a value, by id, in the order of types and values that Firestore documents."""


async def fill(store: Store, ranks: dict[str, Value]) -> None:
    await store.commit([Create(thing(name), document(rank=rank)) for name, rank in ranks.items()])


def ids(found: Sequence[Snapshot]) -> list[str]:
    return [snapshot.ref.id for snapshot in found]


def rank(op: Op, value: Value) -> tuple[Where, ...]:
    return (Where("rank", op, value),)


async def test_documents_are_ordered_by_type_and_then_by_value(store: Store) -> None:
    await fill(store, dict(sorted(MIXED.items())))

    assert ids(await store.query(BY_RANK)) == list(MIXED)
    assert ids(await store.query(BY_RANK_DESCENDING)) == list(reversed(MIXED))


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        (Op.LESS, 1, ["least", "minus", "zero", "half"]),
        (Op.AT_MOST, 1.0, ["least", "minus", "zero", "half", "one"]),
        (Op.AT_LEAST, 2**53 + 1, ["larger", "largest", "huge"]),
        (Op.LESS, 2**53 + 1, ["least", "minus", "zero", "half", "one", "large"]),
        (Op.AT_LEAST, "a\x00", ["a0", "ab", "b", "é"]),
        (Op.LESS, "a\x00", ["empty", "a"]),
        (Op.AT_MOST, "a", ["empty", "a"]),
        (Op.AT_LEAST, datetime(1970, 1, 1, tzinfo=UTC), ["late"]),
        (Op.AT_MOST, datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), ["early"]),
        (Op.AT_LEAST, False, ["no", "yes"]),
        (Op.LESS, True, ["no"]),
        (Op.AT_MOST, b"\x00", ["raw"]),
        (Op.AT_MOST, None, []),
        (Op.AT_LEAST, None, []),
        (Op.LESS, None, []),
    ],
)
async def test_a_range_finds_values_of_its_own_type_in_both_directions(
    store: Store, op: Op, value: Value, expected: list[str]
) -> None:
    await fill(store, MIXED)

    assert ids(await store.query(replace(BY_RANK, where=rank(op, value)))) == expected
    assert ids(await store.query(replace(BY_RANK_DESCENDING, where=rank(op, value)))) == expected[::-1]


@pytest.mark.parametrize("query", [BY_RANK, BY_RANK_DESCENDING], ids=["ascending", "descending"])
async def test_two_conditions_on_one_field_make_a_window(store: Store, query: Query) -> None:
    await fill(store, {f"d{n}": n for n in range(6)})

    window = rank(Op.AT_LEAST, 2) + rank(Op.LESS, 4)
    assert sorted(ids(await store.query(replace(query, where=window)))) == ["d2", "d3"]
    nothing = rank(Op.AT_LEAST, 4) + rank(Op.LESS, 2)
    assert await store.query(replace(query, where=nothing)) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [("red", ["a"]), (1, ["b", "c"]), (True, ["d"]), (None, ["e"]), ({"x": 1}, ["f"]), ("blue", []), ("re", [])],
)
async def test_equality_is_of_type_and_value(store: Store, value: Value, expected: list[str]) -> None:
    colors: dict[str, Value] = {"a": "red", "b": 1, "c": 1.0, "d": True, "e": None, "f": {"x": 1}}
    await store.commit([Create(thing(name), document(color=color)) for name, color in colors.items()])
    await store.commit([Create(thing("colorless"), document())])

    query = Query(collection="things", where=(Where("color", Op.EQUAL, value),))
    assert ids(await store.query(query)) == expected


async def test_equality_and_range_hold_together(store: Store) -> None:
    await store.commit(
        [
            Create(thing(f"{color}{n}"), document(color=color, rank=n))
            for color in ("red", "reddish", "blue")
            for n in range(4)
        ]
    )

    where = (Where("color", Op.EQUAL, "red"), Where("rank", Op.LESS, 2))
    found = await store.query(Query(collection="things", where=where, order=(Order("rank"),)))
    assert ids(found) == ["red0", "red1"]


async def test_a_document_without_the_field_is_not_in_the_order(store: Store) -> None:
    await store.commit([Create(thing("a"), document(rank=1)), Create(thing("b"), document())])

    assert ids(await store.query(BY_RANK)) == ["a"]


async def test_ties_are_broken_by_id_in_the_direction_of_the_last_field(store: Store) -> None:
    await fill(store, dict.fromkeys(("b", "c", "a"), 1))

    assert ids(await store.query(BY_RANK)) == ["a", "b", "c"]
    assert ids(await store.query(BY_RANK_DESCENDING)) == ["c", "b", "a"]
    assert ids(await store.query(Query(collection="things"))) == ["a", "b", "c"]


async def test_two_fields_may_be_ordered_in_two_directions(store: Store) -> None:
    ranked = {"a": (1, "x"), "b": (1, "y"), "c": (0, "x"), "d": (1, "y")}
    await store.commit([Create(thing(key), document(rank=n, name=name)) for key, (n, name) in ranked.items()])

    query = Query(collection="things", order=(Order("rank"), Order("name", descending=True)))
    assert ids(await store.query(query)) == ["c", "d", "b", "a"]


@pytest.mark.parametrize("query", [BY_RANK, BY_RANK_DESCENDING], ids=["ascending", "descending"])
async def test_pages_show_each_document_once_while_others_come_and_go(store: Store, query: Query) -> None:
    await fill(store, {f"d{n:02}": n // 3 for n in range(20)})
    everything = ids(await store.query(query))

    seen: list[str] = []
    page = await store.query(replace(query, limit=3))
    while page:
        seen += ids(page)
        last = page[-1]
        await store.commit([Create(thing(f"new{len(seen)}-{n}"), document(rank=n)) for n in (-1, 99)])
        await store.commit([Delete(last.ref, last.version)])
        cursor = Cursor(values=(last.data["rank"],), id=last.ref.id)
        page = await store.query(replace(query, limit=3, after=cursor))

    old = [name for name in seen if name.startswith("d")]
    assert old == everything
    assert len(set(seen)) == len(seen)


async def test_a_cursor_stays_inside_the_range(store: Store) -> None:
    await fill(store, {f"d{n}": n for n in range(6)})

    query = replace(BY_RANK, where=rank(Op.LESS, 4), after=Cursor(values=(2,), id="d2"))
    assert ids(await store.query(query)) == ["d3"]
    assert await store.query(replace(query, after=Cursor(values=(5,), id="d5"))) == []
    early = replace(BY_RANK, where=rank(Op.AT_LEAST, 3), after=Cursor(values=(0,), id="d0"))
    assert ids(await store.query(early)) == ["d3", "d4", "d5"]


async def test_a_query_sees_what_was_replaced_and_deleted(store: Store) -> None:
    a, b, _ = await store.commit([Create(thing(name), document(rank=1)) for name in "abc"])
    await store.commit([Replace(thing("a"), document(rank=9), a), Delete(thing("b"), b)])

    assert ids(await store.query(BY_RANK)) == ["c", "a"]


async def test_a_query_is_of_one_collection_alone(database: Database) -> None:
    store, other = database.open(), database.open(namespace="other")
    for run in ("r1", "r2"):
        await store.commit([Create(Ref(f"runs/{run}/log", str(n)), document(seq=n)) for n in range(2)])
    await other.commit([Create(Ref("runs/r1/log", "9"), document(seq=9))])

    found = await store.query(Query(collection="runs/r1/log", order=(Order("seq"),)))
    assert [snapshot.ref for snapshot in found] == [Ref("runs/r1/log", "0"), Ref("runs/r1/log", "1")]


@pytest.mark.parametrize(
    ("fields", "expected"), [("rank", {"rank": 7}), ("a.b rank", {"a.b": "x", "rank": 7}), ("no", {}), ("", {})]
)
async def test_a_query_under_a_mask_gives_the_asked_fields_that_exist(
    store: Store, fields: str, expected: dict[str, Value]
) -> None:
    data: dict[str, Value] = {"nonce": "n", "rank": 7, "a.b": "x", "large": "y" * 1000}
    (version,) = await store.commit([Create(thing("a"), data)])

    (found,) = await store.query(replace(BY_RANK, fields=tuple(fields.split())))
    assert (found.ref, found.version, found.data) == (thing("a"), version, expected)


@pytest.mark.parametrize(
    "query",
    [
        Query(collection="others"),
        Query(collection="things", order=(Order("name"),)),
        Query(collection="things", where=(Where("name", Op.EQUAL, 1),)),
        Query(collection="things", where=(Where("color", Op.LESS, 1),)),
        Query(collection="things", where=(Where("name", Op.LESS, 1),), order=(Order("rank"), Order("name", True))),
        Query(collection="things", where=(Where("color", Op.EQUAL, 1), Where("color", Op.EQUAL, 2))),
        Query(collection="runs/r1/log", order=(Order("seq", descending=True),)),
    ],
)
async def test_a_shape_that_was_not_declared_is_refused(store: Store, query: Query) -> None:
    with pytest.raises(LookupError):
        await store.query(query)


@pytest.mark.parametrize(
    "query",
    [
        replace(BY_RANK, limit=0),
        replace(BY_RANK, after=Cursor(values=(), id="a")),
        replace(BY_RANK, where=rank(Op.LESS, float("nan"))),
        replace(BY_RANK, where=rank(Op.LESS, "\ud800")),
        Query(collection="things/a"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused(store: Store, query: Query) -> None:
    with pytest.raises(Invalid):
        await store.query(query)
