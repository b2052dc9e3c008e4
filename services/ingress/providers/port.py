"""What ingress asks of each Git host's file. Pure: no I/O, no project data, nothing kept.

`verifies` comes first, on the bytes as they came; the others are asked only about a delivery that it said yes to.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from starlette.datastructures import Headers

from services.kernel.wire.deliveries import Canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came. `media_type` is its content type without parameters, in lower case."""

    headers: Headers
    media_type: str
    body: bytes


class GitHost(Protocol):
    media_types: ClassVar[frozenset[str]]
    """The content types in which this host sends its deliveries."""

    def verifies(self, received: Received, *, secret: bytes) -> bool:
        """Whether `secret` signed these bytes: never with an empty secret; a bad header is a no, not an error.

        Takes as long for a wrong signature as for a missing one (H2).
        """
        ...

    def delivery_id(self, received: Received) -> str:
        """The host's own id of this delivery.

        Raises:
            InvalidDeliveryId: it is missing, repeated, too long or not printable (D11).
        """
        ...

    def normalise(self, received: Received, *, delivery_id: str) -> Canonical:
        """The delivery in the one shape that all hosts share (R55).

        Raises:
            InvalidPayload: the body is not one that this host sends for this event.
        """
        ...
