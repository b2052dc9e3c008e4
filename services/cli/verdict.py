"""What an operator says about a row of the ledger, checked here before it is sent: a dry run goes no further."""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from services.cli.exits import Usage
from services.kernel import strict_json
from services.kernel.errors import AlreadySettled, AttemptRunning, Invalid, StaleVersion
from services.kernel.wire.ledger import COLLECTION, DOCUMENT, LedgerRow, RowStatus, SettledResponse
from services.kernel.wire.model import rfc3339
from services.kernel.wire.operations import RESULT_CEILING


@dataclass(frozen=True, slots=True)
class RowRef:
    """A row, by the name of its collection and its own."""

    collection: str
    document: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """`firestore/<collection>/<document>`, as errors name it; the first word may be left out.

        Raises:
            Usage: no row can be called that.
        """
        found = re.fullmatch(rf"(?:firestore/)?({COLLECTION})/({DOCUMENT})", text)
        if found is None:
            raise Usage(f"expected a ledger row (firestore/anvil_idempotency_…/…), not {text!r}")
        return cls(found[1], found[2])

    @property
    def path(self) -> dict[str, str]:
        return {"collection": self.collection, "document": self.document}


def version(text: str) -> str:
    """A version as `ledger show` prints it, or as the API's ETag has it.

    Raises:
        Usage: it is none.
    """
    bare = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
    if re.fullmatch(r"[\x21\x23-\x7e]{1,200}", bare) is None:
        raise Usage(f"--if-version: expected a row's version, not {text!r}")
    return bare


def evidence(text: str) -> str:
    """The SHA-256 of a file, in hex; or the one that is given as `sha256:<hex>`. Nobody is sent the file.

    Raises:
        Usage: there is no such file, or that is no SHA-256.
    """
    if text.startswith("sha256:"):
        digest = text.removeprefix("sha256:")
        if re.fullmatch(r"[0-9a-f]{64}", digest) is None:
            raise Usage("--evidence: expected 64 hex characters after sha256:")
        return digest
    try:
        return hashlib.sha256(Path(text).read_bytes()).hexdigest()
    except OSError as error:
        raise Usage(f"--evidence: expected a readable file, or sha256:<hex>: {error}") from error


def response(file: Path) -> SettledResponse:
    """The other system's answer, from a file with `{"status": 201, "body": …}`.

    Raises:
        Usage: it is not one, or larger than a row.
    """
    try:
        raw = file.read_bytes()
        strict_json.parse(raw)
        given = SettledResponse.model_validate_json(raw, strict=True, by_alias=True, by_name=False)
    except (OSError, Invalid) as error:
        raise Usage(f"--response-file: expected JSON: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise Usage(f'--response-file: expected {{"status": 201, "body": …}}: {where}: {first["msg"]}') from error
    if (size := body_size(given)) > RESULT_CEILING:
        raise Usage(f"--response-file: the body has {size} bytes as JSON; a row holds {RESULT_CEILING}")
    return given


def body_size(given: SettledResponse) -> int:
    """Bytes of the body as JSON in UTF-8."""
    return len(json.dumps(given.body, ensure_ascii=False, separators=(",", ":")).encode())


def check(row: LedgerRow, *, if_version: str, now: datetime) -> None:
    """Refuse what the ledger would refuse, as the row is now.

    Raises:
        StaleVersion: the row is not as it was looked at.
        AlreadySettled: it is completed.
        AttemptRunning: a call may still be running.
    """
    if row.version != if_version:
        said = f"the row is {row.status} at version {row.version}, not at {if_version}; nothing was changed"
        raise StaleVersion(said, ledger_ref=row.ledger_ref)
    if row.status is RowStatus.COMPLETED:
        raise AlreadySettled(ledger_ref=row.ledger_ref)
    if now <= row.max_until:
        said = f"a call may be running until {rfc3339(row.max_until)}; nothing is settled before"
        raise AttemptRunning(said, ledger_ref=row.ledger_ref)
