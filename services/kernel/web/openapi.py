"""The OpenAPI 3.1 document, from the same declarations that are served."""

from collections.abc import Sequence

from services.kernel.web.serving import Served


def openapi(served: Sequence[Served], title: str) -> dict[str, object]:
    return {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": {}}
