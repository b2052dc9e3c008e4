"""Declared endpoints as they are served: what is taken, what is refused, and what every answer carries."""

import json

import httpx2
import pytest

from services.kernel import deadline, trace
from services.kernel.errors import Unavailable
from services.kernel.web import Call, route
from services.kernel.wire.model import Empty
from tests.unit.kernel.service import DELETE, NOTES, OPERATOR, PING, READ, calling, service
from tests.unit.kernel.world import MovableClock

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json", **OPERATOR}


async def post(content: bytes, headers: dict[str, str] | None = None) -> httpx2.Response:
    async with calling(service()) as http:
        return await http.post("/notes/n1:write", content=content, headers=headers or JSON)


async def get(path: str, **headers: str) -> httpx2.Response:
    async with calling(service()) as http:
        return await http.get(path, headers=headers)


def problems(answer: httpx2.Response) -> dict[str, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return {each["field"]: each["message"] for each in answer.json()["errors"]}


async def test_a_handler_gets_body_path_and_caller_and_answers_in_camel_case() -> None:
    answer = await post(b'{"text": "hi", "parts": [{"lineCount": 2}]}')
    assert answer.status_code == 201
    assert answer.json() == {"text": "hi", "confirm": False, "parts": [{"lineCount": 2}]}
    assert answer.headers["x-note"] == "n1"
    assert answer.headers["x-caller"] == "operator@example.com"


async def test_an_answer_is_stored_nowhere_and_guessed_by_nobody() -> None:
    answer = await get("/notes/n1")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "application/json"


async def test_an_answer_that_says_nothing_is_empty() -> None:
    async with calling(service()) as http:
        answer = await http.delete("/notes/n1")
    assert (answer.status_code, answer.content) == (204, b"")


async def test_an_endpoint_may_write_its_response_itself() -> None:
    assert (await get("/text")).text == "one\ntwo\n"


# What is refused


async def test_each_unknown_field_is_named_as_the_client_wrote_it() -> None:
    answer = await post(b'{"text": "hi", "txet": 1, "parts": [{"lineCount": 1, "line_count": 1}]}')
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_request"
    assert problems(answer) == {"txet": "unknown field", "parts.0.line_count": "unknown field"}


async def test_each_missing_or_unfit_field_is_named() -> None:
    answer = await post(b'{"confirm": 1, "parts": [{"lineCount": "1"}]}')
    assert problems(answer) == {
        "text": "required",
        "confirm": "Input should be a valid boolean",
        "parts.0.lineCount": "Input should be a valid integer",
    }


async def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    answer = await post(json.dumps({"text": 7_777_777, "confirm": "hunter2"}).encode())
    assert answer.status_code == 400
    assert "hunter2" not in answer.text
    assert "7777777" not in answer.text


async def test_a_flood_of_unknown_fields_gets_a_short_answer() -> None:
    answer = await post(json.dumps({"x" * 5000 + str(number): 1 for number in range(200)}).encode())
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 50
    assert len(answer.content) < 20_000


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"null", b"1"])
async def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    assert (await post(body)).status_code == 400


@pytest.mark.parametrize(
    "body", [b"{", b'{"text": NaN}', b'{"text": "a", "text": "b"}', b"[" * 100_000, b'{"text": ' + b"1" * 5000 + b"}"]
)
async def test_a_body_that_is_not_strict_json_is_refused(body: bytes) -> None:
    answer = await post(body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "", "application/json5"],
)
async def test_a_body_of_another_type_is_refused(kind: str) -> None:
    answer = await post(b'{"text": "hi"}', {**JSON, "Content-Type": kind})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"']
)
async def test_the_type_may_say_that_it_is_utf_8(kind: str) -> None:
    assert (await post(b'{"text": "hi"}', {**JSON, "Content-Type": kind})).status_code == 201


@pytest.mark.threat("A18")
@pytest.mark.parametrize("encoding", ["gzip", "br", "identity"])
async def test_a_body_with_a_content_encoding_is_refused(encoding: str) -> None:
    assert (await post(b'{"text": "hi"}', {**JSON, "Content-Encoding": encoding})).status_code == 415


async def test_no_body_is_read_as_an_empty_object() -> None:
    async with calling(service()) as http:
        assert (await http.post("/ping")).status_code == 200


async def test_no_body_where_something_must_be_said_names_what() -> None:
    assert problems(await post(b"")) == {"text": "required"}


async def test_a_query_is_read_by_its_camel_case_names() -> None:
    answer = await get("/notes?pageSize=7")
    assert answer.json() == {"items": [{"text": "7", "confirm": False, "parts": []}]}


async def test_the_end_of_a_list_has_no_token() -> None:
    assert "nextPageToken" not in (await get("/notes")).json()
    assert (await get("/notes?pageToken=x")).json()["nextPageToken"] == "x"


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("page_size=7", "page_size", "unknown field"),
        ("pageSize=1&pageSize=2", "pageSize", "given more than once"),
        ("pageSize=101", "pageSize", "Input should be less than or equal to 100"),
        ("pageSize=many", "pageSize", "Input should be a valid integer, unable to parse string as an integer"),
    ],
)
async def test_an_unfit_query_is_refused_by_name(query: str, field: str, message: str) -> None:
    answer = await get(f"/notes?{query}")
    assert answer.status_code == 400
    assert problems(answer) == {field: message}


async def test_beside_a_body_each_parameter_of_the_query_is_an_unknown_field() -> None:
    async with calling(service()) as http:
        answer = await http.post("/notes/n1:write?confirm=true&text=&confirm=no", json={"text": "hi"}, headers=OPERATOR)
        bare = await http.post("/notes/n1:write?", json={"text": "hi"}, headers=OPERATOR)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert problems(answer) == {"confirm": "unknown field", "text": "unknown field"}
    assert bare.status_code == 201


@pytest.mark.parametrize("twice", [1, 2])
async def test_a_flood_of_parameters_gets_a_short_answer(twice: int) -> None:
    flood = "".join(f"{number}{'x' * 250}=&" for number in range(100))
    async with calling(service()) as http:
        answers = [await http.post(f"/ping?{flood * twice}"), await http.get(f"/notes?{flood * twice}")]
    assert [(answer.status_code, len(answer.json()["errors"])) for answer in answers] == [(400, 50)] * 2
    assert max(len(answer.content) for answer in answers) < 20_000


# Paths and methods


async def test_an_unknown_path_is_not_found() -> None:
    answer = await get("/nowhere")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "path", ["/notes/", "/notes//", "/notes/n1/", "/notes/a%00b", "/notes/a%0A", "/notes/n1:erase", "/%"]
)
async def test_an_odd_path_is_not_found(path: str) -> None:
    assert (await get(path)).status_code == 404


async def test_a_segment_is_decoded() -> None:
    assert (await get("/notes/caf%C3%A9%20%F0%9F%98%80")).json()["text"] == "café \U0001f600"


async def test_another_method_is_told_which_ones_there_are() -> None:
    async with calling(service()) as http:
        answer = await http.put("/notes/n1")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "DELETE, GET, HEAD, OPTIONS"


async def test_options_are_told_without_a_guard() -> None:
    async with calling(service()) as http:
        answer = await http.options("/notes/n1:write")
    assert (answer.status_code, answer.headers["allow"]) == (204, "OPTIONS, POST")


async def test_head_is_answered_like_get() -> None:
    async with calling(service()) as http:
        answer = await http.head("/notes/n1")
    assert answer.status_code == 200


# Who calls, and what goes wrong


async def test_a_guarded_endpoint_turns_strangers_away_before_it_reads() -> None:
    answer = await post(b"not even json", {"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_an_error_of_the_handler_becomes_its_problem() -> None:
    async def away(call: Call[Empty]) -> Empty:
        raise Unavailable("the store is away")

    async with calling(service(route(PING, away))) as http:
        answer = await http.post("/ping")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert answer.json()["detail"] == "the store is away"


async def test_an_unexpected_error_is_a_500_that_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(call: Call[Empty]) -> Empty:
        raise LookupError("row 7 of the secret table")

    async with calling(service(route(PING, broken))) as http:
        answer = await http.post("/ping")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text


# What every request has


async def test_a_sane_request_id_is_kept() -> None:
    assert (await get("/notes/n1", **{"X-Request-Id": "a-1.b_2"})).headers["x-request-id"] == "a-1.b_2"


@pytest.mark.parametrize("name", ["", "a b", "x" * 129, '"', "a;b"])
async def test_any_other_request_id_is_replaced(name: str) -> None:
    assert (await get("/nowhere", **{"X-Request-Id": name})).headers["x-request-id"].startswith("token-")


async def test_a_handler_acts_in_its_callers_trace_and_deadline() -> None:
    clock, seen = MovableClock(), list[object]()

    async def look(call: Call[Empty]) -> Empty:
        current = trace.current()
        seen.append(current.trace_id if current else None)
        seen.append(deadline.left(clock, at_most=deadline.parse("60000") or clock.passed))
        return Empty()

    headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "X-Anvil-Deadline-Ms": "1500"}
    async with calling(service(route(PING, look), clock=clock)) as http:
        await http.post("/ping", headers=headers)
    assert seen == ["a" * 32, deadline.parse("1500")]
    assert trace.current() is None


async def test_one_path_may_serve_several_methods() -> None:
    assert {served.endpoint.path for served in NOTES if served.endpoint in (READ, DELETE)} == {"/notes/{note}"}
    async with calling(service()) as http:
        assert (await http.get("/notes/n1")).status_code == 200
        assert (await http.delete("/notes/n1")).status_code == 204
