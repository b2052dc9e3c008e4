"""From bytes to one YAML tree that is safe to walk: bounded in size, depth and expansion, with no tags.

Pure. Anchors are allowed as far as what they stand for stays within the limits; a tree that contains itself never does.
"""

from dataclasses import dataclass

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, DocumentStartEvent, ScalarEvent

from services.kernel.errors import Permanent


class Refused(Permanent):
    """The file cannot be used.

    `line` counts from 1 and `field` is a path like `run.steps[0].run`; where they are known the message has them.
    """

    def __init__(self, problem: str = "", *, line: int | None = None, field: str = "") -> None:
        place = [f"line {line}" if line is not None else "", field]
        super().__init__(": ".join([*filter(None, place), problem]))
        self.problem = problem
        self.line = line
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`size` is bytes of the file, and characters of all its text once anchors are expanded."""

    size: int
    depth: int
    nodes: int


def read(raw: bytes, *, limits: Limits) -> yaml.Node:
    """The only document in `raw`.

    Raises:
        Refused: not UTF-8, not YAML, empty, too large, or more than plain data.
    """
    if len(raw) > limits.size:
        raise Refused(f"the file has {len(raw)} bytes; at most {limits.size} are allowed")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise Refused("the file is not UTF-8", line=line) from error
    try:
        _inspect(text, deepest=limits.depth)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise _not_yaml(error) from error
    if root is None:
        raise Refused("the file is empty")
    _measure(root, limits)
    return root


def line_of(node: yaml.Node) -> int:
    """The line on which a node begins, counted from 1."""
    return node.start_mark.line + 1


def _inspect(text: str, *, deepest: int) -> None:
    """Refuse what must not even be composed: composing recurses as deep as the text nests."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, DocumentStartEvent):
            documents += 1
        elif isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if documents > 1:
            raise Refused("there is a second document; one file is one document", line=line)
        if depth > deepest:
            raise Refused(f"nested deeper than {deepest} levels", line=line)
        if isinstance(event, CollectionStartEvent | ScalarEvent) and event.tag is not None:
            raise Refused(f"tags like {event.tag[:40]!r} are not allowed", line=line)


def _measure(root: yaml.Node, limits: Limits) -> None:
    nodes = size = 0
    waiting = [root]
    while waiting:
        node = waiting.pop()
        nodes += 1
        if isinstance(node, yaml.ScalarNode):
            size += len(str(node.value))
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            waiting.extend(child for pair in node.value for child in pair)
        if nodes > limits.nodes or size > limits.size:
            raise Refused("the file grows too large when its anchors are expanded", line=line_of(root))


def _not_yaml(error: yaml.YAMLError) -> Refused:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return Refused(f"not YAML: {error.problem or error.context}", line=mark.line + 1 if mark else None)
    return Refused(f"not YAML: {str(error).splitlines()[0]}")
