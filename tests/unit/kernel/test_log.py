"""Log lines: one JSON object each, of allowed fields, whatever anybody typed (A50, A59)."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from services.kernel import log, trace
from services.kernel.trace import Trace
from services.kernel.web import Call, route
from services.kernel.wire.model import Empty
from tests.unit.kernel.service import PING, calling, service

SERVERS = (
    "gunicorn.error",
    "gunicorn.access",
    "uvicorn",
    "uvicorn.error",
    "uvicorn.access",
    "httpx2",
    "httpcore2",
    "asyncio",
)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What was logged, as text; everything is as before afterwards."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in SERVERS}
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    log.configure("notes", level="debug")
    yield written
    structlog.reset_defaults()
    root.handlers, root.level = before
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def read(lines: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.getvalue().split("\n")[:-1]]


def test_a_line_says_who_when_how_bad_and_what(lines: io.StringIO) -> None:
    log.get_logger("services.kernel.x").warning("a task came late", run="run_1", duration_ms=7)
    (line,) = read(lines)
    assert str(line.pop("time")).endswith("Z")
    assert line == {
        "severity": "WARNING",
        "service": "notes",
        "logger": "services.kernel.x",
        "message": "a task came late",
        "run": "run_1",
        "durationMs": 7,
    }


@pytest.mark.parametrize("severity", ["debug", "info", "warning", "error", "critical"])
def test_severities_have_google_clouds_names(lines: io.StringIO, severity: str) -> None:
    getattr(log.get_logger("x"), severity)("something")
    assert [line["severity"] for line in read(lines)] == [severity.upper()]


@pytest.mark.threat("A59")
def test_a_field_that_is_not_allowed_is_named_and_left_out(lines: io.StringIO) -> None:
    log.get_logger("x").info("signed in", token="hunter2", authorization="hunter2", project="api")
    assert "hunter2" not in lines.getvalue()
    assert read(lines)[0]["droppedFields"] == ["authorization", "token"]
    assert read(lines)[0]["project"] == "api"


@pytest.mark.threat("A50")
@pytest.mark.parametrize(
    "typed",
    ['\n{"severity":"CRITICAL","message":"pwned"}', "\r\n\x1b[31mred", '","severity":"CRITICAL', "\u2028", "\ud800"],
)
def test_what_users_type_stays_inside_one_string_of_one_line(lines: io.StringIO, typed: str) -> None:
    log.get_logger("x").info(typed, branch=typed)
    (line,) = read(lines)
    assert line["severity"] == "INFO"
    assert line["branch"] == line["message"] == typed.encode(errors="backslashreplace").decode()


def test_userinfo_of_a_url_is_left_out(lines: io.StringIO) -> None:
    log.get_logger("x").info("cloning https://bot:hunter2@git.example/x.git", detail="ssh://hunter2@h/x")
    assert "hunter2" not in lines.getvalue()
    assert read(lines)[0]["message"] == "cloning https://git.example/x.git"


def test_an_endless_text_is_cut(lines: io.StringIO) -> None:
    log.get_logger("x").info("x" * 100_000, branch="y" * 100_000)
    assert len(lines.getvalue()) < 5000


def test_a_line_names_the_trace_it_belongs_to(lines: io.StringIO) -> None:
    with trace.use(Trace(trace_id="a" * 32, span_id="b" * 16)):
        log.get_logger("x").info("something")
    assert read(lines)[0]["traceId"] == "a" * 32


@pytest.mark.parametrize("name", ["uvicorn.error", "gunicorn.error", "somebody.elses"])
def test_the_servers_own_lines_look_like_ours(lines: io.StringIO, name: str) -> None:
    logging.getLogger(name).error("worker %s\nfell over", "7")
    (line,) = read(lines)
    assert (line["severity"], line["logger"], line["message"]) == ("ERROR", name, "worker 7\nfell over")


@pytest.mark.parametrize("name", ["uvicorn.access", "gunicorn.access", "httpx2", "httpcore2"])
def test_requests_are_logged_once_and_by_us(lines: io.StringIO, name: str) -> None:
    logging.getLogger(name).info('"GET /?token=hunter2"')
    assert lines.getvalue() == ""


@pytest.mark.anyio
async def test_a_request_is_one_line_without_its_query(lines: io.StringIO) -> None:
    async with calling(service()) as http:
        await http.get("/notes?pageToken=hunter2", headers={"X-Request-Id": "r1"})
    (line,) = read(lines)
    assert "hunter2" not in lines.getvalue()
    assert (line["method"], line["path"], line["status"], line["requestId"]) == ("GET", "/notes", 200, "r1")


@pytest.mark.anyio
async def test_an_unexpected_error_is_logged_once_with_its_traceback(lines: io.StringIO) -> None:
    async def broken(call: Call[Empty]) -> Empty:
        raise LookupError("row 7")

    async with calling(service(route(PING, broken))) as http:
        await http.post("/ping")
    failures = [line for line in read(lines) if line["severity"] == "ERROR"]
    assert len(failures) == 1
    assert "LookupError: row 7" in str(failures[0]["exception"])


@pytest.mark.anyio
async def test_an_expected_error_has_no_traceback(lines: io.StringIO) -> None:
    async with calling(service()) as http:
        await http.get("/nowhere")
    assert [line["status"] for line in read(lines)] == [404]
    assert "Traceback" not in lines.getvalue()
