"""The deployment namespace, and its mark on everything that two deployments might otherwise share (R93).

Pure. The derivation is one that Terraform can do too: decimal lengths, ASCII, hex.
"""

import hashlib
from dataclasses import astuple, dataclass

_LEDGER = "anvil_idempotency_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinate:
    """Where a deployment is, in full (R94); `service` is what it is called outside, which never changes."""

    project: str
    location: str
    environment: str
    service: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A capability that is deployed by itself under a parent, which is named by its namespace (R94)."""

    parent: str
    capability: str


def derive(coordinate: Coordinate | Child) -> str:
    """The namespace of a coordinate: 32 hex characters, and no two coordinates share one.

    Raises:
        ValueError: a part is empty or not ASCII, in which characters would not be bytes.
    """
    kind = "anvil-namespace" if isinstance(coordinate, Coordinate) else "anvil-namespace-child"
    parts: tuple[str, ...] = astuple(coordinate)
    for part in parts:
        if not part or not part.isascii():
            raise ValueError(f"{part!r} cannot be a part of a deployment's coordinate")
    text = "".join(f"{len(part)}:{part}" for part in (kind, *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest(namespace: str) -> str:
    """16 hex characters of the namespace's SHA-256: fit for any name, and none is a prefix of another."""
    return hashlib.sha256(namespace.encode()).hexdigest()[:16]


def ledger_collection(namespace: str) -> str:
    """The collection of a deployment's idempotency ledger, by the name that it has in the database itself (R89)."""
    return f"{_LEDGER}{digest(namespace)}"


def stored_collection(namespace: str, collection: str) -> str:
    """The path under which a deployment keeps `collection`: its root carries the namespace's digest."""
    if collection.startswith(_LEDGER) and collection == ledger_collection(namespace):
        return collection
    return f"a_{digest(namespace)}_{collection}"
