"""In which numbers a storm rages: few of everything, so that all meet at once, or those of production."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`cap`: how many runs of a project may wait; `beats`: running commands are heard of every 10 s of the clock."""

    name: str
    cap: int
    steps: int
    ids: str
    beats: bool


SMALL = Profile(name="small", cap=3, steps=60, ids="abcdefgh", beats=False)
REAL = Profile(name="real", cap=20, steps=150, ids="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", beats=True)
PROFILES = {profile.name: profile for profile in (SMALL, REAL)}
