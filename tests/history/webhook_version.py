"""A webhook as its callers see it: one version at a time, whose secret alone verifies (K4, K5).

Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Name(StrEnum):
    """What is asked. `VERIFY`: whether a delivery that this version verified is taken; `LOOK`: what is there."""

    CREATE = "create"
    SWITCH = "switch"
    ROTATE = "rotate"
    DELETE = "delete"
    VERIFY = "verify"
    LOOK = "look"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`version` is the new one, or the one that verified; a rotation names the old one in `seen`."""

    version: str = ""
    seen: str = ""
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    version: str
    secret: str
    enabled: bool


class Said(StrEnum):
    YES = "yes"
    CHANGED = "changed"
    MISSING = "missing"


Answer = Webhook | Said | None
"""What is there for `LOOK`, none included; else whether it was done."""


class WebhookVersion:
    """Implements `register.Specification`; it begins with this webhook."""

    def __init__(self, begins: Webhook | None = None) -> None:
        self._begins = begins

    def start(self) -> Webhook | None:
        return self._begins

    def apply(self, state: Webhook | None, name: str, args: Change) -> Iterator[tuple[Webhook | None, Answer]]:
        match name:
            case Name.LOOK:
                yield state, state
            case Name.VERIFY:
                verifies = state is not None and state.enabled and state.version == args.version
                yield state, Said.YES if verifies else Said.CHANGED
            case Name.CREATE:
                yield _created(state, args)
            case Name.SWITCH:
                yield _switched(state, args)
            case Name.ROTATE:
                yield _rotated(state, args)
            case Name.DELETE:
                yield None, Said.YES
                if state is None:
                    # Of two who delete at once both may be told that it is gone.
                    yield None, Said.MISSING
            case _:
                raise ValueError(name)


def _created(state: Webhook | None, args: Change) -> tuple[Webhook | None, Said]:
    if state is None:
        return Webhook(version=args.version, secret=args.version, enabled=args.enabled), Said.YES
    return state, Said.YES if state.version == args.version else Said.CHANGED


def _switched(state: Webhook | None, args: Change) -> tuple[Webhook | None, Said]:
    if state is None:
        return None, Said.MISSING
    if state.enabled == args.enabled:
        return state, Said.YES
    return Webhook(version=args.version, secret=state.secret, enabled=args.enabled), Said.YES


def _rotated(state: Webhook | None, args: Change) -> tuple[Webhook | None, Said]:
    if state is None:
        return None, Said.MISSING
    if state.version == args.seen:
        return Webhook(version=args.version, secret=args.version, enabled=state.enabled), Said.YES
    return state, Said.YES if state.version == args.version else Said.CHANGED
