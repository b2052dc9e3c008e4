"""One JSON object a line on stderr, in Google Cloud Logging's terms; an allow-list of fields and nothing else (A59).

Whatever is not allow-listed is left out and only named in `droppedFields`, so that no secret gets in by accident, and
what users typed stays inside a JSON string (A50). The servers' own loggers end in the same lines.
"""

import logging
import re
import sys
from collections.abc import Generator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar

import orjson
import structlog
from pydantic.alias_generators import to_camel
from structlog.typing import EventDict, WrappedLogger

from services.kernel import trace

FIELDS = frozenset(
    {
        "attempt_number",
        "branch",
        "code",
        "collection",
        "commit_sha",
        "count",
        "delivery_id",
        "detail",
        "dispatch",
        "document",
        "duration_ms",
        "event_kind",
        "exit_code",
        "method",
        "operation",
        "outcome",
        "path",
        "pid",
        "port",
        "project",
        "provider",
        "reason",
        "run",
        "signal",
        "status",
        "step",
        "target",
        "task",
        "verdict",
    }
)

_SEVERITIES = {"debug": "DEBUG", "info": "INFO", "warning": "WARNING", "error": "ERROR", "critical": "CRITICAL"}
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")
_LONGEST = 2000
_LONGEST_TRACEBACK = 16_000


class _RequestId:
    """The id of the request being answered, as its response carries it."""

    def __init__(self) -> None:
        self._current: ContextVar[str | None] = ContextVar("request_id", default=None)

    def get(self) -> str | None:
        return self._current.get()

    @contextmanager
    def use(self, name: str) -> Generator[str]:
        token = self._current.set(name)
        try:
            yield name
        finally:
            self._current.reset(token)


request_id = _RequestId()


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def configure(service: str, *, level: str = "INFO") -> None:
    """Send every logger of this process, the servers' own too, to stderr as JSON. Called by a main, once."""
    before: list[structlog.typing.Processor] = [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*before, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=before,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _Line(service)],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    _adopt_the_servers()


class _Line:
    """The last step: an event as one line of text."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> str:
        return orjson.dumps(line(event, service=self._service)).decode()


def line(event: MutableMapping[str, object], *, service: str) -> dict[str, object]:
    """What is written of an event."""
    current = trace.current()
    known = {
        "severity": _SEVERITIES.get(str(event.pop("level", "info")), "DEFAULT"),
        "time": event.pop("time", None),
        "service": service,
        "logger": event.pop("logger", None),
        "message": _text(event.pop("event", ""), _LONGEST),
        "exception": _text(event.pop("exception", ""), _LONGEST_TRACEBACK) or None,
        "traceId": current.trace_id if current else None,
        "requestId": request_id.get(),
        "droppedFields": sorted(event.keys() - FIELDS) or None,
    }
    allowed = {to_camel(name): _value(event[name]) for name in sorted(event.keys() & FIELDS)}
    return {name: value for name, value in {**known, **allowed}.items() if value is not None}


def _value(value: object) -> object:
    return value if isinstance(value, bool | int | float | None) else _text(value, _LONGEST)


def _text(value: object, longest: int) -> str:
    """Valid Unicode of bounded length, without the userinfo of URLs."""
    text = str(value).encode(errors="backslashreplace").decode()
    return _USERINFO.sub("", text if len(text) <= longest else f"{text[:longest]}…")


def _adopt_the_servers() -> None:
    for name in ("gunicorn.error", "gunicorn.access", "uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = True
    # `web.edge` writes the line about a request, with its trace and without its query. The HTTP client would tell whole
    # URLs, and at DEBUG the headers that other systems answer with.
    for name in ("gunicorn.access", "uvicorn.access", "httpx2", "httpcore2", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)
