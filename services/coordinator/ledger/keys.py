"""What a row is called, and what tells one request from another.

Pure. A row's name is made from where the call goes and from the caller's key, and never from the caller (R97): two
callers that use one key mean one effect, and the second is told so. Who calls is in the fingerprint (R98).
"""

from services.kernel import canonical_json, ids
from services.kernel.strict_json import JsonValue


def document_id(*, service: str, environment: str, upstream: str, profile: str | None, key: str) -> str:
    """64 hex characters, of which the key cannot be found again (R96); `profile` names the credential, if any."""
    return ids.fingerprint(service, environment, upstream, profile or "", key)


def request_fingerprint(*, operation: str, input: JsonValue, principal: str | None) -> str:
    """What a request asks for, and who, as far as that is verified (R98, R100): 64 hex characters.

    Raises:
        Invalid: the input has a number that JSON cannot hold exactly.
    """
    asked = (operation, canonical_json.encode(input).decode())
    return ids.fingerprint(*asked) if principal is None else ids.fingerprint(*asked, principal)


def verdict_id(*, reference: str, if_version: str, status: int, result_json: str) -> str:
    """The identity of an operator's verdict, by which it is found again when its answer was lost."""
    return ids.fingerprint("verdict", reference, if_version, str(status), result_json)


def reference(collection: str, document: str) -> str:
    """Where a row is, as Firestore has it, also where another store stands in (R133)."""
    return f"firestore/{collection}/{document}"
