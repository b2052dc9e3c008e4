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
    """What ingress is told besides. The console's own name is `service_email`."""

    parts: frozenset[Part] = Field(default=frozenset(Part), min_length=1)
    """What is served here."""
    coordinator_url: str
    """Where the coordinator is."""
    coordinator_audience: str
    """The coordinator's audience."""
    webhook_keyring_file: Path
    """The keyring that seals and opens webhook secrets: `{"current": "1", "keys": {"1": "<32 bytes in base64>"}}`."""
    roles_file: Path | None = None
    """Who may do what: a JSON list of `{principal, role, projects}`. Needed where the console is served."""
    public_url: str
    """Where clients reach this ingress; links in answers begin with it."""
    people_audiences: frozenset[str] = frozenset()
    """Further audiences of people's tokens, such as the client id of their command line."""
    body_limit_bytes: int = Field(default=5 * MIB, ge=1024, le=25 * MIB)
    """The largest webhook body that is taken."""
    allow_local_repositories: Annotated[bool, DevOnly()] = False
    """Whether a project's repository may be a `file://` or `http://` one."""
    hooks_email: str | None = None
    """What the hooks part calls itself in the tokens that it mints."""

    @model_validator(mode="after")
    def _roles_for_people(self) -> Self:
        if Part.CONSOLE in self.parts and self.roles_file is None:
            raise ValueError(f"{self.variable('roles_file')}: needed where the console is served")
        return self

    @model_validator(mode="after")
    def _nobody_gets_past_the_platform(self) -> Self:
        if self.platform_verifies_callers and Part.HOOKS in self.parts:
            raise ValueError(f"{self.variable('platform_verifies_callers')}: not where anybody may call the hooks")
        return self
