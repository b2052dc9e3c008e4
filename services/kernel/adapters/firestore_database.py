"""Which Firestore database, and the connection to it."""

import re
from collections.abc import AsyncIterable, Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, cast

import grpc.aio
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient
from google.cloud.firestore_v1.services.firestore.transports.grpc_asyncio import FirestoreGrpcAsyncIOTransport
from google.cloud.firestore_v1.types.firestore import (
    BatchGetDocumentsRequest,
    BatchGetDocumentsResponse,
    CommitRequest,
    CommitResponse,
    RunQueryRequest,
    RunQueryResponse,
)

from services.kernel.settings import SettingsError

EMULATOR = "FIRESTORE_EMULATOR_HOST"

Metadata: TypeAlias = Sequence[tuple[str, str]]

_PROJECT = re.compile(r"[a-z][a-z0-9.:-]*[a-z0-9]")
_ID = re.compile(r"\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9]")
_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # An instance that was frozen between two requests finds out that its connection is gone.
    ("grpc.keepalive_time_ms", 30_000),
    # A database that was away is found again within a second, not after gRPC's two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database of a Google Cloud project; on Google's servers unless at an emulator's `host:port`."""

    project: str
    id: str = "(default)"
    emulator: str | None = None

    def __post_init__(self) -> None:
        if not _PROJECT.fullmatch(self.project):
            raise ValueError(f"{self.project!r} is not a project's id.")
        if not _ID.fullmatch(self.id):
            raise ValueError(f"{self.id!r} is not a Firestore database's id.")

    @property
    def name(self) -> str:
        return f"projects/{self.project}/databases/{self.id}"

    @property
    def metadata(self) -> Metadata:
        """What each call says besides its request; an emulator with rules lets only its owner pass."""
        prefix = ("google-cloud-resource-prefix", self.name)
        return (prefix,) if self.emulator is None else (prefix, ("authorization", "Bearer owner"))


def emulator(environ: Mapping[str, str], *, environment: str) -> str | None:
    """The emulator that the environment names.

    Raises:
        SettingsError: it names one outside `dev`, where it would be believed without any credentials.
    """
    address = environ.get(EMULATOR) or None
    if address is not None and environment != "dev":
        raise SettingsError(f"{EMULATOR}: only in the dev environment")
    return address


class Api(Protocol):
    """What is used of the generated client; each call says that it is not to be retried, how long it may take, and
    whose it is."""

    def batch_get_documents(
        self, request: BatchGetDocumentsRequest, *, retry: None, timeout: float, metadata: Metadata
    ) -> Awaitable[AsyncIterable[BatchGetDocumentsResponse]]: ...

    def commit(
        self, request: CommitRequest, *, retry: None, timeout: float, metadata: Metadata
    ) -> Awaitable[CommitResponse]: ...

    def run_query(
        self, request: RunQueryRequest, *, retry: None, timeout: float, metadata: Metadata
    ) -> Awaitable[AsyncIterable[RunQueryResponse]]: ...


@dataclass(frozen=True, slots=True)
class Connection:
    """Belongs to the event loop that runs while it is made, and to no other loop or process."""

    api: Api
    channel: grpc.aio.Channel

    @classmethod
    def to(cls, database: Database) -> Self:
        """
        Raises:
            GoogleAuthError: this machine has no credentials.
        """
        channel = _channel(database.emulator)
        return cls(FirestoreAsyncClient(transport=FirestoreGrpcAsyncIOTransport(channel=channel)), channel)


def _channel(emulator_address: str | None) -> grpc.aio.Channel:
    if emulator_address is not None:
        return grpc.aio.insecure_channel(emulator_address, options=_OPTIONS)
    channel: grpc.aio.Channel = cast("Any", FirestoreGrpcAsyncIOTransport).create_channel(options=_OPTIONS)
    return channel
