"""Which request caused this one: W3C Trace Context, carried through calls and tasks.

The current trace lives in a context variable, so that each log line and each call out has it without being told.
"""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from services.kernel.ports import Ids

TRACEPARENT = "traceparent"
CLOUD_TRACE = "x-cloud-trace-context"

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_CLOUD_TRACE = re.compile(r"([0-9a-f]{32})/[0-9]{1,20}(?:;o=([01]))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace and this service's own span in it, in lower-case hex."""

    trace_id: str
    span_id: str
    sampled: bool = False

    def header(self) -> str:
        """The `traceparent` for whatever this request causes."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def current() -> Trace | None:
    return _current.get()


def current_header() -> str | None:
    """The `traceparent` to send along, or to put into a task; None outside of any request."""
    trace = _current.get()
    return trace.header() if trace else None


@contextmanager
def use(trace: Trace) -> Generator[Trace]:
    """Make `trace` the current one inside the block."""
    token = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(token)


def continued(headers: Mapping[str, str], ids: Ids) -> Trace:
    """The caller's trace with a span of our own; a new trace if the caller names none that is valid."""
    trace_id, sampled = _of_traceparent(headers) or _of_cloud_trace(headers) or (f"{ids.unique():032x}", False)
    return Trace(trace_id=trace_id, span_id=_span_id(ids), sampled=sampled)


def _of_traceparent(headers: Mapping[str, str]) -> tuple[str, bool] | None:
    found = _TRACEPARENT.fullmatch(headers.get(TRACEPARENT, ""))
    if found is None or _is_zero(found[1]) or _is_zero(found[2]):
        return None
    return found[1], bool(int(found[3], 16) & 1)


def _of_cloud_trace(headers: Mapping[str, str]) -> tuple[str, bool] | None:
    found = _CLOUD_TRACE.fullmatch(headers.get(CLOUD_TRACE, ""))
    if found is None or _is_zero(found[1]):
        return None
    return found[1], found[2] == "1"


def _is_zero(digits: str) -> bool:
    return not digits.strip("0")


def _span_id(ids: Ids) -> str:
    return f"{ids.unique() % 2**64 or 1:016x}"
