"""Secrets at rest: AES-256-GCM, bound to where they belong.

The associated data names the place (project, provider, secret id) and the key's version (K6), so that a ciphertext
moved to another row, or to another key, does not open. Old versions stay in the ring until nothing is sealed with them
(K10).
"""

import base64
import binascii
import json
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import BaseModel, ConfigDict, ValidationError

from services.kernel.errors import Permanent

_KEY_BYTES = 32
_NONCE_BYTES = 12


class Unsealable(Permanent):
    """A sealed secret does not open: another place, another key, or damage. Which one is not told."""


class KeyringInvalid(ValueError):
    """The keyring is not usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A ciphertext with what is needed to open it, but for the key and the place."""

    key_version: str
    nonce: bytes
    ciphertext: bytes = field(repr=False)


class _Document(BaseModel):
    """`{"current": "1", "keys": {"1": "<base64 of 32 bytes>"}}`"""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    current: str
    keys: dict[str, str]


def aad(project_id: str, provider: str, secret_id: str, key_version: str) -> bytes:
    """The associated data of a webhook's secret: each part led by its length, so that no two lists read alike."""
    parts = [part.encode() for part in (project_id, provider, secret_id, key_version)]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


class Keyring:
    """Keys by version; the current one seals, all of them open."""

    def __init__(self, keys: dict[str, bytes], *, current: str) -> None:
        self.current = current
        self._ciphers = {version: AESGCM(key) for version, key in keys.items()}

    @classmethod
    def load(cls, raw: bytes) -> "Keyring":
        """A ring from its JSON document.

        Raises:
            KeyringInvalid: malformed, a key of another size, or a current version that is not there.
        """
        try:
            document = _Document.model_validate_json(raw)
            keys = {version: base64.b64decode(text, validate=True) for version, text in document.keys.items()}
        except (ValidationError, binascii.Error) as error:
            raise KeyringInvalid("the keyring is not {current, keys: {version: base64}}") from error
        if document.current not in keys:
            raise KeyringInvalid(f"the keyring has no key of its current version {document.current!r}")
        if short := sorted(version for version, key in keys.items() if len(key) != _KEY_BYTES):
            raise KeyringInvalid(f"keys of {_KEY_BYTES} bytes are needed; not so: {', '.join(short)}")
        return cls(keys, current=document.current)

    def seal(self, plain: bytes, aad: bytes) -> Sealed:
        """Encrypt with the current key, under a nonce of its own."""
        # From the cipher's own generator: it must not repeat even where a test makes ids repeat.
        nonce = AESGCM.generate_key(128)[:_NONCE_BYTES]
        ciphertext = self._ciphers[self.current].encrypt(nonce, plain, aad)
        return Sealed(key_version=self.current, nonce=nonce, ciphertext=ciphertext)

    def open(self, sealed: Sealed, aad: bytes) -> bytes:
        """
        Raises:
            Unsealable: whatever the reason.
        """
        cipher = self._ciphers.get(sealed.key_version)
        if cipher is None:
            raise Unsealable
        try:
            return cipher.decrypt(sealed.nonce, sealed.ciphertext, aad)
        except (InvalidTag, ValueError) as error:
            raise Unsealable from error


def create_keyring() -> bytes:
    """A new ring's JSON document, with one key."""
    key = base64.b64encode(AESGCM.generate_key(_KEY_BYTES * 8)).decode()
    return json.dumps({"current": "1", "keys": {"1": key}}).encode()
