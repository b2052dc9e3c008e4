"""The store's contract: documents that no store would take, and those just inside the bounds."""

from datetime import datetime, timedelta, timezone
from math import inf, nan

import pytest

from services.kernel.errors import Invalid
from services.kernel.ports import Create, Delete, Ref, Replace, Store, Value, Version, Write
from tests.contract.stores import document, read, thing

pytestmark = pytest.mark.anyio

# A document's size: 16, each part of its stored path and 1, each field's name and 1, its text and 1, and 32.
# `a_0123456789abcdef_things/d` is 16 + 26 + 2, `nonce: "n"` 6 + 2, and `body: …` 5 + 1 and the text.
LARGEST_BODY = 1_048_576 - 44 - 8 - 6 - 32


async def test_a_document_of_exactly_one_mebibyte_is_taken(store: Store) -> None:
    await store.commit([Create(thing("d"), {"nonce": "n", "body": "x" * LARGEST_BODY})])

    assert (await read(store, thing("d"))).data["body"] == "x" * LARGEST_BODY


async def test_a_document_one_byte_over_a_mebibyte_is_refused(store: Store) -> None:
    await _refused(store, Create(thing("d"), {"nonce": "n", "body": "x" * (LARGEST_BODY + 1)}))


async def test_sizes_are_counted_in_bytes_of_utf8(store: Store) -> None:
    await _refused(store, Create(thing("d"), {"nonce": "n", "body": "é" * (LARGEST_BODY // 2 + 1)}))


async def test_a_batch_of_more_than_four_mebibytes_is_refused(store: Store) -> None:
    writes = [Create(thing(f"d{n}"), document(body="x" * 1_040_000)) for n in range(5)]

    await _refused(store, *writes)
    await store.commit(writes[:4])


async def test_a_batch_that_writes_one_document_twice_is_refused(store: Store) -> None:
    await _refused(store, Create(thing("d"), document()), Create(thing("d"), document()))

    (version,) = await store.commit([Create(thing("e"), document(n=1))])
    with pytest.raises(Invalid):
        await store.commit([Replace(thing("e"), document(n=2), version), Delete(thing("e"), version)])
    assert (await read(store, thing("e"))).data["n"] == 1


@pytest.mark.parametrize("name", ["", ".", "..", "__x__", "____", "a/b", "x" * 1501, "é" * 751, "\ud800"])
async def test_an_id_that_firestore_reserves_is_refused(store: Store, name: str) -> None:
    with pytest.raises(Invalid):
        await store.commit([Create(thing(name), document())])
    with pytest.raises(Invalid):
        await store.commit([Delete(thing(name), Version("1"))])
    with pytest.raises(Invalid):
        await store.get([thing(name)])


@pytest.mark.parametrize("name", ["x" * 1500, "...", "__x", "_x_", "a b", "a\x00b", "%2F", "日本"])
async def test_any_other_id_is_taken(store: Store, name: str) -> None:
    await store.commit([Create(thing(name), document(n=1))])

    assert (await read(store, thing(name))).ref.id == name


@pytest.mark.parametrize("collection", ["", "things/d", "things//log", "things/d/", "things/__x__/log", "/things"])
async def test_a_path_that_is_not_a_collections_is_refused(store: Store, collection: str) -> None:
    with pytest.raises(Invalid):
        await store.commit([Create(Ref(collection, "d"), document())])


@pytest.mark.parametrize("name", ["", "__x__", "x" * 1501, "\udfff"])
async def test_a_field_name_that_firestore_reserves_is_refused(store: Store, name: str) -> None:
    await _refused(store, Create(thing("d"), document(**{name: 1})))
    await _refused(store, Create(thing("d"), document(inner={name: 1})))
    await _refused(store, Create(thing("d"), document(inner=[{name: 1}])))


IMPOSSIBLE: tuple[Value, ...] = (
    2**63,
    -(2**63) - 1,
    nan,
    inf,
    -inf,
    "\ud800",
    [[1]],
    [1, {"a": [1, []]}],
    datetime(2026, 11, 30),  # noqa: DTZ001
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    "x" * 1_048_488,
    b"x" * 1_048_488,
)


@pytest.mark.parametrize("value", IMPOSSIBLE, ids=lambda value: repr(value)[:30])
@pytest.mark.threat("A15")
async def test_a_value_that_firestore_cannot_hold_is_refused(store: Store, value: Value) -> None:
    await _refused(store, Create(thing("d"), document(value=value)))
    await _refused(store, Create(thing("d"), document(inner={"value": value})))


async def test_a_document_is_at_most_twenty_levels_deep(store: Store) -> None:
    await store.commit([Create(thing("deep"), document(value=_nested(19)))])

    assert (await read(store, thing("deep"))).data["value"] == _nested(19)
    await _refused(store, Create(thing("d"), document(value=_nested(20))))


def _nested(levels: int) -> Value:
    value: Value = 1
    for level in range(levels):
        value = {"m": value} if level % 2 else {"n": value}
    return value


@pytest.mark.parametrize("data", [{"n": 1}, {"n": 1, "nonce": ""}, {"n": 1, "nonce": 7}, {"n": 1, "nonce": None}])
async def test_a_document_without_a_nonce_is_refused(store: Store, data: dict[str, Value]) -> None:
    await _refused(store, Create(thing("d"), data))


async def _refused(store: Store, *writes: Write) -> None:
    with pytest.raises(Invalid):
        await store.commit(writes)
    assert all(found is None for found in await store.get([thing("d"), thing("d0")]))
