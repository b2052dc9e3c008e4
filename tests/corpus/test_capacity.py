"""A full queue, whoever sends."""

import pytest

from tests.corpus.bodies import push, raw
from tests.corpus.platform import Platform
from tests.corpus.senders import Sender, send

pytestmark = pytest.mark.anyio


@pytest.mark.req("R54")
@pytest.mark.req("C1")
@pytest.mark.parametrize("sender", list(Sender))
async def test_a_full_queue_is_answered_alike_to_every_host_and_the_same_delivery_is_taken_later(
    anvil: Platform, sender: Sender
) -> None:
    slug, body = await anvil.project(), raw(push(sender))
    runs: list[str] = []
    for number in range(20):
        answer = await anvil.deliver(slug, send(sender, body, id_=f"d-{number}"), to=sender.route)
        runs.append(answer.json()["runId"])
    late = send(sender, body, id_="late")
    refused = [await anvil.deliver(slug, late, to=sender.route) for _ in range(2)]
    assert [answer.json()["code"] for answer in refused] == ["project_queue_full"] * 2
    assert {(answer.status_code, answer.headers["retry-after"]) for answer in refused} == {(503, "60")}
    await anvil.cancel(runs[0])
    taken = await anvil.deliver(slug, late, to=sender.route)
    again = await anvil.deliver(slug, late, to=sender.route)
    assert (taken.status_code, again.status_code, again.json()["runId"]) == (202, 200, taken.json()["runId"])
    assert len(await anvil.deliveries(slug)) == 21
