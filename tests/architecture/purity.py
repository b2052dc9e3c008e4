"""Decisions are pure. A module whose docstring has a paragraph that begins with `Pure.` says so, and is held to it."""

import ast
import re
from collections.abc import Iterable, Iterator

from tests.architecture import names
from tests.architecture.tree import Source

IO = frozenset(
    {
        "anyio",
        "asyncio",
        "google",
        "gunicorn",
        "http.client",
        "httpx2",
        "logging",
        "os",
        "pathlib.Path",
        "pathlib.PosixPath",
        "services.kernel.adapters",
        "services.kernel.web",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "starlette.applications",
        "starlette.requests",
        "starlette.responses",
        "starlette.routing",
        "structlog",
        "subprocess",
        "sys",
        "tempfile",
        "urllib.request",
        "uvicorn",
    }
)


def is_pure(source: Source) -> bool:
    """Whether the module calls itself pure."""
    return re.search(r"(\A|\n\n)Pure\.", ast.get_docstring(source.module) or "") is not None


def breaches(sources: Iterable[Source]) -> Iterator[str]:
    """Each import or use of I/O, and each coroutine, in a module that calls itself pure."""
    for source in filter(is_pure, sources):
        for line, name in sorted({*names.imported(source.module), *names.used(source.module)}):
            if names.within(name, IO):
                yield f"{source.path}:{line}: {name}"
        for node in ast.walk(source.module):
            if isinstance(node, ast.AsyncFunctionDef):
                yield f"{source.path}:{node.lineno}: awaits"
