"""Where Anvil is and which project is meant: flag > environment > ./.anvil.toml > user config > the local stack.

A `.anvil.toml` comes with whatever directory one stands in, so it may name another machine only if the user config
lists that one under `trusted`: otherwise a checkout could have the user's token sent to whom it likes.
"""

import ipaddress
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from services.cli.exits import Usage

DEFAULT_ENDPOINT = "http://127.0.0.1:8080"
PROJECT_FILE = ".anvil.toml"


class ProjectFile(BaseModel):
    """`./.anvil.toml`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    endpoint: str | None = None
    project: str | None = None


class UserFile(ProjectFile):
    """The user config. `trusted` lists the endpoints that a `.anvil.toml` may name."""

    trusted: list[str] = []


File = TypeVar("File", bound=ProjectFile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where settings come from: the working directory, the user config's file, the local stack's state directory."""

    working: Path
    user_config: Path
    state: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One place that may name an endpoint and a project; `{}` in `origin` stands for which of the two."""

    origin: str
    endpoint: str | None
    project: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`endpoint_from` says who named the endpoint."""

    endpoint: str
    endpoint_from: str
    project: str | None

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine."""
        return is_loopback(self.endpoint)


def places(environment: Mapping[str, str], *, home: Path, working: Path) -> Places:
    """By the XDG base directory rules: a relative path counts as unset."""

    def base(name: str, default: str) -> Path:
        given = Path(environment.get(name, ""))
        return (given if given.is_absolute() else home / default) / "anvil"

    return Places(
        working=working,
        user_config=base("XDG_CONFIG_HOME", ".config") / "config.toml",
        state=base("XDG_STATE_HOME", ".local/state"),
    )


def read(where: Places, *, flags: Source, environment: Mapping[str, str]) -> Settings:
    """The settings that hold here.

    Raises:
        Usage: a file or a value is not understood, or `.anvil.toml` names a machine that nobody trusts.
    """
    here = _load(where.working / PROJECT_FILE, ProjectFile)
    user = _load(where.user_config, UserFile)
    sources = (
        flags,
        Source(origin="ANVIL_{}", endpoint=environment.get("ANVIL_ENDPOINT"), project=environment.get("ANVIL_PROJECT")),
        Source(origin=f"./{PROJECT_FILE}", endpoint=here.endpoint, project=here.project),
        Source(origin=str(where.user_config), endpoint=user.endpoint, project=user.project),
        Source(origin="the local stack", endpoint=_local_endpoint(where.state)),
        Source(origin="default", endpoint=DEFAULT_ENDPOINT),
    )
    return _chosen(sources, trusted=frozenset(entry.rstrip("/") for entry in user.trusted))


def is_loopback(endpoint: str) -> bool:
    host = urlsplit(endpoint).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _chosen(sources: Sequence[Source], *, trusted: frozenset[str]) -> Settings:
    named = next(source for source in sources if source.endpoint)
    origin = named.origin.format("ENDPOINT")
    endpoint = _checked(named.endpoint or "", origin)
    if origin == f"./{PROJECT_FILE}" and not is_loopback(endpoint) and endpoint not in trusted:
        raise Usage(
            f"{origin}: expected an endpoint that the user config lists under `trusted`, not {endpoint}; "
            "--endpoint and ANVIL_ENDPOINT may name any"
        )
    project = next((source.project for source in sources if source.project), None)
    return Settings(endpoint=endpoint, endpoint_from=origin, project=project)


def _load(path: Path, kind: type[File]) -> File:
    try:
        return kind.model_validate(tomllib.loads(path.read_text()))
    except (FileNotFoundError, NotADirectoryError):
        return kind()
    except ValidationError as error:
        first = error.errors()[0]
        expected = ", ".join(kind.model_fields)
        raise Usage(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}; expected {expected}") from error
    except (OSError, ValueError) as error:
        raise Usage(f"{path}: expected a TOML file: {error}") from error


def _local_endpoint(state: Path) -> str | None:
    try:
        return (state / "endpoint").read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _checked(endpoint: str, origin: str) -> str:
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(mark in endpoint for mark in "?#@ "):
        raise Usage(f"{origin}: expected a URL such as https://anvil.example.com, not {endpoint!r}")
    if urlsplit(endpoint).scheme == "http" and not is_loopback(endpoint):
        raise Usage(f"{origin}: expected https, because a token would go to {endpoint} in the clear")
    return endpoint.rstrip("/")
