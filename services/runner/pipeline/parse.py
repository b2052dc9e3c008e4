"""The fields of `.anvil.yml`, each with its rule (docs/pipeline.md)."""

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePosixPath

from services.kernel.ids import SLUG
from services.kernel.strict_yaml import Refused, Value, read
from services.runner.pipeline.model import (
    LIMITS,
    MAX_COMMAND,
    MAX_NAME,
    MAX_STEPS,
    MAX_TIMEOUT,
    ConfigInvalid,
    Deploy,
    Pipeline,
    Step,
)

_GIVEN = frozenset({"ANVIL", "CI", "HOME", "PATH", "TMPDIR"})
"""Variables that every command gets from Anvil; a file cannot set them."""


def parse(raw: bytes) -> Pipeline:
    """What the file asks for.

    Raises:
        ConfigInvalid: the first thing that is wrong, with its line and field.
    """
    try:
        return _pipeline(Value(read(raw, limits=LIMITS)))
    except Refused as refused:
        raise ConfigInvalid(refused.problem, line=refused.line, field=refused.field) from refused


def _pipeline(file: Value) -> Pipeline:
    top = file.fields(required=frozenset({"version", "run"}), optional=frozenset({"deploy"}))
    if top["version"].whole() != 1:
        raise top["version"].refused("only version 1 is known")
    run = top["run"].fields(
        required=frozenset({"steps"}), optional=frozenset({"workingDirectory", "timeoutSeconds", "env"})
    )
    return Pipeline(
        steps=_steps(run["steps"]),
        working_directory=_directory(run["workingDirectory"]) if "workingDirectory" in run else ".",
        timeout=_timeout(run),
        environment=_environment(run["env"]) if "env" in run else {},
        deploys=_deploys(top["deploy"]) if "deploy" in top else {},
    )


def _steps(steps: Value) -> tuple[Step, ...]:
    return tuple(_step(item) for item in steps.items(at_most=MAX_STEPS))


def _step(step: Value) -> Step:
    fields = step.fields(required=frozenset({"name", "run"}), optional=frozenset({"timeoutSeconds"}))
    name = fields["name"].filled(at_most=MAX_NAME)
    if not name.isprintable():
        raise fields["name"].refused("must be one line of printable characters")
    return Step(name=name, script=fields["run"].filled(at_most=MAX_COMMAND), timeout=_timeout(fields))


def _timeout(fields: Mapping[str, Value]) -> timedelta | None:
    return fields["timeoutSeconds"].seconds(at_most=MAX_TIMEOUT) if "timeoutSeconds" in fields else None


def _directory(field: Value) -> str:
    path = PurePosixPath(field.filled(at_most=MAX_COMMAND))
    if path.is_absolute() or ".." in path.parts:
        raise field.refused("must be a path inside the repository, without '..'")
    if path.parts[:1] == (".git",):
        raise field.refused("must not be inside .git")
    return str(path)


def _environment(field: Value) -> Mapping[str, str]:
    return {name: value.text() for name, value in field.entries(_objection_to_variable).items()}


def _objection_to_variable(name: str) -> str | None:
    if re.fullmatch(r"[A-Z_][A-Z0-9_]*", name, re.ASCII) is None:
        return "a variable's name is made of A-Z, 0-9 and _, and begins with no digit"
    if name in _GIVEN or name.startswith(("ANVIL_", "LD_")):
        return "this variable is not the file's to set"
    return None


def _deploys(field: Value) -> Mapping[str, Deploy]:
    return {key: _deploy(value) for key, value in field.entries(_objection_to_key).items()}


def _deploy(field: Value) -> Deploy:
    return Deploy(steps=_steps(field.fields(required=frozenset({"steps"}))["steps"]))


def _objection_to_key(key: str) -> str | None:
    return None if re.fullmatch(SLUG, key) else "a deploy key is made of a-z, 0-9 and '-', at most 63 characters"
