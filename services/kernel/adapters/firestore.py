"""The store on Firestore: what production runs on."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from services.kernel.adapters import firestore_requests as requests
from services.kernel.adapters.document_rules import check_ref, check_writes, stored
from services.kernel.adapters.firestore_calls import Calls
from services.kernel.adapters.firestore_database import Api, Database
from services.kernel.adapters.firestore_messages import Message, unwrap
from services.kernel.adapters.firestore_values import fields_of, version_of
from services.kernel.adapters.query_shapes import Declared
from services.kernel.namespace import stored_collection
from services.kernel.ports import Clock, Index, Op, Query, Ref, Snapshot, Version, Write


class FirestoreStore:
    """Documents of one deployment namespace; several may share a database.

    A version is a document's update time. What no store would take is refused before it is sent, so that neither the
    emulator's leniency nor the server's own limits decide. A commit that met a lock for too long is `Contended`.
    """

    def __init__(self, database: Database, *, namespace: str, indexes: Sequence[Index], clock: Clock) -> None:
        self._database = database
        self._namespace = namespace
        self._declared = Declared(indexes, namespace=namespace)
        self._calls = Calls(database, clock=clock)

    async def get(self, refs: Sequence[Ref], *, fields: Sequence[str] | None = None) -> list[Snapshot | None]:
        places = [stored(ref, namespace=self._namespace) for ref in refs]
        for place in places:
            check_ref(place)
        if not places:
            return []
        request = requests.read(self._database.name, places, fields=fields)

        async def ask(api: Api, seconds: float) -> dict[str, Message]:
            answers = await api.batch_get_documents(request, **self._how(seconds))
            messages = [unwrap(answer) async for answer in answers]
            return {message.found.name: message.found for message in messages if message.HasField("found")}

        found = await self._calls.read(ask, operation="read")
        names = [requests.name_of(self._database.name, place) for place in places]
        pairs = zip(refs, names, strict=True)
        return [_snapshot(ref, found[name]) if name in found else None for ref, name in pairs]

    async def commit(self, writes: Sequence[Write]) -> list[Version]:
        placed = [replace(write, ref=stored(write.ref, namespace=self._namespace)) for write in writes]
        check_writes(placed)
        if not placed:
            return []
        request = requests.commit(self._database.name, placed)

        async def ask(api: Api, seconds: float) -> Message:
            return unwrap(await api.commit(request, **self._how(seconds)))

        answer = await self._calls.commit(ask)
        return [version_of(result.update_time) for result in answer.write_results]

    async def query(self, query: Query) -> list[Snapshot]:
        self._declared.index_for(query)
        if any(where.value is None and where.op is not Op.EQUAL for where in query.where):
            return []  # Nothing is less or more than null, and Firestore refuses to compare.
        collection = stored_collection(self._namespace, query.collection)
        request = requests.query(self._database.name, query, collection=collection)

        async def ask(api: Api, seconds: float) -> list[Message]:
            answers = await api.run_query(request, **self._how(seconds))
            messages = [unwrap(answer) async for answer in answers]
            return [message.document for message in messages if message.HasField("document")]

        found = await self._calls.read(ask, operation="query")
        return [_snapshot(Ref(query.collection, message.name.rpartition("/")[2]), message) for message in found]

    async def close(self) -> None:
        """Drop the connection, in the event loop that made it."""
        await self._calls.close()

    def _how(self, seconds: float) -> dict[str, Any]:
        return {"retry": None, "timeout": seconds, "metadata": self._database.metadata}


def _snapshot(ref: Ref, message: Message) -> Snapshot:
    return Snapshot(ref=ref, version=version_of(message.update_time), data=fields_of(message.fields))
