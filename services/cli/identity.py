"""Who the caller is: `ANVIL_TOKEN`, else the local stack's key for a loopback endpoint, else `gcloud`."""

import re
from enum import StrEnum
from pathlib import Path

from services.cli.exits import Usage
from services.cli.gcloud import GcloudMinter, token_of
from services.cli.settings import Settings
from services.cli.world import World
from services.kernel.ports import IdentityToken, Minter

AUDIENCE = "anvil-ingress"
KEY_FILE = "issuer.pem"


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def email(self) -> str:
        """The person of this role in the local stack."""
        return f"{self}@anvil.local"


class GivenToken:
    """A token that somebody else got; it does not last longer for being asked for again."""

    def __init__(self, token: IdentityToken) -> None:
        self._token = token

    async def mint(self, audience: str) -> IdentityToken:
        return self._token


def minter(world: World, settings: Settings) -> Minter:
    """Raises:
    Usage: `ANVIL_TOKEN` is not a token.
    """
    if given := world.environment.get("ANVIL_TOKEN", ""):
        if not re.fullmatch(r"[\x21-\x7e]+", given):
            raise Usage("ANVIL_TOKEN: expected a token: printable characters without spaces")
        return GivenToken(token_of(given, now=world.clock.now()))
    if settings.local and (key := local_key(world.places.state)) is not None:
        return world.local_signer(key, Role.ADMIN.email)
    otherwise = f"no token: set ANVIL_TOKEN{', or start `anvil up`' if settings.local else ''}"
    return GcloudMinter(environment=world.environment, clock=world.clock, otherwise=otherwise)


def local_key(state: Path) -> Path | None:
    """The key that signs for the local stack of a state directory, if it has one."""
    key = state / KEY_FILE
    return key if key.is_file() else None
