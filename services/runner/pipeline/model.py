"""A pipeline as the runner executes it, and its limits (docs/pipeline.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from services.kernel.strict_yaml import Limits, Refused

MAX_FILE = 64 * 1024
"""Bytes of the file, and of all its text once anchors are expanded."""

LIMITS = Limits(size=MAX_FILE, depth=16, nodes=4096)

MAX_STEPS = 20
MAX_NAME = 64
"""Bytes of a step's name in UTF-8."""

MAX_COMMAND = 4096
"""Bytes of a step's script in UTF-8."""

MAX_TIMEOUT = timedelta(minutes=29)
"""A task's request ends after 30 minutes, and the run with it."""


class ConfigInvalid(Refused):
    """The pipeline file cannot be used."""

    code = "config_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One script. Without a `timeout` only the run's own limit ends it."""

    name: str
    script: str
    timeout: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    """The steps that build for one deploy project."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """`working_directory` is relative to the repository and names nothing above it; no `timeout` means the default."""

    steps: tuple[Step, ...]
    working_directory: str = "."
    timeout: timedelta | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    deploys: Mapping[str, Deploy] = field(default_factory=dict[str, Deploy])
