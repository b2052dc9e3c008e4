"""A body with one thing wrong: each of its JSON nodes missing, of another type, there twice, or nested too deep."""

import json
from collections.abc import Iterator

from services.kernel.strict_json import JsonValue

OTHERS: tuple[JsonValue, ...] = (None, True, 2**63, "", "0" * 40, "\x00", [{}], {})
_AGAIN = "\x00again"


def damaged(body: bytes) -> Iterator[bytes]:
    """Each damaged version of a JSON body; it may be long."""
    value: JsonValue = json.loads(body)
    for other in (*OTHERS, *_damaged(value)):
        yield _text(other)


def _damaged(value: JsonValue) -> Iterator[JsonValue]:
    match value:
        case dict():
            for key, item in value.items():
                yield {name: kept for name, kept in value.items() if name != key}
                yield {**value, _AGAIN + key: item}
                yield from ({**value, key: other} for other in _replaced(item))
        case list():
            for index, item in enumerate(value):
                yield value[:index] + value[index + 1 :]
                yield [*value[: index + 1], *value[index:]]
                yield from ([*value[:index], other, *value[index + 1 :]] for other in _replaced(item))
        case _:
            return


def _replaced(item: JsonValue) -> Iterator[JsonValue]:
    yield from OTHERS
    yield _deep(item)
    yield from _damaged(item)


def _deep(item: JsonValue) -> JsonValue:
    for _ in range(80):
        item = [item]
    return item


def _text(value: JsonValue) -> bytes:
    """JSON in which a key that was given again is there twice."""
    return json.dumps(value).replace("\\u0000again", "").encode()
