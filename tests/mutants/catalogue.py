"""The planted bugs: which patch plants what, which rule it breaks, and the test that tells of it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tests.trace.marks import Kind

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CATALOGUE = HERE / "catalogue.toml"
PATCHES = HERE / "patches"
SIMULATION = "tests/simulation/"


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    patch: str
    req: str | None = None
    inv: str | None = None
    threat: str | None = None
    plants: str = Field(min_length=1)
    test: str
    seeds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`test` is the node id that must fail, in the simulation with as many storms as `seeds`.

    The rule is told by the test's mark; by what it says where the simulation finds it, which looks for many.
    """

    name: str
    patch: Path
    kind: Kind
    rule: str
    plants: str
    test: str
    seeds: int

    @property
    def told_by_output(self) -> bool:
        return self.test.startswith(SIMULATION)


def parse(text: str) -> list[Mutant]:
    """
    Raises:
        ValueError: an entry lacks something, or does not name exactly one rule.
    """
    entries = TypeAdapter(dict[str, _Entry]).validate_python(tomllib.loads(text))
    return [_mutant(name, entry) for name, entry in entries.items()]


def read() -> list[Mutant]:
    return parse(CATALOGUE.read_text())


def _mutant(name: str, entry: _Entry) -> Mutant:
    named = {Kind.REQUIREMENT: entry.req, Kind.INVARIANT: entry.inv, Kind.THREAT: entry.threat}
    match [(kind, rule) for kind, rule in named.items() if rule is not None]:
        case [(kind, rule)]:
            return Mutant(
                name=name,
                patch=PATCHES / entry.patch,
                kind=kind,
                rule=rule,
                plants=entry.plants,
                test=entry.test,
                seeds=entry.seeds,
            )
        case _:
            raise ValueError(f"{name} must name one req, inv or threat")
