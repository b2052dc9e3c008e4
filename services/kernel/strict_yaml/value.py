"""One value of a file with its place, read as what it must be or refused.

Pure.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import yaml

from services.kernel.strict_json import JsonValue
from services.kernel.strict_yaml.document import Refused, line_of

_KINDS = {
    "tag:yaml.org,2002:bool": "a boolean",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:map": "a mapping",
    "tag:yaml.org,2002:null": "empty",
    "tag:yaml.org,2002:seq": "a list",
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:timestamp": "a date",
}


_JSON_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_LONGEST_NUMBER = 17


@dataclass(frozen=True, slots=True)
class Value:
    """A node and the path that leads to it (`run.steps[0]`; empty for the whole file)."""

    node: yaml.Node
    path: str = ""

    def refused(self, problem: str) -> Refused:
        """A refusal that names this place."""
        return Refused(problem, line=line_of(self.node), field=self.path)

    def fields(self, *, required: frozenset[str], optional: frozenset[str] = frozenset()) -> Mapping[str, "Value"]:
        """The fields of a mapping; unknown ones, and the lack of a required one, are refused."""
        known = required | optional
        found = self.entries(lambda key: None if key in known else f"unknown field; known are {_listed(known)}")
        if missing := sorted(required - found.keys()):
            raise self.refused(f"{missing[0]!r} is missing")
        return found

    def entries(self, objection: Callable[[str], str | None]) -> Mapping[str, "Value"]:
        """A mapping with keys of its own; `objection` says what is wrong with a key, or None."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.refused(f"must be a mapping, not {self._kind()}")
        found: dict[str, Value] = {}
        for key_node, node in self.node.value:
            key = Value(key_node, self.path).text()
            child = Value(node, f"{self.path}.{key}" if self.path else key)
            if key in found:
                raise Value(key_node, child.path).refused("is given twice")
            if (problem := objection(key)) is not None:
                raise Value(key_node, child.path).refused(problem)
            found[key] = child
        return found

    def items(self, *, at_most: int) -> list["Value"]:
        """The items of a list, which may be empty."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.refused(f"must be a list, not {self._kind()}")
        if len(self.node.value) > at_most:
            raise self.refused(f"has {len(self.node.value)} items; at most {at_most} are allowed")
        return [Value(node, f"{self.path}[{index}]") for index, node in enumerate(self.node.value)]

    def text(self) -> str:
        """A string that can be sent anywhere."""
        if self.node.tag != "tag:yaml.org,2002:str":
            hint = f"; write it in quotes: {str(self.node.value)[:40]!r}" if self._plain() else ""
            raise self.refused(f"must be text, not {self._kind()}{hint}")
        text = str(self.node.value)
        if "\0" in text or re.search(r"[\ud800-\udfff]", text):
            raise self.refused("contains NUL, or half of a surrogate pair")
        return text

    def filled(self, *, at_most: int) -> str:
        """A string that is not blank and has at most this many bytes in UTF-8."""
        text = self.text()
        if not text.strip():
            raise self.refused("must not be blank")
        if (size := len(text.encode())) > at_most:
            raise self.refused(f"has {size} bytes; at most {at_most} are allowed")
        return text

    def whole(self) -> int:
        """A number written in plain decimal digits."""
        digits = str(self.node.value)
        if self.node.tag != "tag:yaml.org,2002:int" or re.fullmatch(r"0|[1-9][0-9]{0,8}", digits, re.ASCII) is None:
            raise self.refused("must be a whole number")
        return int(digits)

    def flag(self) -> bool:
        """`true` or `false`, and none of YAML's other words for them."""
        word = str(self.node.value)
        if self.node.tag != "tag:yaml.org,2002:bool" or word not in ("true", "false"):
            raise self.refused("must be true or false")
        return word == "true"

    def json(self) -> JsonValue:
        """Whatever is here, as JSON has it: what YAML alone would understand is refused, not guessed."""
        if isinstance(self.node, yaml.MappingNode):
            return {key: value.json() for key, value in self.entries(lambda key: None).items()}
        if isinstance(self.node, yaml.SequenceNode):
            return [item.json() for item in self.items(at_most=len(self.node.value))]
        word = str(self.node.value)
        match self.node.tag.removeprefix("tag:yaml.org,2002:"):
            case "null" if word in ("null", ""):
                return None
            case "bool":
                return self.flag()
            case "int" | "float" if re.fullmatch(_JSON_NUMBER, word, re.ASCII) and len(word) <= _LONGEST_NUMBER:
                return float(word) if "." in word else int(word)
            case "str" if self._quoted() or re.fullmatch(_JSON_NUMBER, word, re.ASCII) is None:
                return self.text()
            case _:
                raise self.refused(f"is not as JSON would have it; text goes in quotes: {word[:40]!r}")

    def seconds(self, *, at_most: timedelta) -> timedelta:
        """A duration of at least a second."""
        duration = timedelta(seconds=self.whole())
        if not timedelta(seconds=1) <= duration <= at_most:
            raise self.refused(f"must be from 1 to {at_most // timedelta(seconds=1)} seconds")
        return duration

    def _quoted(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.style is not None

    def _kind(self) -> str:
        return _KINDS.get(self.node.tag, "something else")

    def _plain(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag != "tag:yaml.org,2002:null"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
