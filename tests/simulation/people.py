"""People at an ingress: each call is one try of one person, who knows what it was told and no more."""

from services.kernel.client import Client
from services.kernel.runs import Status
from services.kernel.wire import api
from services.kernel.wire.runs import StartRun
from services.kernel.wire.webhooks import PutWebhook, RotateSecret, Webhook
from tests.simulation.calls import ADA
from tests.simulation.custody import Place
from tests.simulation.gate import Gate
from tests.simulation.world import World


class Person:
    def __init__(self, world: World, gate: Gate) -> None:
        self._world = world
        self._client: Client = gate.person(ADA)

    async def put(self, place: Place, *, enabled: bool, secret: str | None = None) -> None:
        """Create or switch; a secret that was made is shown in this answer alone."""
        asked = PutWebhook(enabled=enabled) if secret is None else PutWebhook(enabled=enabled, secret=secret)
        answer = await self._client.call(api.PUT_WEBHOOK, path=_path(place), body=asked)
        self._learn(place, answer.generated_secret or secret)

    async def rotate(self, place: Place, *, version: str) -> None:
        self._world.testimony.rotated.add(version)
        answer = await self._client.call(
            api.ROTATE_SECRET, path=_path(place), body=RotateSecret(confirm=True, version=version)
        )
        self._learn(place, answer.secret)
        self._world.testimony.won[version] += 1
        if self._world.testimony.won[version] > 1:
            self._world.violations.append(f"K4: {place} was rotated from {version} more than once")

    async def delete(self, place: Place) -> None:
        await self._client.call(api.DELETE_WEBHOOK, path=_path(place))

    async def webhook(self, place: Place) -> Webhook | None:
        page = await self._client.call(api.LIST_WEBHOOKS, path={"project": place[0]})
        return next((each for each in page.items if each.provider == place[1]), None)

    async def start(self, slug: str, *, key: str | None = None) -> str:
        """A run of the branch's head."""
        started = await self._client.call(api.START_RUN, path={"project": slug}, body=StartRun(), headers=_keyed(key))
        return self._acknowledged(started.run_id)

    async def rerun(self, run_id: str, *, key: str | None = None) -> str:
        started = await self._client.call(api.RERUN, path={"run": run_id}, headers=_keyed(key))
        return self._acknowledged(started.run_id)

    async def cancel(self, run_id: str) -> Status:
        return (await self._client.call(api.CANCEL_RUN, path={"run": run_id})).run.status

    def _acknowledged(self, run_id: str) -> str:
        self._world.testimony.acked.add(run_id)
        return run_id

    def _learn(self, place: Place, secret: str | None) -> None:
        if secret is not None:
            self._world.testimony.shown.add(secret)
            if place in self._world.told:
                self._world.retired.append((place, self._world.told[place]))
            self._world.told[place] = secret


def _path(place: Place) -> dict[str, str]:
    return {"project": place[0], "provider": place[1]}


def _keyed(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}
