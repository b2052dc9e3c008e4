"""Identifiers: `run_` and 22 base62 characters of 128 bits.

New ids carry a UUIDv7; derived ids the first 128 bits of a SHA-256 over length-prefixed parts, so that no two lists of
parts give one id. Lists sort by time, never by id.
"""

import hashlib
import re
from typing import NewType

from services.kernel.ports import Ids

ProjectId = NewType("ProjectId", str)
RunId = NewType("RunId", str)
DeliveryRowId = NewType("DeliveryRowId", str)
AuditId = NewType("AuditId", str)
Slug = NewType("Slug", str)
CommitSha = NewType("CommitSha", str)

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_WIDTH = 22

PROJECT_ID = r"prj_[0-9A-Za-z]{22}"
RUN_ID = r"run_[0-9A-Za-z]{22}"
DELIVERY_ID = r"dlv_[0-9A-Za-z]{22}"
AUDIT_ID = r"aud_[0-9A-Za-z]{22}"
SLUG = r"[a-z0-9][a-z0-9-]{0,62}"
COMMIT_SHA = r"[0-9a-f]{40}|[0-9a-f]{64}"


def is_commit_sha(text: str) -> bool:
    """Whether `text` is a full SHA-1 or SHA-256 commit name in lower-case hex (C19)."""
    return re.fullmatch(COMMIT_SHA, text) is not None


def encode(bits: int) -> str:
    """128 bits as 22 base62 characters, zero-padded on the left."""
    digits: list[str] = []
    for _ in range(_WIDTH):
        bits, digit = divmod(bits, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def fingerprint(*parts: str) -> str:
    """SHA-256 in hex over the parts, each led by its length in UTF-8 bytes, so that the encoding is injective."""
    return _digest(*parts).hex()


def _digest(*parts: str) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode()
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.digest()


def _derived(*parts: str) -> str:
    return encode(int.from_bytes(_digest(*parts)[:16], "big"))


def new_project_id(ids: Ids) -> ProjectId:
    return ProjectId(f"prj_{encode(ids.unique())}")


def new_run_id(ids: Ids) -> RunId:
    return RunId(f"run_{encode(ids.unique())}")


def new_audit_id(ids: Ids) -> AuditId:
    return AuditId(f"aud_{encode(ids.unique())}")


def keyed_run_id(project: ProjectId, idempotency_key: str) -> RunId:
    """The run that stands for one idempotency key of one project (C16)."""
    return RunId(f"run_{_derived('run', project, idempotency_key)}")


def delivery_row_id(project: ProjectId, provider: str, delivery_id: str) -> DeliveryRowId:
    """The dedupe row of one delivery: the same id under another project or provider is another row (R64)."""
    return DeliveryRowId(f"dlv_{_derived('delivery', project, provider, delivery_id)}")
