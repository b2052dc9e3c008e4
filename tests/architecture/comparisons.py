"""Comparisons that leak or let through: secrets by `==`, and patterns that are not matched in full."""

import ast
from collections.abc import Iterable, Iterator

from tests.architecture import names
from tests.architecture.tree import Source

SECRETS = frozenset({"digest", "hexdigest", "hmac", "mac", "secret", "sig", "signature", "token"})

MAY_COMPARE: dict[tuple[str, str], str] = {}
"""(path, operand) → why comparing it with `==` gives nothing away."""

PATTERNS = frozenset(f"re.{name}" for name in ("compile", "findall", "finditer", "fullmatch", "split", "sub", "subn"))
DIGITS_OF_EVERY_SCRIPT = ("\\d", "\\w")


def compared_secrets(sources: Iterable[Source]) -> Iterator[str]:
    """Each `==` or `!=` with an operand whose last word names a secret: it answers sooner the earlier it differs."""
    for source in sources:
        for node in ast.walk(source.module):
            match node:
                case ast.Compare(ops=ops) if any(isinstance(op, ast.Eq | ast.NotEq) for op in ops):
                    for operand in (node.left, *node.comparators):
                        if _names_a_secret(operand) and (source.path, ast.unparse(operand)) not in MAY_COMPARE:
                            yield f"{source.path}:{node.lineno}: {ast.unparse(operand)}"
                case _:
                    continue


def loose_matches(sources: Iterable[Source]) -> Iterator[str]:
    r"""Each `match` (`$` lets a trailing newline through), each `$`, and each `\d` or `\w` that is not ASCII's."""
    for source in sources:
        yield from (
            f"{source.path}:{line}: {name}"
            for line, name in names.used(source.module)
            if name.split(".")[-1] == "match"
        )
        for node in ast.walk(source.module):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))) if _is_loose(node):
                    yield f"{source.path}:{node.lineno}: {ast.unparse(node)}"
                case _:
                    continue


def _names_a_secret(operand: ast.expr) -> bool:
    match operand:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Call(func=ast.Attribute(attr=name)):
            return not name.isupper() and name.split("_")[-1] in SECRETS
        case _:
            return False


def _is_loose(call: ast.Call) -> bool:
    match call.args:
        case [ast.Constant(value=str(pattern)), *_]:
            return _ends_at_a_line(pattern) or (
                any(digits in pattern for digits in DIGITS_OF_EVERY_SCRIPT) and "re.ASCII" not in ast.unparse(call)
            )
        case _:
            return False


def _ends_at_a_line(pattern: str) -> bool:
    return pattern.endswith("$") and not pattern.endswith("\\$")
