"""`anvil doctor`: what keeps the command from working here."""

import shutil
import stat
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from typing import TypeVar

from pydantic import ConfigDict

from services.cli.exits import Exit
from services.cli.identity import local_key
from services.cli.noun import Noun
from services.cli.output import Line
from services.cli.session import Session
from services.kernel.endpoint import Audience, Endpoint
from services.kernel.errors import AnvilError
from services.kernel.wire import api
from services.kernel.wire.model import Empty, Wire

API_VERSION = "1"


class Readiness(Wire):
    """The answer of a service that is ready."""

    ready: bool
    service: str


class Info(Wire):
    model_config = ConfigDict(extra="ignore")

    version: str


class Description(Wire):
    """The head of an OpenAPI document."""

    model_config = ConfigDict(extra="ignore")

    info: Info


READY = Endpoint(
    method="GET",
    path="/health/ready",
    summary="Whether the service is ready",
    request=Empty,
    response=Readiness,
    audience=Audience.PUBLIC,
)
DESCRIPTION = Endpoint(
    method="GET",
    path="/openapi.json",
    summary="What the service offers",
    request=Empty,
    response=Description,
    audience=Audience.PUBLIC,
)

Answer = TypeVar("Answer", bound=Wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """`finding` says what was found, and where it is not as it should be what to do."""

    name: str
    passed: bool
    finding: str


def add_to(root: Noun) -> None:
    root.verb("doctor")(doctor)


async def doctor(session: Session) -> Exit:
    """Check everything that the command needs, and say what to do about what is missing."""
    checks = [check async for check in _checks(session)]
    lines = [f"{'✓' if check.passed else '✗'} {check.name}: {check.finding}" for check in checks]
    session.out.show({"checks": [asdict(check) for check in checks]}, *(Line(line) for line in lines))
    return Exit.OK if all(check.passed for check in checks) else Exit.ERROR


async def _checks(session: Session) -> AsyncIterator[Check]:
    settings = session.settings
    yield Check(name="endpoint", passed=True, finding=f"{settings.endpoint} ({settings.endpoint_from})")
    if settings.local:
        yield _state(session)
    token = await _asked(session, "token and role", api.ME, lambda me: f"{me.principal} is {me.role}")
    yield token
    if token.passed:
        yield await _asked(session, "readiness", READY, lambda found: f"{found.service} is ready")
        yield _spoken(await _asked(session, "version", DESCRIPTION, lambda found: found.info.version))
    yield _program(session, "git", needed_for="checking out repositories on the local stack")
    if not settings.local and not session.world.environment.get("ANVIL_TOKEN"):
        yield _program(session, "gcloud", needed_for="getting a token; or set ANVIL_TOKEN")


async def _asked(
    session: Session, name: str, endpoint: Endpoint[Empty, Answer], finding: Callable[[Answer], str]
) -> Check:
    try:
        return Check(name=name, passed=True, finding=finding(await session.api.call(endpoint, body=Empty())))
    except AnvilError as error:
        return Check(name=name, passed=False, finding=error.detail)


def _spoken(found: Check) -> Check:
    """Whether this command speaks the version of the API that was found."""
    if not found.passed or found.finding == API_VERSION:
        return found
    finding = f"expected version {API_VERSION} of the API, not {found.finding}"
    return Check(name=found.name, passed=False, finding=finding)


def _state(session: Session) -> Check:
    """The local stack's directory: whoever can read it can be anybody in the stack."""
    state, name = session.world.places.state, "state directory"
    if local_key(state) is None:
        return Check(name=name, passed=False, finding=f"{state} has no key; `anvil up` makes one")
    if stat.S_IMODE(state.stat().st_mode) & 0o077:
        return Check(name=name, passed=False, finding=f"others can read {state}: chmod 700 it")
    return Check(name=name, passed=True, finding=str(state))


def _program(session: Session, program: str, *, needed_for: str) -> Check:
    found = shutil.which(program, path=session.world.environment.get("PATH"))
    return Check(name=program, passed=found is not None, finding=found or f"not found; needed for {needed_for}")
