"""Values as Firestore's messages, and messages as values again.

A field's name is a key of a map here and never a path, so a dot in it is a character.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from google.cloud.firestore_v1.types.document import Value as ValueMessage

from services.kernel.adapters.firestore_messages import Message, new
from services.kernel.ports import Document, Value, Version


def message_of(value: Value) -> Message:
    message = new(ValueMessage)
    _put(value, message)
    return message


def put_fields(document: Document, fields: Message) -> None:
    """Fill a message's map of fields."""
    for name, value in document.items():
        _put(value, fields[name])


def fields_of(fields: Message) -> dict[str, Value]:
    return {name: _value(message) for name, message in fields.items()}


def version_of(moment: Message) -> Version:
    """A timestamp as RFC 3339 text, with as many digits as it needs."""
    return Version(moment.ToJsonString())


def put_version(version: Version, moment: Message) -> None:
    """
    Raises:
        ValueError: this store never gave such a version.
    """
    moment.FromJsonString(version)


def _put(value: Value, message: Message) -> None:
    match value:
        case None:
            message.null_value = 0
        case bool():
            message.boolean_value = value
        case int():
            message.integer_value = value
        case float():
            message.double_value = value
        case str():
            message.string_value = value
        case bytes():
            message.bytes_value = value
        case datetime():
            message.timestamp_value.FromDatetime(value.astimezone(UTC))
        case Mapping():
            message.map_value.SetInParent()
            put_fields(value, message.map_value.fields)
        case _:
            message.array_value.SetInParent()
            for item in value:
                _put(item, message.array_value.values.add())


def _value(message: Message) -> Value:
    match kind := message.WhichOneof("value_type"):
        case "null_value":
            return None
        case "boolean_value" | "integer_value" | "double_value" | "string_value" | "bytes_value":
            scalar: Value = getattr(message, kind)
            return scalar
        case "timestamp_value":
            moment: datetime = message.timestamp_value.ToDatetime(tzinfo=UTC)
            return moment
        case "map_value":
            return fields_of(message.map_value.fields)
        case "array_value":
            return [_value(item) for item in message.array_value.values]
        case _:
            raise ValueError(f"A document holds a {kind}, which Anvil never writes.")
