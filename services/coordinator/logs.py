"""A run's log: chunks that are created once, fenced like everything an attempt does."""

from datetime import datetime, timedelta

from services.coordinator.attempts import attempt_hash
from services.coordinator.layout import LOG_BACKWARD, LOG_FORWARD
from services.coordinator.records.run import HEARTBEATS, LogChunk, Run, log_chunk_id, log_of
from services.kernel.errors import AlreadyExists, Ambiguous, Conflict, Contended, OwnershipLost, PreconditionFailed
from services.kernel.ids import RunId
from services.kernel.ports import Clock, Cursor, Ids, Op, Query, Store, Where, Write
from services.kernel.wire import runs as wire

_TRIES = 8
_CHUNKS_A_READ = 16
_TAIL_LINES = 20
_TAIL_PAGE = 4


class Logs:
    def __init__(self, store: Store, *, clock: Clock, ids: Ids, keep: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._keep = keep

    async def append(self, run_id: RunId, command: wire.AppendLog) -> None:
        """Store chunks; the same chunk sent again is already stored.

        The lease is rewritten unchanged in the same commit, so that an attempt that lost its run adds nothing.

        Raises:
            OwnershipLost: the attempt does not own the run.
            Conflict: another chunk has this number.
        """
        hashed = attempt_hash(command.attempt)
        for _ in range(_TRIES):
            lease = HEARTBEATS.load_if((await self._store.get([HEARTBEATS.ref(run_id)]))[0])
            if lease is None or lease.value.attempt_hash != hashed:
                raise OwnershipLost(f"{run_id} is not this attempt's")
            if not (missing := await self._missing(run_id, command.chunks)):
                return
            fence = HEARTBEATS.replace(run_id, lease.value, at=lease.version, ids=self._ids)
            try:
                await self._store.commit([fence, *self._creates(run_id, missing)])
            except (PreconditionFailed, AlreadyExists, Contended, Ambiguous):
                continue
            return
        raise Contended(f"the lease of {run_id} was changed by others every time")

    async def read(self, run: Run, *, after: int) -> wire.LogPart:
        """The log from byte `after` on, as much as one answer takes; complete if the run has ended and that is all."""
        log = log_of(run.run_id)
        found = await self._store.query(
            Query(
                collection=log.collection,
                where=(Where("end", Op.AT_LEAST, after + 1),),
                order=LOG_FORWARD.order,
                limit=_CHUNKS_A_READ,
            )
        )
        chunks = [log.load(snapshot).value for snapshot in found]
        text = b"".join(_from(chunk, after) for chunk in chunks).decode(errors="replace")
        cursor = chunks[-1].end if chunks else after
        return wire.LogPart(text=text, cursor=cursor, complete=run.status.terminal and len(found) < _CHUNKS_A_READ)

    async def tail(self, run_id: RunId) -> tuple[str, ...]:
        """The last lines, from as many chunks as hold them: a slow writer's are a line each."""
        log = log_of(run_id)
        text = ""
        after: Cursor | None = None
        while text.count("\n") <= _TAIL_LINES:
            query = Query(collection=log.collection, order=LOG_BACKWARD.order, limit=_TAIL_PAGE, after=after)
            chunks = [log.load(snapshot).value for snapshot in await self._store.query(query)]
            text = "".join(chunk.text for chunk in reversed(chunks)) + text
            if len(chunks) < _TAIL_PAGE:
                break
            after = Cursor(values=(chunks[-1].end,), id=log_chunk_id(chunks[-1].seq))
        return tuple(text.splitlines()[-_TAIL_LINES:])

    async def _missing(self, run_id: RunId, chunks: tuple[wire.LogChunk, ...]) -> list[wire.LogChunk]:
        log = log_of(run_id)
        stored = await self._store.get([log.ref(log_chunk_id(chunk.seq)) for chunk in chunks], fields=("sha256",))
        missing: list[wire.LogChunk] = []
        for chunk, snapshot in zip(chunks, stored, strict=True):
            if snapshot is None:
                missing.append(chunk)
            elif snapshot.data["sha256"] != chunk.sha256:
                raise Conflict(f"chunk {chunk.seq} of {run_id} is stored with other text")
        return missing

    def _creates(self, run_id: RunId, chunks: list[wire.LogChunk]) -> list[Write]:
        log = log_of(run_id)
        expires_at = self._clock.now() + self._keep
        return [log.create(log_chunk_id(chunk.seq), _record(chunk, expires_at), ids=self._ids) for chunk in chunks]


def _record(chunk: wire.LogChunk, expires_at: datetime) -> LogChunk:
    return LogChunk(
        seq=chunk.seq,
        first_line=chunk.first_line,
        offset=chunk.offset,
        end=chunk.offset + len(chunk.text.encode()),
        text=chunk.text,
        sha256=chunk.sha256,
        expires_at=expires_at,
    )


def _from(chunk: LogChunk, after: int) -> bytes:
    return chunk.text.encode()[max(0, after - chunk.offset) :]
