"""What a module's names stand for, by its imports: `dt.now()` after `from datetime import datetime as dt` is
`datetime.datetime.now`."""

import ast
from collections.abc import Iterator


def imported(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Each imported module or member with its line, in full (`from time import sleep` is `time.sleep`)."""
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(origin), names=names):
                yield from ((node.lineno, f"{origin}.{alias.name}") for alias in names)
            case _:
                continue


def used(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Each dotted name with its line, as far as the imports tell what it stands for."""
    known = _aliases(module)
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute | ast.Name):
            first, _, rest = _dotted(node).partition(".")
            full = known.get(first, first)
            yield node.lineno, f"{full}.{rest}" if rest else full


def within(name: str, parents: frozenset[str]) -> bool:
    """Whether a dotted name is one of `parents` or lies under one."""
    parts = name.split(".")
    return any(".".join(parts[:length]) in parents for length in range(1, len(parts) + 1))


def _aliases(module: ast.Module) -> dict[str, str]:
    known: dict[str, str] = {}
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names):
                known.update({alias.asname: alias.name for alias in names if alias.asname})
            case ast.ImportFrom(module=str(origin), names=names):
                known.update({alias.asname or alias.name: f"{origin}.{alias.name}" for alias in names})
            case _:
                continue
    return known


def _dotted(node: ast.expr) -> str:
    """`a.b.c`; whatever is not a name (a call, a subscript) reads `?`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{_dotted(value)}.{attr}"
        case _:
            return "?"
