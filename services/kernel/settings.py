"""What every service is told by its environment, as `ANVIL_…` variables, read once by its main.

A missing, malformed or misplaced value stops the start with the variable's name.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as UnreadableSetting

PREFIX = "ANVIL_"
GOOGLE_ISSUER = "https://accounts.google.com"
GOOGLE_JWKS_URL = "https://www.googleapis.com/oauth2/v3/certs"

DO_NOT_RESTART = 4
"""The exit code that tells gunicorn that starting again is of no use."""


class SettingsError(Exception):
    """The environment does not make settings; one line that names each variable."""


@dataclass(frozen=True, slots=True)
class DevOnly:
    """Marks a setting: these values, or without any all but its default, are refused outside dev."""

    values: tuple[object, ...] = ()

    def refuses(self, value: object, default: object) -> bool:
        return value in self.values if self.values else value != default


class ServiceSettings(BaseSettings):
    """What all services are told. The texts under the fields are what `docs/configuration.md` says of them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="ignore", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    environment: str
    """The deployment's environment; `dev` alone may have dev-only settings."""
    namespace: str
    """The deployment's name, by which it keeps its data apart from others in one database."""
    audience: str
    """This service's own audience: what a token must be made out to, exactly."""
    issuer: Annotated[str, DevOnly()] = GOOGLE_ISSUER
    """Who issues the identity tokens."""
    jwks_url: Annotated[str, DevOnly()] = GOOGLE_JWKS_URL
    """Where the issuer's public keys are."""
    local_key_file: Annotated[Path | None, DevOnly()] = None
    """The private key (PEM) that mints this service's own tokens."""
    service_email: str | None = None
    """What this service calls itself in the tokens that it mints."""
    platform_verifies_callers: bool = False
    """Whether tokens whose signature Cloud Run verified and removed are believed; only where nobody gets past it."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """The least severity that is logged."""

    @model_validator(mode="after")
    def _nothing_of_dev_elsewhere(self) -> Self:
        if self.environment != "dev" and (refused := sorted(self._only_for_dev())):
            raise ValueError(f"{', '.join(refused)}: only in the dev environment")
        return self

    @classmethod
    def variable(cls, name: str) -> str:
        return f"{PREFIX}{name.upper()}"

    def _only_for_dev(self) -> list[str]:
        return [
            self.variable(name)
            for name, declared in type(self).model_fields.items()
            for mark in declared.metadata
            if isinstance(mark, DevOnly) and mark.refuses(getattr(self, name), declared.default)
        ]


Settings = TypeVar("Settings", bound=ServiceSettings)


def load(kind: type[Settings]) -> Settings:
    """The settings that the environment gives.

    Raises:
        SettingsError: it does not.
    """
    try:
        return kind.model_validate({})
    except UnreadableSetting as error:
        raise SettingsError(f"a variable is not the JSON that it should be: {error}") from error
    except ValidationError as error:
        found = [(each["loc"], each["msg"]) for each in error.errors(include_url=False, include_input=False)]
        raise SettingsError("; ".join(_said(kind, loc, message) for loc, message in found)) from error


def load_or_exit(kind: type[Settings]) -> Settings:
    """The settings, or the end of the process after one line on stderr."""
    with or_exit(kind):
        return load(kind)


@contextmanager
def or_exit(kind: type[ServiceSettings]) -> Generator[None]:
    """What turns out to be wrong with the settings while they are put to use ends the process after one line too."""
    try:
        yield
    except SettingsError as error:
        print(f"{kind.__name__}: {error}", file=sys.stderr)  # noqa: T201 (logging is configured from these settings)
        raise SystemExit(DO_NOT_RESTART) from error


def _said(kind: type[ServiceSettings], loc: tuple[int | str, ...], message: str) -> str:
    text = message.removeprefix("Value error, ")
    return f"{kind.variable(str(loc[0]))}: {text}" if loc else text
