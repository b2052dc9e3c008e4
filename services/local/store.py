"""Which store a local stack keeps its truth in, and with it how much of Google Cloud it plays."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from services.local import stack
from services.local.addresses import Addresses, Service
from services.local.cloud import stack as cloud
from services.local.environment import Environment
from services.local.stack import Stack
from services.local.state import StateDirectory
from services.local.supervisor import Report

SQLITE = "sqlite"
FIRESTORE = "firestore"


def started(
    state: StateDirectory,
    *,
    store: str,
    addresses: Addresses,
    report: Report,
    chosen: frozenset[Service] = stack.ALL,
    instances: int = 1,
    overrides: Mapping[Service, Environment] | None = None,
) -> AbstractAsyncContextManager[Stack]:
    """The services on this store, ready, until the end of the block: the chosen ones, or on Firestore all of them in so
    many instances.

    Raises:
        StartFailed: they did not come to serve.
    """
    if store == FIRESTORE:
        return cloud.running(state, addresses=addresses, report=report, instances=instances, overrides=overrides)
    return stack.running(state, addresses=addresses, report=report, chosen=chosen, overrides=overrides)
