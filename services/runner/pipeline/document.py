"""From bytes to one YAML tree that is safe to walk: bounded in size, depth and expansion, with no tags.

Anchors are allowed as far as what they stand for stays within the limits; a tree that contains itself never does.
"""

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, DocumentStartEvent, ScalarEvent

from services.runner.pipeline.model import MAX_FILE, ConfigInvalid

_MAX_DEPTH = 16
_MAX_NODES = 4096


def read(raw: bytes) -> yaml.Node:
    """The only document in `raw`.

    Raises:
        ConfigInvalid: not UTF-8, not YAML, empty, too large, or more than plain data.
    """
    if len(raw) > MAX_FILE:
        raise ConfigInvalid(f"the file has {len(raw)} bytes; at most {MAX_FILE} are allowed")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ConfigInvalid("the file is not UTF-8", line=line) from error
    try:
        _inspect(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise _not_yaml(error) from error
    if root is None:
        raise ConfigInvalid("the file is empty")
    _measure(root)
    return root


def line_of(node: yaml.Node) -> int:
    """The line on which a node begins, counted from 1."""
    return node.start_mark.line + 1


def _inspect(text: str) -> None:
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
            raise ConfigInvalid("there is a second document; one file is one document", line=line)
        if depth > _MAX_DEPTH:
            raise ConfigInvalid(f"nested deeper than {_MAX_DEPTH} levels", line=line)
        if isinstance(event, CollectionStartEvent | ScalarEvent) and event.tag is not None:
            raise ConfigInvalid(f"tags like {event.tag[:40]!r} are not allowed", line=line)


def _measure(root: yaml.Node) -> None:
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
        if nodes > _MAX_NODES or size > MAX_FILE:
            raise ConfigInvalid("the file grows too large when its anchors are expanded", line=line_of(root))


def _not_yaml(error: yaml.YAMLError) -> ConfigInvalid:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return ConfigInvalid(f"not YAML: {error.problem or error.context}", line=mark.line + 1 if mark else None)
    return ConfigInvalid(f"not YAML: {str(error).splitlines()[0]}")
