"""In which numbers a storm rages: few of everything, so that all meet at once, or those of production."""

from dataclasses import dataclass, replace
from string import ascii_letters


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`cap`: how many runs of a project may wait; `beats`: running commands are heard of every 10 s of the clock;
    `crowd`: how many runs somebody may ask for at a time.
    """

    name: str
    cap: int
    steps: int
    ids: str
    beats: bool
    crowd: int = 1


SMALL = Profile(name="small", cap=3, steps=60, ids="abcde", beats=False)
REAL = Profile(name="real", cap=20, steps=120, ids=ascii_letters, beats=True, crowd=22)
LEDGER = replace(SMALL, name="ledger", steps=50, ids="ab")
"""Around the ledger alone."""

PROFILES = {profile.name: profile for profile in (SMALL, REAL, LEDGER)}
