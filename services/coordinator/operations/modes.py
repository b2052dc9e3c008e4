"""What makes a repeat safe decides the rest: who needs a key, a confirmation, the ledger, and how often one may call.

Pure. This is the table of docs/operations.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from services.kernel.wire.operations import Mode


class Need(StrEnum):
    REQUIRED = "required"
    OPTIONAL = "optional"
    NEVER = "never"


class Carries(StrEnum):
    """What the other system is given to know a repeat by."""

    KEY = "key"
    ID = "id"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """`key`: may the caller give one, or must. `ledger`: is it needed, used where it is, or never.

    `repeats`: may the call be made again: always (`REQUIRED`), with a key (`OPTIONAL`), never.
    """

    carries: Carries
    key: Need
    ledger: Need
    repeats: Need
    confirmation: bool = False


RULES: Final[Mapping[Mode, Rules]] = {
    Mode.REQUIRED: Rules(carries=Carries.KEY, key=Need.REQUIRED, ledger=Need.REQUIRED, repeats=Need.REQUIRED),
    Mode.KEY_SUPPORTED: Rules(carries=Carries.KEY, key=Need.OPTIONAL, ledger=Need.OPTIONAL, repeats=Need.OPTIONAL),
    Mode.CLIENT_ID: Rules(carries=Carries.ID, key=Need.NEVER, ledger=Need.NEVER, repeats=Need.REQUIRED),
    Mode.NATURAL: Rules(carries=Carries.NOTHING, key=Need.NEVER, ledger=Need.NEVER, repeats=Need.REQUIRED),
    Mode.NONE: Rules(carries=Carries.NOTHING, key=Need.NEVER, ledger=Need.NEVER, repeats=Need.NEVER, confirmation=True),
}


def is_repeatable(mode: Mode, *, keyed: bool) -> bool:
    """Whether making the same call again does what one call would have done."""
    repeats = RULES[mode].repeats
    return repeats is Need.REQUIRED or (repeats is Need.OPTIONAL and keyed)
