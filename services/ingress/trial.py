"""A webhook's trial: a sample delivery, signed with the stored secret and sent through the public URL.

It takes the same way as a Git host's, so it finds what stands in between: names, certificates, proxies, settings.
"""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from services.ingress.coordinator import Coordinator
from services.ingress.custody import Custody
from services.ingress.providers.port import GitHost, Key, Sample
from services.kernel.errors import InvalidSignature, NotFound, RepositoryMismatch
from services.kernel.ports import Clock, Ids
from services.kernel.wire import internal
from services.kernel.wire.deliveries import DeliveryQuery, HookAnswer, Outcome, Provider
from services.kernel.wire.webhooks import Verification, WebhookCheck, WebhookTest

_ANSWER_WITHIN: Final = timedelta(seconds=10)
_LONGEST_FINDING: Final = 300


class _Refusal(BaseModel):
    """A problem document, as far as it says which refusal it is."""

    model_config = ConfigDict(extra="ignore")

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    project: str
    provider: Provider
    sample: Sample
    delivery_id: str
    repository_url: str


class Trial:
    """`url` is where everybody reaches ingress, and `http` the way there."""

    def __init__(
        self, coordinator: Coordinator, custody: Custody, http: httpx2.AsyncClient, *, url: str, clock: Clock, ids: Ids
    ) -> None:
        self._coordinator = coordinator
        self._custody = custody
        self._http = http
        self._url = url
        self._clock = clock
        self._ids = ids

    async def run(self, project: str, provider: Provider, host: GitHost) -> WebhookTest:
        """Each check with its finding, up to the first that fails.

        Raises:
            NotFound: there is no such project or webhook.
        """
        checks: list[WebhookCheck] = []
        async for check in self._checks(project, provider, host):
            checks.append(check)
            if not check.passed:
                break
        return WebhookTest(passed=all(check.passed for check in checks), checks=tuple(checks))

    async def _checks(self, project: str, provider: Provider, host: GitHost) -> AsyncGenerator[WebhookCheck]:
        about = await self._coordinator.call(internal.GET_PROJECT, path={"project": project})
        path = {"project": project, "provider": provider.value}
        found = await self._coordinator.call(internal.TEST_MATERIAL, path=path)
        if found.version is None:
            raise NotFound(f"{project} has no {provider} webhook")
        yield _check("enabled", found.enabled, "deliveries are taken", "it is disabled: `anvil webhook put --enabled`")
        secret = self._custody.secret(found, provider)
        yield _usable(found, host, secret)
        delivery_id = f"anvil-test-{self._ids.token()}"
        key = Key(secret=secret or b"", config=found.config)
        sample = host.sample(key, repository_url=about.repository_url, delivery_id=delivery_id, now=self._clock.now())
        sent = _Sent(
            project=project,
            provider=provider,
            sample=sample,
            delivery_id=delivery_id,
            repository_url=about.repository_url,
        )
        async for check in self._met(sent):
            yield check

    async def _met(self, sent: _Sent) -> AsyncGenerator[WebhookCheck]:
        """What the sample met on its way."""
        url = f"{self._url}/api/public/hooks/{sent.provider}/{sent.project}"
        try:
            answer = await self._http.post(
                url,
                content=sent.sample.body,
                headers=dict(sent.sample.headers),
                timeout=_ANSWER_WITHIN.total_seconds(),
                follow_redirects=False,
            )
        except httpx2.RequestError as error:
            yield WebhookCheck(name="reachable", passed=False, finding=f"{url}: {type(error).__name__}")
            return
        code = _code(answer)
        ours = code is not None or answer.is_success
        yield _check(
            "reachable", ours, url, f"{url} answered {answer.status_code}, which is not Anvil's: {_start(answer)}"
        )
        unsigned = code == InvalidSignature.code
        yield _check(
            "signature", not unsigned, "accepted", "refused: another ingress, or another keyring, answers there"
        )
        mismatch = code == RepositoryMismatch.code
        yield _check(
            "repository", not mismatch, f"{sent.repository_url} matches", "the sample names another repository"
        )
        yield await self._recorded(sent, answer)

    async def _recorded(self, sent: _Sent, answer: httpx2.Response) -> WebhookCheck:
        wanted = sent.sample.outcome
        outcome = _outcome(answer)
        if outcome is not wanted:
            finding = f"expected {wanted}, found {outcome or answer.status_code}: {_start(answer)}"
            return WebhookCheck(name="recorded", passed=False, finding=finding)
        query = DeliveryQuery(provider=sent.provider, outcome=wanted)
        page = await self._coordinator.call(internal.LIST_DELIVERIES, path={"project": sent.project}, body=query)
        listed = any(delivery.delivery_id == sent.delivery_id for delivery in page.items)
        return _check("recorded", listed, f"as {wanted}", "the answer says so, but no such delivery is listed")


def _usable(found: Verification, host: GitHost, secret: bytes | None) -> WebhookCheck:
    if not secret:
        return WebhookCheck(name="secret", passed=False, finding="it does not open: rotate it")
    reason = host.unfit(found.config, secret=secret.decode(errors="replace"))
    return _check("secret", reason is None, "it opens", f"it cannot be used: {reason}")


def _check(name: str, passed: bool, good: str, bad: str) -> WebhookCheck:
    return WebhookCheck(name=name, passed=passed, finding=good if passed else bad)


def _code(answer: httpx2.Response) -> str | None:
    """The code of a problem of ours; None if it is none."""
    try:
        return _Refusal.model_validate_json(answer.content).code
    except ValidationError:
        return None


def _outcome(answer: httpx2.Response) -> Outcome | None:
    try:
        return HookAnswer.model_validate_json(answer.content).outcome
    except ValidationError:
        return None


def _start(answer: httpx2.Response) -> str:
    return json.dumps(answer.text[:_LONGEST_FINDING])
