"""`anvil auth`."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.exits import Usage
from services.cli.identity import AUDIENCE, Role, local_key, minter
from services.cli.noun import Noun
from services.cli.output import Line, Record, fields
from services.cli.session import Session
from services.kernel.ports import Minter
from services.kernel.wire import api
from services.kernel.wire.model import Empty, rfc3339

noun = Noun("auth", about="Who you are to Anvil.")

RoleOption = Annotated[Role | None, typer.Option(help="On the local stack: the person of this role; else the admin.")]
As = Annotated[str | None, typer.Option("--as", metavar="EMAIL", help="On the local stack: any person.")]
StateDir = Annotated[Path | None, typer.Option(metavar="DIR", help="The local stack's state directory.")]


@noun.verb("token")
async def token(session: Session, *, role: RoleOption = None, as_: As = None, state_dir: StateDir = None) -> None:
    """An identity token: of the local stack's own issuer, or what gcloud prints."""
    if role is not None and as_ is not None:
        raise Usage("expected one of --role and --as, not both")
    signed = await _minter(session, email=as_ or (role.email if role else None), state_dir=state_dir).mint(AUDIENCE)
    session.out.show({"token": signed.value, "expiresAt": rfc3339(signed.expires_at)}, Line(signed.value))


@noun.verb("whoami")
async def whoami(session: Session) -> None:
    """The person that Anvil sees, and the highest role it has."""
    me = await session.api.call(api.ME, body=Empty())
    session.out.show(me, Record(fields(me)))


def _minter(session: Session, *, email: str | None, state_dir: Path | None) -> Minter:
    """Who is asked for a token; whoever names a person or a state directory means the local stack."""
    if email is None and state_dir is None:
        return minter(session.world, session.settings)
    if state_dir is None and not session.settings.local:
        raise Usage(f"--role and --as: expected the local stack, not {session.settings.endpoint}; there gcloud decides")
    state = state_dir or session.world.places.state
    if (key := local_key(state)) is None:
        raise Usage(f"expected the state directory of a local stack: {state} has no key; `anvil up` makes one")
    return session.world.local_signer(key, email or Role.ADMIN.email)
