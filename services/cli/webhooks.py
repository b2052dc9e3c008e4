"""`anvil webhook`."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli import hosts
from services.cli.arguments import Yes, checked, given
from services.cli.exits import Exit, Usage
from services.cli.noun import Noun
from services.cli.output import Json, Line, Record, Rows, fields
from services.cli.session import Session
from services.kernel.errors import Ambiguous, NotFound
from services.kernel.wire import api
from services.kernel.wire.deliveries import Provider
from services.kernel.wire.model import Empty
from services.kernel.wire.webhooks import PutWebhook, RotateSecret, Webhook

noun = Noun("webhook", about="What lets a Git host start runs.")

ProviderArgument = Annotated[Provider, typer.Argument(metavar="PROVIDER", help="github, gitlab or gitea.")]
Enabled = Annotated[bool | None, typer.Option("--enabled/--disabled", help="Whether deliveries are taken.")]
SecretFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Holds the secret; else one is made.")]
SecretInput = Annotated[str | None, typer.Option("--secret", metavar="-", help="Read the secret from standard input.")]

InstanceUrl = Annotated[str | None, typer.Option(metavar="URL", help="Where the Git host is, for links.")]
SigningToken = Annotated[
    bool | None,
    typer.Option("--signing-token/--no-signing-token", help="Whether GitLab signs with the secret, or sends it along."),
]


@noun.verb("put")
async def put(
    session: Session,
    provider: ProviderArgument,
    *,
    enabled: Enabled = None,
    secret_file: SecretFile = None,
    secret: SecretInput = None,
    instance_url: InstanceUrl = None,
    signing_token: SigningToken = None,
) -> None:
    """Create a webhook, or enable or disable one; says what the provider needs to be told."""
    known = _secret(session, secret_file, secret)
    project = await session.api.call(api.GET_PROJECT, path={"project": session.project()}, body=Empty())
    creating = await _find(session, provider) is None
    config = given(instance_url=instance_url, signing_token=signing_token)
    with checked():
        body = PutWebhook.model_validate(
            given(enabled=True if creating and enabled is None else enabled, secret=known, config=config or None)
        )
    answer = await session.api.call(api.PUT_WEBHOOK, path=_path(session, provider), body=body)
    url = f"{session.settings.endpoint}/api/public/hooks/{provider}/{session.project()}"
    setup = hosts.setup(provider, answer.webhook.config, payload_url=url, repository_url=project.repository_url)
    made = answer.generated_secret
    told = {**setup, "secret": made or "the one you gave" if creating else "as before"}
    session.out.show(
        {**fields(answer), "setup": setup}, Record({"provider": provider, "enabled": answer.webhook.enabled, **told})
    )
    if made:
        session.out.note("the secret is shown this once")


@noun.verb("list")
async def list_(session: Session) -> None:
    """A project's webhooks; never a secret."""
    page = await session.api.call(api.LIST_WEBHOOKS, path={"project": session.project()}, body=Empty())
    rows = [
        {**fields(webhook), "newestDelivery": _newest(webhook), "refused": _refused(webhook)} for webhook in page.items
    ]
    session.out.show(page, Rows(rows, ("provider", "enabled", "rotatedAt", "newestDelivery", "refused", "version")))


@noun.verb("rotate-secret")
async def rotate_secret(session: Session, provider: ProviderArgument, *, yes: Yes = False) -> None:
    """Replace a webhook's secret by a new one, which is shown this once; the old one fails at once."""
    if (webhook := await _find(session, provider)) is None:
        raise NotFound(f"{session.project()} has no {provider} webhook")
    session.confirm(
        f"Replace the secret of {session.project()}'s {provider} webhook? The old one fails at once.", yes=yes
    )
    body = RotateSecret(confirm=True, version=webhook.version)
    try:
        # Sent once and never again: a second rotation would invalidate the secret that the first one showed (C16).
        answer = await session.api.call(api.ROTATE_SECRET, path=_path(session, provider), body=body)
    except Ambiguous as error:
        raise Ambiguous(f"{error.detail}; if rotatedAt in `anvil webhook list` is new, rotate again") from error
    session.out.show(answer, Line(answer.secret))
    session.out.note(f"give it to {provider} now: it is shown this once")


@noun.verb("test")
async def test(session: Session, provider: ProviderArgument) -> Exit:
    """Send a signed sample through the public URL, and say check by check what it met."""
    tested = await session.api.call(api.TEST_WEBHOOK, path=_path(session, provider), body=Empty())
    lines = [f"{'✓' if check.passed else '✗'} {check.name}: {check.finding}" for check in tested.checks]
    session.out.show(tested, *(Line(line) for line in lines))
    return Exit.OK if tested.passed else Exit.ERROR


@noun.verb("delete")
async def delete(session: Session, provider: ProviderArgument, *, yes: Yes = False) -> None:
    """Delete a webhook and its secret for good."""
    session.confirm(f"Delete {session.project()}'s {provider} webhook and its secret for good?", yes=yes)
    await session.api.call(api.DELETE_WEBHOOK, path=_path(session, provider), body=Empty())
    session.out.show({"deleted": provider}, Line(provider))


def _path(session: Session, provider: Provider) -> dict[str, str]:
    return {"project": session.project(), "provider": provider}


async def _find(session: Session, provider: Provider) -> Webhook | None:
    page = await session.api.call(api.LIST_WEBHOOKS, path={"project": session.project()}, body=Empty())
    return next((webhook for webhook in page.items if webhook.provider is provider), None)


def _newest(webhook: Webhook) -> Json:
    return next((f"{delivery.outcome} {delivery.received_at:%Y-%m-%d %H:%M}" for delivery in webhook.deliveries), None)


def _refused(webhook: Webhook) -> Json:
    """What was refused since the last rotation, the most frequent first."""
    counts = sorted(webhook.refused.items(), key=lambda item: -item[1])
    return ", ".join(f"{times} {reason}" for reason, times in counts) or None


def _secret(session: Session, file: Path | None, option: str | None) -> str | None:
    """The secret from a file or from standard input, without the line end that editors add."""
    if option not in (None, "-"):
        raise Usage("--secret: expected - (standard input): other users could read a secret on the command line")
    if file is not None and option is not None:
        raise Usage("expected one of --secret-file and --secret, not both")
    try:
        text = session.read() if option else file.read_text() if file else None
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"--secret-file: expected a readable text file: {error}") from error
    return None if text is None else text.removesuffix("\n").removesuffix("\r")
