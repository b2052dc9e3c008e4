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
        "http",
        "httpx2",
        "io",
        "logging",
        "os",
        "pathlib",
        "services.kernel.adapters",
        "services.kernel.client",
        "services.kernel.identity",
        "services.kernel.log",
        "services.kernel.settings",
        "services.kernel.web",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "starlette",
        "structlog",
        "subprocess",
        "sys",
        "tempfile",
        "urllib.request",
        "uvicorn",
    }
)
SERVICES = frozenset({"services.ingress", "services.coordinator", "services.runner", "services.cli", "services.local"})


def is_pure(source: Source) -> bool:
    """Whether the module calls itself pure."""
    return re.search(r"(\A|\n\n)Pure\.", ast.get_docstring(source.module) or "") is not None


def breaches(sources: Iterable[Source]) -> Iterator[str]:
    """Each import of I/O, or of a module of a service that is not pure itself, and each coroutine in a pure module."""
    known = {_dotted(source): source for source in sources}
    pure = frozenset(name for name, source in known.items() if is_pure(source))
    for name in sorted(pure):
        source = known[name]
        for line, imported in names.imported(source.module):
            if names.within(imported, IO) or (names.within(imported, SERVICES) and not names.within(imported, pure)):
                yield f"{source.path}:{line}: imports {imported}"
        for node in ast.walk(source.module):
            if isinstance(node, ast.AsyncFunctionDef):
                yield f"{source.path}:{node.lineno}: awaits"


def _dotted(source: Source) -> str:
    return source.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
