"""Each provider's route, and each host that may send to it."""

from itertools import product

import pytest

from services.kernel.wire.deliveries import Provider
from tests.corpus.bodies import push, raw
from tests.corpus.platform import Platform
from tests.corpus.senders import FORM, Sender, Sent, form, send

pytestmark = pytest.mark.anyio

PAIRS = list(product(Provider, Sender))
PROOFS = {
    Sender.GITHUB: "X-Hub-Signature-256",
    Sender.GITLAB: "X-Gitlab-Token",
    Sender.GITEA: "X-Gitea-Signature",
    Sender.FORGEJO: "X-Forgejo-Signature",
    Sender.GOGS: "X-Gogs-Signature",
}


@pytest.mark.threat("A9")
@pytest.mark.parametrize(("route", "sender"), PAIRS)
async def test_a_host_is_listened_to_on_its_own_route_alone_though_all_routes_have_one_secret(
    anvil: Platform, route: Provider, sender: Sender
) -> None:
    slug = await anvil.project()
    answer = await anvil.deliver(slug, send(sender, raw(push(sender)), id_="d-1"), to=route)
    own = sender.route == route
    assert (answer.status_code, len(await anvil.deliveries(slug))) == ((202, 1) if own else (401, 0))


@pytest.mark.threat("A9")
@pytest.mark.parametrize(("impostor", "sender"), [pair for pair in product(Sender, Sender) if pair[0] != pair[1]])
async def test_one_hosts_proof_is_none_under_another_hosts_event(
    anvil: Platform, impostor: Sender, sender: Sender
) -> None:
    slug, body = await anvil.project(), raw(push(sender))
    claim, proof = send(sender, body, id_="d-1").headers, send(impostor, body, id_="d-1").headers
    mixed = {name: value for name, value in claim.items() if name not in PROOFS.values()}
    mixed |= {name: value for name, value in proof.items() if name in PROOFS.values()}
    answer = await anvil.deliver(slug, Sent(headers=mixed, body=body), to=sender.route)
    # Forgejo and Gitea sign for their forerunners too: the same digest of the same text, under their names.
    assert (answer.status_code == 202) is (PROOFS[sender] in proof)


@pytest.mark.req("R83")
@pytest.mark.parametrize("sender", [Sender.GITHUB, Sender.GITEA, Sender.FORGEJO, Sender.GOGS])
async def test_the_raw_request_is_verified_to_the_byte(anvil: Platform, sender: Sender) -> None:
    slug, sent = await anvil.project(), send(sender, raw(push(sender)), id_="d-1")
    rewritten = Sent(headers=sent.headers, body=sent.body.replace(b": ", b":"))
    answers = [await anvil.deliver(slug, each, to=sender.route) for each in (rewritten, sent)]
    assert [answer.status_code for answer in answers] == [401, 202]


@pytest.mark.parametrize("sender", [Sender.GITEA, Sender.FORGEJO, Sender.GOGS])
async def test_who_of_the_family_sent_it_is_kept(anvil: Platform, sender: Sender) -> None:
    slug = await anvil.project()
    await anvil.deliver(slug, send(sender, raw(push(sender)), id_="d-1"), to="gitea")
    [row] = await anvil.deliveries(slug)
    assert (row.provider, row.flavor) == (Provider.GITEA, sender.value)


@pytest.mark.parametrize("sender", list(Sender))
async def test_a_form_is_signed_by_each_hosts_own_rule(anvil: Platform, sender: Sender) -> None:
    slug, body = await anvil.project(), form(raw(push(sender)))
    answer = await anvil.deliver(slug, send(sender, body, id_="d-1", media_type=FORM), to=sender.route)
    assert answer.status_code == (415 if sender is Sender.GITLAB else 202)


@pytest.mark.parametrize("sender", [Sender.GITHUB, Sender.GITEA])
async def test_a_form_signed_by_the_other_hosts_rule_is_refused(anvil: Platform, sender: Sender) -> None:
    slug, text = await anvil.project(), raw(push(sender))
    signed = text if sender is Sender.GITHUB else form(text)
    swapped = send(sender, signed, id_="d-1").but(Content_Type=FORM)
    answer = await anvil.deliver(slug, Sent(headers=swapped.headers, body=form(text)), to=sender.route)
    assert answer.status_code == 401


@pytest.mark.parametrize("provider", list(Provider))
async def test_a_delivery_is_posted_and_never_asked_for(anvil: Platform, provider: Provider) -> None:
    slug = await anvil.project()
    answer = await anvil.http.get(f"{anvil.url}/api/public/hooks/{provider}/{slug}?payload=%7B%7D")
    assert (answer.status_code, answer.headers["allow"]) == (405, "OPTIONS, POST")
