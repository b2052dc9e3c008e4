"""Text of others on a person's terminal: a log or a branch name may color, but not drive it."""

import re

# Colors (SGR), tabs and line ends stay; other control sequences go whole, and then what is left of C0 and C1, and what
# turns the direction of text around, so that it reads as something else.
_SEQUENCE = re.compile(
    r"(?P<color>\x1b\[[0-9;]*m)"
    r"|\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"
    r"|\x1b[ -/]*[0-~]?"
    r"|\r(?=\n)"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
    re.MULTILINE,
)


def harmless(text: str) -> str:
    """`text` with its colors, and without anything else that a terminal obeys."""
    return _SEQUENCE.sub(lambda found: found["color"] or "", text)


def plain(text: str) -> str:
    """`text` on one line, without anything that a terminal obeys."""
    return " ".join(_SEQUENCE.sub("", text).split())
