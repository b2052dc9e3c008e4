"""Secrets for other systems, from mounted files: read anew for each execution, and never written or told."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.kernel.errors import UpstreamUnavailable

_LARGEST: Final = 16 * 1024
"""Bytes; more is no secret but a mistake, and half of it would be sent."""

_LINE = re.compile(rb"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
"""A space at an end is nothing that a header can carry."""


@dataclass(frozen=True, slots=True)
class Secret:
    """Text that goes into one header."""

    text: str = field(repr=False)


class Credentials:
    """`folder` has a file for each profile, with the secret in its only line; None where no profile is configured."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def secret(self, profile: str | None) -> Secret | None:
        """The secret of a profile; None for no profile.

        Raises:
            UpstreamUnavailable: there is none that can be used; by the profile's name, whatever the file has.
        """
        if profile is None:
            return None
        line = self._line(profile)
        if len(line) > _LARGEST or _LINE.fullmatch(line) is None:
            raise UpstreamUnavailable(
                f"credential {profile} is not one line of visible ASCII text, without spaces around it"
            )
        return Secret(line.decode("ascii"))

    def _line(self, profile: str) -> bytes:
        if self._folder is None:
            raise UpstreamUnavailable(f"credential {profile} is not there")
        try:
            with (self._folder / profile).open("rb") as file:
                raw = file.read(_LARGEST + 1)
        except OSError as error:
            raise UpstreamUnavailable(f"credential {profile} cannot be read") from error
        return raw.removesuffix(b"\n").removesuffix(b"\r")
