"""The OpenAPI document says what is served: written from the same declarations, and loadable by a tester's tools."""

import re

import pytest
import schemathesis
from starlette.requests import Request
from starlette.responses import Response

from services.kernel.endpoint import Endpoint
from services.kernel.web import Caller, openapi, raw
from services.kernel.web.application import path_pattern
from services.kernel.wire import api, internal
from services.kernel.wire.model import Wire
from tests.unit.kernel.service import NOTES, calling, service


async def unused(request: Request, caller: Caller) -> Response:
    raise AssertionError


def declared(module: object) -> list[Endpoint[Wire, Wire]]:
    return [each for each in vars(module).values() if isinstance(each, Endpoint)]


@pytest.mark.parametrize("module", [api, internal])
def test_every_declared_endpoint_is_described_and_the_document_is_valid(module: object) -> None:
    endpoints = declared(module)
    document = openapi([raw(endpoint, unused) for endpoint in endpoints], "Anvil")
    loaded = schemathesis.openapi.from_dict(document)
    loaded.validate()
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    assert described == {(endpoint.path, endpoint.method) for endpoint in endpoints}


def test_every_operation_has_a_name_of_its_own() -> None:
    served = [raw(endpoint, unused) for endpoint in declared(internal)]
    paths = openapi(served, "Anvil")["paths"]
    names = [operation["operationId"] for methods in paths.values() for operation in methods.values()]
    assert len(set(names)) == len(names)
    assert "post_v1_runs_run_claim" in names


def test_an_operation_says_what_it_takes_and_answers() -> None:
    write = openapi(NOTES, "Notes")["paths"]["/notes/{note}:write"]["post"]
    assert write["security"] == [{"identity": []}]
    assert write["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Note"}
    assert sorted(write["responses"]) == ["200", "400", "401", "403", "404", "408", "409", "413", "415", "500", "503"]
    assert write["parameters"] == [{"name": "note", "in": "path", "required": True, "schema": {"type": "string"}}]


def parameters(module: object, place: str) -> dict[tuple[str, str], bool]:
    """Of all declared endpoints, by operation and name: whether a request must have it."""
    paths = openapi([raw(endpoint, unused) for endpoint in declared(module)], "Anvil")["paths"]
    return {
        (operation["operationId"], each["name"]): each.get("required", False)
        for methods in paths.values()
        for operation in methods.values()
        for each in operation["parameters"]
        if each["in"] == place
    }


@pytest.mark.parametrize("module", [api, internal])
def test_every_segment_of_a_path_is_required(module: object) -> None:
    named = {(each.path, name) for each in declared(module) for name in re.findall(r"\{(.+?)\}", each.path)}
    found = parameters(module, "path")
    assert len(found) >= len(named) > 10
    assert all(found.values())


def test_a_version_is_required_of_a_verdict_and_a_key_where_its_mode_says_so() -> None:
    row = "post_api_private_ledger_collection_document"
    assert parameters(api, "header") == {
        (f"{row}_complete", "If-Match"): True,
        (f"{row}_release", "If-Match"): True,
        (f"{row}_note", "If-Match"): True,
        ("post_api_private_operations_operation_execute", "Idempotency-Key"): False,
        ("post_api_private_projects_project_runs", "Idempotency-Key"): False,
        ("post_api_private_runs_run_rerun", "Idempotency-Key"): False,
    }


def test_a_public_operation_needs_no_identity() -> None:
    read = openapi(NOTES, "Notes")["paths"]["/notes/{note}"]["get"]
    assert read["security"] == []
    assert "401" not in read["responses"]


def test_a_request_of_a_get_is_its_query_in_camel_case() -> None:
    parameters = openapi(NOTES, "Notes")["paths"]["/notes"]["get"]["parameters"]
    assert [(each["name"], each["in"], each["required"]) for each in parameters] == [
        ("pageSize", "query", False),
        ("pageToken", "query", False),
    ]


@pytest.mark.anyio
async def test_a_service_serves_its_own_document() -> None:
    async with calling(service()) as http:
        document = (await http.get("/openapi.json")).json()
    assert document["openapi"] == "3.1.0"
    assert {"/livez", "/readyz", "/health/live", "/health/ready", "/notes"} <= set(document["paths"])


@pytest.mark.parametrize(
    ("template", "path", "found"),
    [
        ("/runs/{run}", "/runs/run_1", {"run": "run_1"}),
        ("/runs/{run}", "/runs/run_1:claim", None),
        ("/runs/{run}:claim", "/runs/run_1:claim", {"run": "run_1"}),
        ("/runs/{run}:claim", "/runs/:claim", None),
        ("/runs/{run}:claim", "/runs/run_1:claim\n", None),
        ("/a.b/{x}", "/aXb/1", None),
        ("/p/{project}/d/{delivery}", "/p/a/d/b", {"project": "a", "delivery": "b"}),
        ("/p/{project}/d/{delivery}", "/p/a/b/d/c", None),
        ("/runs/{run}", "/runs/a\x00", None),
    ],
)
def test_a_template_matches_whole_segments_only(template: str, path: str, found: dict[str, str] | None) -> None:
    matched = path_pattern(template).fullmatch(path)
    assert (matched.groupdict() if matched else None) == found
