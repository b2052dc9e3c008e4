"""The deployment namespace's mark on everything that two deployments might otherwise share (R93)."""

import hashlib


def digest(namespace: str) -> str:
    """16 hex characters of the namespace's SHA-256: fit for any name, and none is a prefix of another."""
    return hashlib.sha256(namespace.encode()).hexdigest()[:16]


def stored_collection(namespace: str, collection: str) -> str:
    """The path under which a deployment keeps `collection`: its root carries the namespace's digest."""
    return f"a_{digest(namespace)}_{collection}"
