"""What a catalogue may say, and how it is told what is wrong with it."""

import hashlib
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address

import pytest

from services.coordinator.operations.catalogue import parse
from services.coordinator.operations.model import Carrier, Catalogue, Credential, Operation, Place
from services.kernel.strict_yaml import Refused
from services.kernel.wire.operations import Mode

WHOLE = """\
version: 1
operations:
  - id: create-invoice
    title: Create an invoice
    approved: true
    upstream: https://Billing.example.com:8443/api/
    method: POST
    path: /v1/customers/{customer}/invoices
    query: [currency]
    input:
      type: object
      additionalProperties: false
      required: [customer]
      properties:
        customer: {type: string}
        currency: {type: string}
        cents: {type: integer}
    idempotency: {mode: required, carrier: {in: header, name: Idempotency-Key}}
    credential: {profile: billing, header: Authorization, scheme: Bearer}
    success: [200, 201]
    provesNoEffect: [400, 404, 422]
    timeoutSeconds: 10
    attempts: 5
    replayTtlSeconds: 60
    redact: ["/token", "/lines/*/pin"]
"""

SCHEMA = "{type: object, additionalProperties: false, required: [id], properties: {id: {type: string}}}"

PATTERNED = (
    "{type: object, additionalProperties: false, required: [id], properties: {id: {}}, patternProperties: {k: {}}}"
)
"""Closed to what no pattern lets through."""

FIELDS = {
    "id": "make",
    "title": "Make",
    "approved": "true",
    "upstream": "https://example.com",
    "method": "POST",
    "path": "/make",
    "input": SCHEMA,
    "idempotency": "{mode: natural}",
    "success": "[200]",
    "timeoutSeconds": "10",
}


def one(**changes: str | None) -> str:
    """A catalogue of one operation, each field on a line of its own from line 3 on; None leaves a field out."""
    fields = {**FIELDS, **changes}
    lines = [f"{name}: {text}" for name, text in fields.items() if text is not None]
    return "version: 1\noperations:\n  - " + "\n    ".join(lines) + "\n"


def read(text: str, *, allow_local: bool = False) -> Catalogue:
    return parse(text.encode(), replay_ttl=timedelta(days=7), allow_local=allow_local)


def only(text: str, *, allow_local: bool = False) -> Operation:
    (operation,) = read(text, allow_local=allow_local).operations.values()
    return operation


def refusal(text: str) -> str:
    with pytest.raises(Refused) as refused:
        read(text)
    return str(refused.value)


def test_a_whole_operation_is_read_in_every_field() -> None:
    operation = only(WHOLE)
    assert (operation.id, operation.title, operation.approved) == ("create-invoice", "Create an invoice", True)
    assert (operation.upstream.scheme, operation.upstream.host, operation.upstream.port) == (
        "https",
        "billing.example.com",
        8443,
    )
    assert operation.upstream.url == "https://billing.example.com:8443/api"
    assert (operation.method, operation.path, operation.query) == (
        "POST",
        "/v1/customers/{customer}/invoices",
        ("currency",),
    )
    assert operation.input["required"] == ["customer"]
    assert operation.mode is Mode.REQUIRED
    assert operation.carrier == Carrier(place=Place.HEADER, name="Idempotency-Key")
    assert operation.credential == Credential(profile="billing", header="Authorization", scheme="Bearer")
    assert operation.success == {200, 201}
    assert operation.proves_no_effect == {400, 404, 422}
    assert operation.timeout == timedelta(seconds=10)
    assert operation.attempts == 5
    assert operation.replay_ttl == timedelta(minutes=1)
    assert operation.redact == ("/token", "/lines/*/pin")


def test_what_is_left_out_is_as_usual() -> None:
    operation = only(one())
    assert (operation.query, operation.carrier, operation.credential) == ((), None, None)
    assert (operation.proves_no_effect, operation.redact) == (frozenset(), ())
    assert (operation.attempts, operation.replay_ttl) == (3, timedelta(days=7))
    assert only(one(idempotency="{mode: none}")).attempts == 1


def test_a_catalogue_may_have_no_operations() -> None:
    assert read("version: 1\noperations: []").operations == {}


def test_the_digest_is_of_what_is_said_and_not_of_how() -> None:
    assert read("version: 1\noperations: []").digest == hashlib.sha256(b'{"operations":[],"version":1}').hexdigest()
    rewritten = WHOLE.replace("title: Create an invoice", 'title: "Create an invoice"  # a remark')
    assert read(rewritten).digest == read(WHOLE).digest
    assert read(WHOLE.replace("approved: true", "approved: false")).digest != read(WHOLE).digest


@pytest.mark.parametrize(
    ("upstream", "host", "url"),
    [
        ("https://EXAMPLE.com.", "example.com", "https://example.com"),
        ("https://example.com:443/", "example.com", "https://example.com"),
        ("https://0x08080808", IPv4Address("8.8.8.8"), "https://8.8.8.8"),
        ('"https://[2600:0::1]:8443"', IPv6Address("2600::1"), "https://[2600::1]:8443"),
    ],
)
def test_a_host_is_written_in_one_way(upstream: str, host: object, url: str) -> None:
    operation = only(one(upstream=upstream))
    assert (operation.upstream.host, operation.upstream.url) == (host, url)


def test_what_is_local_is_for_the_local_stack() -> None:
    operation = only(one(upstream="http://127.0.0.1:9000/base"), allow_local=True)
    assert operation.upstream.url == "http://127.0.0.1:9000/base"


KEYED = "{mode: required, carrier: {in: %s, name: %s}}"


@pytest.mark.parametrize(
    "changes",
    [
        {"idempotency": KEYED % ("header", "X-Request-Key")},
        {"idempotency": KEYED % ("query", "key")},
        {"idempotency": KEYED % ("body", "key")},
        {"idempotency": KEYED % ("path", "key"), "path": "/make/{key}"},
        {"idempotency": "{mode: client_id, carrier: {in: body, name: id}}"},
        {"idempotency": "{mode: client_id, carrier: {in: path, name: id}}", "path": "/make/{id}"},
        {"idempotency": "{mode: client_id, carrier: {in: query, name: id}}", "query": "[id]"},
        {"method": "GET", "path": "/make/{id}"},
        {"method": "DELETE", "query": "[id]"},
        {"path": "/v1/{id}:pay"},
        {"path": "/"},
    ],
)
def test_a_key_or_an_id_may_travel_anywhere_that_it_has_for_itself(changes: dict[str, str]) -> None:
    only(one(**changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": None}, "line 3: operations[0]: 'id' is missing"),
        ({"retries": "3"}, "line 13: operations[0].retries: unknown field; known are approved, attempts, credential"),
        ({"id": "Make"}, "line 3: operations[0].id: is made of a-z, 0-9 and '-'"),
        ({"id": "9"}, "line 3: operations[0].id: must be text, not a number"),
        ({"title": "''"}, "line 4: operations[0].title: must not be blank"),
        ({"title": "x" * 201}, "line 4: operations[0].title: has 201 bytes; at most 200 are allowed"),
        ({"approved": "yes"}, "line 5: operations[0].approved: must be true or false"),
        ({"upstream": "http://example.com"}, "line 6: operations[0].upstream: must begin with https://"),
        ({"upstream": "https://"}, "line 6: operations[0].upstream: must be a scheme, a host"),
        ({"upstream": "https://example.com:0"}, "line 6: operations[0].upstream: must be a scheme, a host"),
        ({"upstream": "https://example.com:99999"}, "line 6: operations[0].upstream: is not a URL"),
        ({"upstream": "https://u:p@example.com"}, "line 6: operations[0].upstream: must be a scheme, a host"),
        ({"upstream": "https://example.com?x"}, "line 6: operations[0].upstream: must be a scheme, a host"),
        ({"upstream": "https://example.com/../x"}, "line 6: operations[0].upstream: has a path with '..'"),
        ({"upstream": "https://example.com/%2e"}, "line 6: operations[0].upstream: has a path with '..'"),
        ({"upstream": '"https://example.com/{id}"'}, "line 6: operations[0].upstream: has a path with '..'"),
        ({"upstream": "https://10.0.0.1"}, "line 6: operations[0].upstream: its host is not a public address"),
        ({"upstream": "https://example.1"}, "line 6: operations[0].upstream: its host: it ends in a number"),
        ({"method": "post"}, "line 7: operations[0].method: must be one of GET, POST, PUT, PATCH, DELETE"),
        ({"method": "TRACE"}, "line 7: operations[0].method: must be one of"),
        ({"path": "make"}, "line 8: operations[0].path: must be a path"),
        ({"path": "/a/../b"}, "line 8: operations[0].path: must be a path"),
        ({"path": "/a//b"}, "line 8: operations[0].path: must be a path"),
        ({"path": "/a?b=c"}, "line 8: operations[0].path: must be a path"),
        ({"path": "/a%2fb"}, "line 8: operations[0].path: must be a path"),
        ({"path": "/{id}/{id}"}, "line 8: operations[0].path: names a field twice"),
        ({"path": "/{other}"}, "line 8: operations[0].path: {other} must be a required field of the input"),
        ({"query": "[other]"}, "line 13: operations[0].query: 'other' must be a field of the input"),
        ({"query": "[id, id]"}, "line 13: operations[0].query: names a field twice"),
        ({"query": "[id]", "path": "/{id}"}, "line 13: operations[0].query: 'id' must be a field of the input that is"),
        ({"input": "{type: array}"}, "line 9: operations[0].input: must be a schema with `type: object`"),
        ({"input": "[]"}, "line 9: operations[0].input: must be a mapping"),
        ({"input": "{type: object, type: object}"}, "line 9: operations[0].input.type: is given twice"),
        ({"input": "{type: object, properties: 5}"}, "line 9: operations[0].input: is not a JSON Schema"),
        (
            {"input": "{type: object, properties: {a: {$ref: 'https://example.com/s'}}}"},
            "line 9: operations[0].input: is not a JSON Schema",
        ),
        (
            {"input": "{type: object, $schema: 'http://json-schema.org/draft-07/schema#'}"},
            "line 9: operations[0].input: must be of the dialect",
        ),
        ({"input": "{type: object, $id: 'https://example.com/s'}"}, "line 9: operations[0].input: must not have an"),
        (
            {"input": "{type: object, properties: {a: {format: birthday}}}"},
            "line 9: operations[0].input: is not a JSON Schema: Unknown format",
        ),
        ({"method": "GET"}, "line 9: operations[0].input: GET has no body"),
        (
            {"method": "DELETE", "input": "{type: object, properties: {}}"},
            "line 9: operations[0].input: DELETE has no body",
        ),
        ({"idempotency": "{mode: always}"}, "line 10: operations[0].idempotency.mode: must be one of required"),
        ({"idempotency": "{mode: required}"}, "line 10: operations[0].idempotency: mode required needs a carrier"),
        (
            {"idempotency": "{mode: none, carrier: {in: header, name: K}}"},
            "line 10: operations[0].idempotency.carrier: mode none has nothing to carry",
        ),
        (
            {"idempotency": KEYED % ("cookie", "key")},
            "line 10: operations[0].idempotency.carrier.in: must be one of header, query, body, path",
        ),
        (
            {"idempotency": KEYED % ("header", "Host")},
            "line 10: operations[0].idempotency.carrier.name: this header is not the catalogue's to set",
        ),
        (
            {"idempotency": KEYED % ("header", "'a b'")},
            "line 10: operations[0].idempotency.carrier.name: is not the name of a header",
        ),
        ({"idempotency": KEYED % ("path", "key")}, "line 10: operations[0].idempotency: the path has no {key}"),
        ({"idempotency": KEYED % ("body", "id")}, "line 10: operations[0].idempotency: the input must not let a field"),
        (
            {"idempotency": KEYED % ("body", "key"), "input": "{type: object}"},
            "line 10: operations[0].idempotency: the input must not let a field 'key' through",
        ),
        (
            {"idempotency": KEYED % ("query", "id"), "query": "[id]"},
            "line 10: operations[0].idempotency: 'id' is a field of the input already",
        ),
        (
            {"idempotency": KEYED % ("query", "id")},
            "line 10: operations[0].idempotency: 'id' is a field of the input already",
        ),
        (
            {"idempotency": KEYED % ("body", "key"), "input": PATTERNED},
            "line 10: operations[0].idempotency: the input must not let a field 'key' through",
        ),
        *(
            (
                {"method": method, "path": "/{id}", "input": PATTERNED},
                f"line 9: operations[0].input: {method} has no body",
            )
            for method in ("GET", "DELETE")
        ),
        (
            {"idempotency": "{mode: key_supported, carrier: {in: path, name: key}}", "path": "/{key}"},
            "line 10: operations[0].idempotency: a key that may be left out would leave a hole in the path",
        ),
        (
            {"idempotency": "{mode: client_id, carrier: {in: header, name: id}}"},
            "line 10: operations[0].idempotency.carrier.in: an id of the input travels in path, query or body",
        ),
        (
            {"idempotency": "{mode: client_id, carrier: {in: query, name: id}}"},
            "line 10: operations[0].idempotency: 'id' does not travel in the query",
        ),
        (
            {"idempotency": "{mode: client_id, carrier: {in: body, name: key}}"},
            "line 10: operations[0].idempotency: 'key' must be a required field of the input",
        ),
        (
            {"idempotency": KEYED % ("header", "k"), "method": "GET", "path": "/{id}"},
            "line 10: operations[0].idempotency: GET changes nothing; its mode is natural",
        ),
        ({"success": "[]"}, "line 11: operations[0].success: must list statuses from 200 to 299"),
        ({"success": "[302]"}, "line 11: operations[0].success: must list statuses from 200 to 299"),
        *(
            (
                {"provesNoEffect": f"[{status}]"},
                f"line 13: operations[0].provesNoEffect: {status} is no proof that nothing happened",
            )
            for status in (199, 200, 204, 302, 408, 409, 425, 429, 500, 502, 503, 504, 599)
        ),
        ({"timeoutSeconds": "0"}, "line 12: operations[0].timeoutSeconds: must be from 1 to 60 seconds"),
        ({"timeoutSeconds": "61"}, "line 12: operations[0].timeoutSeconds: must be from 1 to 60 seconds"),
        ({"timeoutSeconds": "1.5"}, "line 12: operations[0].timeoutSeconds: must be a whole number"),
        ({"attempts": "6"}, "line 13: operations[0].attempts: must be from 1 to 5 in mode natural"),
        ({"attempts": "0"}, "line 13: operations[0].attempts: must be from 1 to 5 in mode natural"),
        (
            {"attempts": "2", "idempotency": "{mode: none}"},
            "line 13: operations[0].attempts: must be from 1 to 1 in mode none",
        ),
        ({"replayTtlSeconds": "59"}, "line 13: operations[0].replayTtlSeconds: must be from 60 to 31536000 seconds"),
        ({"redact": "[token]"}, "line 13: operations[0].redact[0]: must be a JSON pointer"),
        ({"redact": "['/a~2']"}, "line 13: operations[0].redact[0]: must be a JSON pointer"),
        (
            {"credential": "{profile: ../etc, header: Authorization}"},
            "line 13: operations[0].credential.profile: is made of a-z, 0-9 and '-'",
        ),
        (
            {"credential": "{profile: p, header: Content-Length}"},
            "line 13: operations[0].credential.header: this header is not the catalogue's to set",
        ),
        (
            {"credential": "{profile: p, header: Authorization, scheme: 'a b'}"},
            "line 13: operations[0].credential.scheme: is not an authentication scheme",
        ),
        (
            {"credential": "{profile: p, header: x-key}", "idempotency": KEYED % ("header", "X-Key")},
            "line 10: operations[0].idempotency: key and credential cannot be one header",
        ),
    ],
)
def test_what_is_wrong_is_said_with_line_and_field(changes: dict[str, str | None], message: str) -> None:
    assert refusal(one(**changes)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("version: 2\noperations: []", "line 1: version: only version 1 is known"),
        ("version: 1", "line 1: 'operations' is missing"),
        ("version: 1\noperations: {}", "line 2: operations: must be a list, not a mapping"),
        ("version: 1\noperations: []\nmore: 1", "line 3: more: unknown field"),
        (one() + one().partition("operations:\n")[2], "line 13: operations[1]: there is another operation 'make'"),
        ("version: 1\noperations: [!!python/name:os.system]", "line 2: tags like"),
        ("version: 1\n---\nversion: 1", "line 2: there is a second document"),
        (one(input="{type: object, maximum: 9007199254740993}"), "/operations/0/input/maximum: a whole number"),
        ("#" + "x" * 1024 * 1024, "the file has 1048577 bytes; at most 1048576 are allowed"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"{n}: &{n} [{','.join([f'*{chr(ord(n) - 1)}'] * 9)}]\n" for n in "bcdefghi"),
            "line 1: the file grows too large when its anchors are expanded",
        ),
    ],
)
def test_a_file_that_is_no_catalogue_is_told_why(text: str, message: str) -> None:
    assert refusal(text).startswith(message)


def test_two_hundred_operations_fit_and_no_more() -> None:
    item = one().partition("operations:\n")[2]
    whole = "version: 1\noperations:\n" + "".join(item.replace("id: make\n", f"id: make-{n}\n") for n in range(200))
    assert len(read(whole).operations) == 200
    assert "has 201 items; at most 200 are allowed" in refusal(whole + item)
