"""What it takes to execute runs."""

from dataclasses import dataclass

from services.kernel.ports import Clock, Ids
from services.runner.coordinator import Coordinator
from services.runner.numbers import Numbers
from services.runner.sandbox import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """`protocols` are those by which repositories may be fetched."""

    coordinator: Coordinator
    sandbox: Sandbox
    clock: Clock
    ids: Ids
    numbers: Numbers
    protocols: frozenset[str]
