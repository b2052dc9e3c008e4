"""The page for people who write clients names what there is, and nothing that is not."""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from services.ingress.hooks import HOOK
from services.kernel import errors
from services.kernel.endpoint import Endpoint
from services.kernel.errors import AnvilError
from services.kernel.web.application import DESCRIPTION, path_pattern
from services.kernel.web.health import LIVE_PATHS, READY_PATHS
from services.kernel.web.problems import status
from services.kernel.web.serving import AnyEndpoint
from services.kernel.wire import api

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()

DECLARED = cast("Mapping[str, object]", vars(api)).values()
ENDPOINTS: list[AnyEndpoint] = [
    HOOK,
    DESCRIPTION,
    *(cast("AnyEndpoint", each) for each in DECLARED if isinstance(each, Endpoint)),
]
PATHS = [*(endpoint.path for endpoint in ENDPOINTS), *LIVE_PATHS, *READY_PATHS]
ANYWHERE: tuple[type[AnvilError], ...] = (
    AnvilError,
    errors.Invalid,
    errors.Unauthenticated,
    errors.Forbidden,
    errors.NotFound,
    errors.MethodNotAllowed,
    errors.RequestTimeout,
    errors.PayloadTooLarge,
    errors.UnsupportedMediaType,
    errors.Unavailable,
)
"""What a client may meet whatever it asks for."""


def possible() -> Mapping[str, set[int]]:
    """The codes that a client may meet, each with its statuses."""
    found: dict[str, set[int]] = defaultdict(set)
    for kind in (*ANYWHERE, *(error for endpoint in ENDPOINTS for error in endpoint.errors)):
        found[kind.code].add(status(kind))
    return found


def explained() -> Mapping[str, set[int]]:
    """The codes in the page's last table, each with its statuses."""
    rows = re.findall(r"^\| `([a-z_]+)` \| ([^|]+) \|", PAGE.partition("\n## Errors\n")[2], re.MULTILINE)
    return {code: {int(number) for number in re.findall(r"\b\d{3}\b", statuses)} for code, statuses in rows}


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_every_endpoint_is_named(endpoint: AnyEndpoint) -> None:
    assert f"`{endpoint.method} {endpoint.path}`" in PAGE


@pytest.mark.parametrize("path", [*LIVE_PATHS, *READY_PATHS])
def test_every_way_to_ask_for_health_is_named(path: str) -> None:
    assert f"`GET {path}`" in PAGE


@pytest.mark.parametrize("path", sorted(set(re.findall(r"/(?:api|health)/[^\s`'\"?,;]+", PAGE))))
def test_no_path_is_named_that_does_not_exist(path: str) -> None:
    assert any(path_pattern(template).fullmatch(path) for template in PATHS)


def test_every_code_that_a_client_can_meet_is_explained_and_no_other() -> None:
    assert explained() == possible()
