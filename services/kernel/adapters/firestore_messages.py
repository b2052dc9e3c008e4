"""Firestore's messages without the wrappers that the client library puts around them.

A wrapper costs several times what its message does, so it is put on as late and taken off as early as possible.
"""

from typing import Any, TypeAlias, TypeVar, cast

Message: TypeAlias = Any
"""A plain protobuf message, or a part of one."""

Wrapper = TypeVar("Wrapper")


def new(kind: type[object], **fields: object) -> Message:
    """A plain message of a wrapper's kind."""
    return cast("Any", kind).pb()(**fields)


def wrap(kind: type[Wrapper], message: Message) -> Wrapper:
    """The message, not a copy of it, as what the client takes."""
    wrapper: Wrapper = cast("Any", kind).wrap(message)
    return wrapper


def unwrap(wrapper: object) -> Message:
    """The message in what the client gave."""
    return cast("Any", type(wrapper)).pb(wrapper)
