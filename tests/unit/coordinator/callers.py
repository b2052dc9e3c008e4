"""Who calls the coordinator, and that it is they."""

from pathlib import Path

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from services.kernel.adapters.local_minter import LocalMinter, jwks
from services.kernel.client import Client
from services.kernel.ports import Clock

ISSUER = "https://anvil.local"
AUDIENCE = "anvil-coordinator"

HOOKS = "hooks@anvil.local"
CONSOLE = "console@anvil.local"
RUNNER = "runner@anvil.local"
TASKS = "tasks@anvil.local"
SCHEDULER = "scheduler@anvil.local"
STRANGER = "stranger@anvil.local"


class KeyFile:
    """An issuer's key pair in a file, and its public half as verifiers know it. Implements `identity.Keys`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = {each.key_id: each.key for each in jwt.PyJWKSet.from_dict(jwks(path)).keys}

    async def key(self, kid: str) -> RSAPublicKey | None:
        return self._known.get(kid)


def caller(http: httpx2.AsyncClient, email: str, *, keys: KeyFile, clock: Clock) -> Client:
    minter = LocalMinter(keys.path, email=email, issuer=ISSUER, clock=clock)
    return Client(http, base_url="http://coordinator", audience=AUDIENCE, minter=minter, clock=clock)
