"""What is sent for an input: each field, the key and the credential in their places, and nothing anywhere else."""

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.coordinator.operations.redaction import redacted
from services.coordinator.operations.request import Outbound, fit, outbound, shown
from services.kernel.errors import Invalid
from services.kernel.strict_json import JsonValue
from tests.unit.coordinator.operations.test_catalogue import KEYED, one, only

Fields: TypeAlias = dict[str, JsonValue]

WIDE = """{type: object, additionalProperties: false, required: [id],
      properties: {id: {}, a: {}, b: {}}}"""
KEY = "f" * 64


def sent(input_: Fields, *, key: str | None = KEY, secret: str | None = None, **changes: str) -> Outbound:
    return outbound(only(one(input=WIDE, **changes)), input_, key=key, secret=secret)


def test_each_field_has_one_place() -> None:
    request = sent({"id": "i", "a": [1, True, "x y"], "b": {"c": None}}, path="/{id}", query="[a]")
    assert request.target == "/i?a=1&a=true&a=x%20y"
    assert request.body == b'{"b":{"c":null}}'


def test_what_is_not_given_is_not_sent() -> None:
    assert sent({"id": "i", "a": None}, query="[a, b]").target == "/make"


def test_a_request_says_what_it_is_and_asks_for_no_encoding() -> None:
    assert dict(sent({"id": "i"}).headers) == {
        "Host": "example.com",
        "User-Agent": "anvil",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Type": "application/json",
    }


def test_what_reads_has_no_body() -> None:
    request = sent({"id": "i"}, method="GET", path="/{id}", query="[a, b]")
    assert request.body is None
    assert "Content-Type" not in request.headers


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"idempotency": KEYED % ("header", "X-Key")}, "header"),
        ({"idempotency": KEYED % ("query", "key")}, "target"),
        ({"idempotency": KEYED % ("body", "key")}, "body"),
        ({"idempotency": KEYED % ("path", "key"), "path": "/make/{key}"}, "target"),
        ({"idempotency": "{mode: client_id, carrier: {in: body, name: id}}"}, "nowhere"),
        ({"idempotency": "{mode: natural}"}, "nowhere"),
    ],
)
def test_the_key_is_where_its_carrier_says_and_in_no_dry_run(changes: dict[str, str], where: str) -> None:
    request = sent({"id": "i"}, **changes)
    found = {"header": str(request.headers), "target": request.target, "body": str(request.body)}
    assert [name for name, text in found.items() if KEY in text] == ([] if where == "nowhere" else [where])
    assert KEY not in str(shown(only(one(input=WIDE, **changes)), {"id": "i"}, keyed=True))


@pytest.mark.parametrize("schema", ["{type: object}", "{type: object, patternProperties: {'^k': {}}}"])
def test_no_input_has_a_field_by_the_name_of_a_key_in_the_query(schema: str) -> None:
    """The schema lets it through into the body, and many servers take query and body as one."""
    operation = only(one(input=schema, idempotency=KEYED % ("query", "key")))
    with pytest.raises(Invalid) as refused:
        fit(operation, {"id": "i", "key": "another"})
    assert [problem.field for problem in refused.value.fields] == ["input.key"]
    fit(operation, {"id": "i", "Key": "another"})


def test_a_dry_run_shows_where_a_path_has_the_key() -> None:
    operation = only(one(input=WIDE, idempotency=KEYED % ("path", "key"), path="/{id}/{key}"))
    assert shown(operation, {"id": "a b"}, keyed=True) == {
        "method": "POST",
        "url": "https://example.com/a%20b/{idempotency-key}",
        "body": {},
    }


@pytest.mark.parametrize(
    ("credential", "expected"),
    [
        ("{profile: p, header: Authorization, scheme: Bearer}", {"Authorization": "Bearer s3cret"}),
        ("{profile: p, header: X-Api-Key}", {"X-Api-Key": "s3cret"}),
    ],
)
def test_a_credential_is_in_its_header_alone(credential: str, expected: dict[str, str]) -> None:
    request = sent({"id": "i"}, secret="s3cret", credential=credential)
    assert {name: value for name, value in request.headers.items() if "s3cret" in value} == expected
    assert "s3cret" not in request.target + str(request.body) + repr(request)


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/{id}", {"id": ""}),
        ("/{id}", {"id": "."}),
        ("/{id}", {"id": ".."}),
        ("/.{id}", {"id": "."}),
        ("/{id}/x", {"id": ".."}),
        ("/{id}", {"id": None}),
        ("/{id}", {"id": ["a"]}),
        ("/{id}", {"id": {"a": 1}}),
    ],
)
def test_no_input_leads_to_another_path(path: str, given: Fields) -> None:
    with pytest.raises(Invalid) as refused:
        sent(given, path=path)
    assert [problem.field for problem in refused.value.fields] == ["input.id"]


@given(st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text not in (".", "..")))
def test_whatever_the_text_it_stays_in_its_segment_and_its_pair(text: str) -> None:
    request = sent({"id": text, "a": text}, path="/v1/{id}/end", query="[a]")
    path, _, query = request.target.partition("?")
    assert path.count("/") == 3
    assert path.startswith("/v1/")
    assert path.endswith("/end")
    assert query.count("=") == 1
    assert "&" not in query
    assert request.target.isascii()


LINES: list[JsonValue] = [{"c": "s"}, {"c": "t", "d": 2}]
MIDDLE: Fields = {"c": "[redacted]", "d": 2}
LAST: Fields = {"c": "t", "d": "[redacted]"}
ANSWER: Fields = {"a": 1, "b": LINES, "e/f": "g", "~": "h", "": "i"}


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", "[redacted]"),
        ("/a", {**ANSWER, "a": "[redacted]"}),
        ("/b", {**ANSWER, "b": "[redacted]"}),
        ("/b/1/c", {**ANSWER, "b": [LINES[0], MIDDLE]}),
        ("/b/*/d", {**ANSWER, "b": [LINES[0], LAST]}),
        ("/e~1f", {**ANSWER, "e/f": "[redacted]"}),
        ("/~0", {**ANSWER, "~": "[redacted]"}),
        ("/", {**ANSWER, "": "[redacted]"}),
        ("/none", ANSWER),
        ("/a/b", ANSWER),
        ("/b/2", ANSWER),
    ],
)
def test_what_a_pointer_leads_to_is_not_kept(pointer: str, expected: JsonValue) -> None:
    assert redacted(ANSWER, [pointer]) == expected
