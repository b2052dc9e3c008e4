"""What ingress is told by its environment."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from services.kernel.settings import DevOnly, ServiceSettings

MIB: Final = 1024 * 1024


class Part(StrEnum):
    """What an ingress serves. Each part calls the coordinator as an identity of its own."""

    HOOKS = "hooks"
    CONSOLE = "console"


class IngressSettings(ServiceSettings):
    """`hooks_email` is what that part calls itself where it mints locally; the console is `service_email`.

    `people_audiences` are further audiences of people's tokens, such as the client id of their command line.
    """

    parts: frozenset[Part] = Field(default=frozenset(Part), min_length=1)
    coordinator_url: str
    coordinator_audience: str
    webhook_keyring_file: Path
    roles_file: Path | None = None
    public_url: str
    people_audiences: frozenset[str] = frozenset()
    body_limit_bytes: int = Field(default=5 * MIB, ge=1024, le=25 * MIB)
    allow_local_repositories: Annotated[bool, DevOnly()] = False
    hooks_email: str | None = None

    @model_validator(mode="after")
    def _roles_for_people(self) -> Self:
        if Part.CONSOLE in self.parts and self.roles_file is None:
            raise ValueError(f"{self.variable('roles_file')}: needed where the console is served")
        return self
