"""The OpenAPI 3.1 document, from the same declarations that are served."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TypeAlias

from pydantic.json_schema import JsonSchemaMode, JsonSchemaValue, models_json_schema

from services.kernel import errors
from services.kernel.endpoint import Audience
from services.kernel.errors import AnvilError
from services.kernel.ids import RUN_ID, SLUG
from services.kernel.web import problems
from services.kernel.web.serving import AnyEndpoint, Served
from services.kernel.wire.model import Wire

Json: TypeAlias = JsonSchemaValue
Schemas: TypeAlias = Mapping[tuple[type[Wire], str], Json]

_REFERENCE = "#/components/schemas/{model}"
_PARAMETER = re.compile(r"\{([a-z_]+)\}")
_PATTERNS = {"project": f"^{SLUG}$", "run": f"^{RUN_ID}$"}
_FOR_PEOPLE = ("text/html", "text/css", "text/javascript")
_LACKS: Mapping[str, type[AnvilError]] = {"If-Match": errors.VersionRequired}
"""The error of a request that lacks the header. An idempotency key is needed in some modes of an operation only."""
_PROBLEM: Json = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "retryable", "traceId"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "retryable": {"type": "boolean"},
        "traceId": {"type": ["string", "null"]},
        "retryAfterSeconds": {"type": "integer"},
        "ledgerRef": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}


def openapi(served: Sequence[Served], title: str) -> Json:
    """Describes all that programs may call; pages for people are left out."""
    endpoints = [each.endpoint for each in served if each.endpoint.media_type not in _FOR_PEOPLE]
    schemas, definitions = _schemas(endpoints)
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, schemas, definitions)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1"},
        "paths": paths,
        "components": {
            "schemas": {**definitions, "Problem": _PROBLEM},
            "securitySchemes": {"identity": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _schemas(endpoints: Sequence[AnyEndpoint]) -> tuple[Schemas, Mapping[str, Json]]:
    """A reference to each model as it is read or written, and what the references stand for."""
    wanted: dict[tuple[type[Wire], JsonSchemaMode], None] = {}
    for endpoint in endpoints:
        wanted[endpoint.request, "validation"] = None
        wanted[endpoint.response, "serialization"] = None
    references, document = models_json_schema([*wanted], ref_template=_REFERENCE)
    schemas: dict[tuple[type[Wire], str], Json] = {
        (model, mode): schema for (model, mode), schema in references.items() if issubclass(model, Wire)
    }
    return schemas, document.get("$defs", {})


def _operation(endpoint: AnyEndpoint, schemas: Schemas, definitions: Mapping[str, Json]) -> Json:
    request = schemas[endpoint.request, "validation"]
    parameters = [*_path_parameters(endpoint), *_header_parameters(endpoint)]
    body: Json = {}
    if endpoint.method in ("GET", "DELETE"):
        parameters += _query_parameters(definitions[request["$ref"].rpartition("/")[2]])
    else:
        body = {"requestBody": {"content": {"application/json": {"schema": request}}}}
    return {
        "operationId": "_".join([endpoint.method.lower(), *re.findall(r"[A-Za-z0-9]+", endpoint.path)]),
        "summary": endpoint.summary,
        "security": [] if endpoint.audience is Audience.PUBLIC else [{"identity": []}],
        "parameters": parameters,
        "responses": {**_success(endpoint, schemas), **_failures(endpoint)},
        **body,
    }


def _path_parameters(endpoint: AnyEndpoint) -> list[Json]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", **({"pattern": _PATTERNS[name]} if name in _PATTERNS else {})},
        }
        for name in _PARAMETER.findall(endpoint.path)
    ]


def _header_parameters(endpoint: AnyEndpoint) -> list[Json]:
    return [
        {"name": name, "in": "header", "required": _LACKS.get(name) in endpoint.errors, "schema": {"type": "string"}}
        for name in endpoint.headers
    ]


def _query_parameters(model: Json) -> list[Json]:
    required = model.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in model.get("properties", {}).items()
    ]


def _success(endpoint: AnyEndpoint, schemas: Schemas) -> Json:
    schema = schemas[endpoint.response, "serialization"]
    if endpoint.media_type != "application/json":
        schema = {"type": "string"}
    content = {} if endpoint.status == HTTPStatus.NO_CONTENT else {"content": {endpoint.media_type: {"schema": schema}}}
    # What a PUT names may have to be created first (RFC 9110 §9.3.4).
    statuses = {endpoint.status, HTTPStatus.CREATED} if endpoint.method == "PUT" else {endpoint.status}
    return {str(int(each)): {"description": HTTPStatus(each).phrase, **content} for each in sorted(statuses)}


def _failures(endpoint: AnyEndpoint) -> Json:
    content = {problems.MEDIA_TYPE: {"schema": {"$ref": _REFERENCE.format(model="Problem")}}}
    codes: dict[int, set[str]] = {}
    for kind in (*_always(endpoint), *endpoint.errors):
        codes.setdefault(problems.status(kind), set()).add(kind.code)
    return {
        str(number): {"description": ", ".join(sorted(found)), "content": content}
        for number, found in sorted(codes.items())
    }


def _always(endpoint: AnyEndpoint) -> tuple[type[AnvilError], ...]:
    """What any endpoint of this kind may answer."""
    guarded = () if endpoint.audience is Audience.PUBLIC else (errors.Unauthenticated, errors.Forbidden)
    reads_body = endpoint.method not in ("GET", "DELETE")
    body = (errors.PayloadTooLarge, errors.UnsupportedMediaType, errors.RequestTimeout) if reads_body else ()
    found = (errors.NotFound,) if "{" in endpoint.path else ()
    return (errors.Invalid, errors.Unavailable, AnvilError, *guarded, *body, *found)
