"""What ingress asks of each Git host's file. Pure: no I/O, no project data, nothing kept.

`refusal` comes first, on the bytes as they came; a delivery's id and content are asked only of one that it let through.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Protocol

from starlette.datastructures import Headers

from services.kernel.wire.deliveries import Canonical, Outcome
from services.kernel.wire.webhooks import Refusal, WebhookConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came. `media_type` is its content type without parameters, in lower case."""

    headers: Headers
    media_type: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What one webhook is verified with."""

    secret: bytes = field(repr=False)
    config: WebhookConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A delivery as the host would send it, that starts no run: it comes to `outcome`."""

    headers: Mapping[str, str]
    body: bytes
    outcome: Outcome


class GitHost(Protocol):
    media_types: ClassVar[frozenset[str]]
    """The content types in which this host sends its deliveries."""
    has_signing_token: ClassVar[bool]
    """Whether its webhooks can be configured to sign with a token of their own kind."""

    def refusal(self, received: Received, key: Key, *, now: datetime) -> Refusal | None:
        """Why `key` does not vouch for these bytes; None if it does.

        Never with an empty secret; a bad header is a reason, not an error. Takes as long for a wrong signature as for a
        missing one (H2).
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

    def unfit(self, config: WebhookConfig, *, secret: str) -> str | None:
        """What is wrong with this secret, for this host in this configuration; None if nothing is."""
        ...

    def new_secret(self, config: WebhookConfig, *, entropy: str) -> str:
        """A secret made of 256 random bits, given as printable text."""
        ...

    def sample(self, key: Key, *, repository_url: str, delivery_id: str, now: datetime) -> Sample:
        """A signed delivery about the repository."""
        ...
