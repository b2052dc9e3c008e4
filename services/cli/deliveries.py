"""`anvil delivery`."""

from typing import Annotated

import typer

from services.cli.arguments import Limit, checked, delivery_id, given
from services.cli.noun import Noun
from services.cli.output import Record, Rows, fields
from services.cli.session import Session
from services.kernel.wire import api
from services.kernel.wire.deliveries import DeliveryQuery, Outcome, Provider
from services.kernel.wire.model import Empty

noun = Noun("delivery", about="What providers sent, and what came of it.")

DeliveryArgument = Annotated[str, typer.Argument(metavar="DELIVERY", help="dlv_ and 22 letters and digits.")]
ProviderFilter = Annotated[Provider | None, typer.Option("--provider", help="Only from this provider.")]
OutcomeFilter = Annotated[Outcome | None, typer.Option("--outcome", help="Only those that came to this.")]
BranchFilter = Annotated[str | None, typer.Option("--branch", metavar="BRANCH", help="Only about this branch.")]
CommitFilter = Annotated[str | None, typer.Option("--commit", metavar="SHA", help="Only about this commit.")]
Since = Annotated[str | None, typer.Option(metavar="TIME", help="Received then (RFC 3339) or later.")]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Received before then (RFC 3339).")]


@noun.verb("list")
async def list_(
    session: Session,
    *,
    provider: ProviderFilter = None,
    outcome: OutcomeFilter = None,
    branch: BranchFilter = None,
    commit: CommitFilter = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 20,
) -> None:
    """A project's deliveries, newest first."""
    with checked():
        query = DeliveryQuery.model_validate(
            given(provider=provider, outcome=outcome, branch=branch, commit_sha=commit, since=since, until=until)
        )
    page = await session.api.pages(api.LIST_DELIVERIES, query, limit=limit, path={"project": session.project()})
    columns = ("id", "provider", "eventName", "branch", "commitSha", "outcome", "runId", "receivedAt", "duplicateCount")
    session.out.show(page, Rows([fields(delivery) for delivery in page.items], columns))


@noun.verb("show")
async def show(session: Session, delivery: DeliveryArgument) -> None:
    """One delivery."""
    path = {"project": session.project(), "delivery": delivery_id(delivery)}
    found = await session.api.call(api.GET_DELIVERY, path=path, body=Empty())
    session.out.show(found, Record(fields(found)))
