"""What a delivery says, in the one shape that all hosts share: the same rules for the same push (R55, R58).

A push is looked at in this order: without a commit it is a deletion; then a tag; then what is no branch (C25).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, cast

from pydantic import ValidationError

from services.ingress.providers import payload
from services.ingress.providers.port import Received
from services.kernel.errors import InvalidPayload
from services.kernel.wire.deliveries import Canonical, EventKind, Provider

BRANCH: Final = "refs/heads/"
_TAG: Final = "refs/tags/"
_MERGE_QUEUE: Final = "refs/heads/gh-readonly-queue/"
_USERINFO: Final = re.compile(r"(?<=^https://)[^/@]*@|(?<=^http://)[^/@]*@")
"""What may be a password in a URL that is to be shown (A59)."""
_SKIP_CI: Final = re.compile(r"\[(?:skip ci|ci skip)\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a delivery says about a ref. Only a push has a branch *and* a commit."""

    kind: EventKind
    ref: str | None = None
    branch: str | None = None
    commit_sha: str | None = None
    before_sha: str | None = None
    skip_ci: bool = False


OTHER: Final = Change(kind=EventKind.OTHER)
PING: Final = Change(kind=EventKind.PING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who sent a delivery, and what they call it."""

    provider: Provider
    flavor: str
    delivery_id: str
    event_name: str


def canonical(received: Received, origin: Origin, change: Change, *, urls: tuple[str, ...]) -> Canonical:
    """
    Raises:
        InvalidPayload: a field is longer than any host's, or empty.
    """
    try:
        return Canonical(
            provider=origin.provider,
            flavor=origin.flavor,
            delivery_id=origin.delivery_id,
            event_kind=change.kind,
            event_name=origin.event_name,
            repository_url=_USERINFO.sub("", urls[0]) if urls else None,
            repository_urls=urls,
            ref=change.ref,
            branch=change.branch,
            commit_sha=change.commit_sha,
            before_sha=change.before_sha,
            skip_ci=change.skip_ci,
            body_sha256=sha256(received.body).hexdigest(),
        )
    except ValidationError as error:
        raise InvalidPayload(f"a field of the {origin.event_name} event is too long") from error


def ref_alone(body: payload.Json) -> Change:
    """A branch or tag was made or deleted; the host tells of its commits, if any, in a push."""
    return Change(kind=EventKind.OTHER, ref=payload.text(body, "ref"))


def pushed(body: payload.Json, *, tag_commit: str | None) -> Change:
    """What a push did to its ref. `tag_commit` is the commit that a pushed tag stands for, if the host tells it.

    The name of a branch is kept verbatim but for the one prefix.

    Raises:
        InvalidPayload: it names no ref, or not what the ref is now.
    """
    ref = payload.text(body, "ref")
    if not ref or payload.text(body, "after") is None:
        raise InvalidPayload("a push names its ref and the commit after it")
    before, after = payload.commit(body, "before"), payload.commit(body, "after")
    branch = branch_of(ref)
    if after is None or body.get("deleted") is True:
        return Change(kind=EventKind.DELETION, ref=ref, branch=branch, before_sha=before)
    if ref.startswith(_TAG):
        return Change(kind=EventKind.TAG, ref=ref, commit_sha=tag_commit or after, before_sha=before)
    if branch is None or ref.startswith(_MERGE_QUEUE):
        return Change(kind=EventKind.OTHER, ref=ref, before_sha=before)
    skips = _SKIP_CI.search(_message(body, after)) is not None
    return Change(kind=EventKind.PUSH, ref=ref, branch=branch, commit_sha=after, before_sha=before, skip_ci=skips)


def branch_of(ref: str) -> str | None:
    """The branch that a full ref names; a short name names none, for it might be a tag's."""
    return (ref.removeprefix(BRANCH) or None) if ref.startswith(BRANCH) else None


def _message(body: payload.Json, commit: str) -> str:
    """The message of a pushed commit; nothing where the body does not tell it."""
    commits = body.get("commits")
    listed = cast("list[object]", commits) if isinstance(commits, list) else []
    for each in (body.get("head_commit"), *reversed(listed)):
        match each:
            case Mapping():
                found = cast("payload.Json", each)
                if found.get("id") == commit and isinstance(text := found.get("message"), str):
                    return text
            case _:
                continue
    return ""
