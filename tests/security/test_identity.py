"""Every caller at every group of endpoints, with every pair of headers: who gets in, and who turns the others away.

The services are the real applications. *Private* ones are behind Cloud Run's front end and believe what it has
verified; *public* ones are reached by anybody, and believe nothing but a signature.
"""

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from services.ingress.settings import IngressSettings
from services.kernel.adapters.clock import SystemClock
from services.kernel.client import Client
from services.kernel.errors import Unavailable
from services.kernel.settings import SettingsError, load
from services.kernel.wire.internal import SWEEP, VERIFICATION
from services.local.doubles.front_end import GCLOUD_AUDIENCE
from tests.security.deployment import CALLERS, CARRIER, INVOKERS, Deployment, Exposure, Place, Service, deployment
from tests.security.tokens import Issuer

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True)
class Group:
    """Endpoints with the same callers, one of them to try. `rightful` is who may call; `signed` if nothing but a
    signature counts."""

    service: Service
    method: str
    path: str
    rightful: str
    signed: bool = False

    @property
    def url(self) -> str:
        return self.service.audience + self.path


GROUPS = {
    "hooks": Group(
        Service.COORDINATOR, "GET", "/v1/projects/site/webhooks/github:verification", CALLERS["hooks"], signed=True
    ),
    "console": Group(Service.COORDINATOR, "GET", "/v1/projects", CALLERS["console"], signed=True),
    "runner": Group(Service.COORDINATOR, "POST", "/v1/runs/run_1:claim", CALLERS["runner"], signed=True),
    "tasks": Group(Service.COORDINATOR, "POST", "/tasks/reconcile", CALLERS["tasks"]),
    "scheduler": Group(Service.COORDINATOR, "POST", "/sweep", CALLERS["scheduler"]),
    "run": Group(Service.RUNNER, "POST", "/tasks/run", CALLERS["tasks"]),
    "people": Group(Service.CONSOLE, "GET", "/api/private/me", CALLERS["person"]),
}

WHO = """
              hooks   console  runner  tasks   scheduler  run     people
hooks         in      403      403     403     403        403     403
console       403     in       403     403     403        403     403
runner        403     403      in      403     403        403     403
tasks         403     403      403     in      403        in      403
scheduler     403     403      403     403     in         403     403
person        403     403      403     403     403        403     in
stranger      403     403      403     403     403        403     403
"""
"""Whom a group lets in, once it knows who it is."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What is in the two headers, and what becomes of it where only a signature counts at a private service, where its
    platform is believed too, and at a public service. `who`: the group's own callers get in, the others 403.

    In a header: nothing; the caller's `own` token; the token of a `carrier` who may invoke the service but do nothing
    there; the rightful caller's claims `forged` as Cloud Run passes them on, or `unsigned`; the caller's own token for
    `elsewhere`, or `expired`.
    """

    authorization: str
    serverless: str
    signed: str
    believing: str
    public: str
    why: str


PAIRS = [
    Pair("", "", "front 401", "front 401", "401", "no token, nobody"),
    Pair("own", "", "401", "who", "who", "its signature is removed: enough for timers and people, not for services"),
    Pair("", "own", "401", "who", "401", "as gcloud's proxy sends it; at a public service it is no evidence"),
    Pair("own", "own", "who", "who", "who", "our services' way: one for the front end, one for the service"),
    Pair("own", "carrier", "who", "who", "who", "a signature says who calls, whoever was let through with it"),
    Pair("carrier", "own", "403", "403", "403", "and so it does if the caller could have got in without it"),
    Pair("forged", "own", "401", "401", "401", "whoever is let through at all could have written it"),
    Pair("forged", "carrier", "401", "401", "401", "so could the carrier"),
    Pair("forged", "", "front 401", "front 401", "401", "it was not verified by anybody"),
    Pair("", "forged", "front 401", "front 401", "401", "neither there"),
    Pair("own", "forged", "front 401", "front 401", "who", "a public service does not look at the second header"),
    Pair("forged", "forged", "front 401", "front 401", "401", "two forgeries are no proof"),
    Pair("unsigned", "", "front 401", "front 401", "401", "no signature, no caller"),
    Pair("unsigned", "own", "401", "401", "401", "the front end does not look at it; the service does"),
    Pair("elsewhere", "", "front 401", "front 401", "401", "made out to another service, which may be who sends it"),
    Pair("elsewhere", "own", "401", "401", "401", "the same, behind a good one"),
    Pair("expired", "", "front 401", "front 401", "401", "too late"),
    Pair("expired", "own", "401", "401", "401", "the same, behind a good one"),
    Pair("own", "expired", "front 401", "front 401", "who", "a public service does not look at the second header"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with ThreadPoolExecutor(1) as executor:
        yield Place(issuer=Issuer(), folder=tmp_path_factory.mktemp("deployment"), executor=executor)


@pytest.fixture(scope="module")
async def private(place: Place) -> AsyncIterator[Deployment]:
    async with deployment(place, Exposure.PRIVATE) as deployed:
        yield deployed


@pytest.fixture(scope="module")
async def public(place: Place) -> AsyncIterator[Deployment]:
    async with deployment(place, Exposure.PUBLIC) as deployed:
        yield deployed


@pytest.fixture(scope="module")
async def unbelieved(place: Place) -> AsyncIterator[Deployment]:
    async with deployment(place, Exposure.UNBELIEVED) as deployed:
        yield deployed


def named(pair: Pair) -> str:
    return f"{pair.authorization or 'none'}+{pair.serverless or 'none'}"


def listed() -> dict[tuple[str, str], str]:
    """WHO by caller and group."""
    head, *rows = [line.split() for line in WHO.strip().splitlines()]
    return {(caller, group): cell for caller, *cells in rows for group, cell in zip(head, cells, strict=True)}


def header(kind: str, issuer: Issuer, caller: str, group: Group) -> str:
    audience = group.service.audience
    match kind:
        case "own":
            return issuer.token(caller, audience)
        case "carrier":
            return issuer.token(CARRIER, audience)
        case "forged":
            return issuer.forged(group.rightful, audience)
        case "unsigned":
            return issuer.unsigned(group.rightful, audience)
        case "elsewhere":
            return issuer.token(caller, "https://elsewhere.test")
        case _:
            return issuer.expired(caller, audience)


def headers(pair: Pair, issuer: Issuer, caller: str, group: Group) -> dict[str, str]:
    kinds = {"Authorization": pair.authorization, "X-Serverless-Authorization": pair.serverless}
    return {name: f"Bearer {header(kind, issuer, caller, group)}" for name, kind in kinds.items() if kind}


async def outcomes(deployed: Deployment, pair: Pair) -> dict[tuple[str, str], str]:
    """What came of the pair, by caller and group."""
    return {
        (caller, name): await deployed.outcome(group.method, group.url, headers(pair, deployed.issuer, email, group))
        for caller, email in CALLERS.items()
        for name, group in GROUPS.items()
    }


@pytest.mark.threat("A42")
@pytest.mark.parametrize("pair", PAIRS, ids=named)
async def test_a_private_service_lets_in_who_its_headers_prove(private: Deployment, pair: Pair) -> None:
    who = listed()

    def expected(caller: str, name: str) -> str:
        group = GROUPS[name]
        checked = pair.serverless or pair.authorization
        if checked == "own" and CALLERS[caller] not in INVOKERS[group.service]:
            return "front 403"
        told = pair.signed if group.signed else pair.believing
        return who[caller, name] if told == "who" else told

    found = await outcomes(private, pair)
    assert found == {(caller, group): expected(caller, group) for caller, group in found}, pair.why


@pytest.mark.threat("A42")
@pytest.mark.parametrize("pair", PAIRS, ids=named)
async def test_a_service_that_anybody_reaches_lets_in_who_a_signature_proves(public: Deployment, pair: Pair) -> None:
    who = listed()
    found = await outcomes(public, pair)
    assert found == {place: who[place] if pair.public == "who" else pair.public for place in found}, pair.why


@pytest.mark.threat("A42")
@pytest.mark.parametrize("name", GROUPS)
async def test_where_the_platform_is_not_believed_its_word_is_no_proof(unbelieved: Deployment, name: str) -> None:
    group = GROUPS[name]
    own = f"Bearer {unbelieved.issuer.token(group.rightful, group.service.audience)}"

    assert await unbelieved.outcome(group.method, group.url, {"Authorization": own}) == "401"
    assert await unbelieved.outcome(group.method, group.url, {"X-Serverless-Authorization": own}) == "401"
    both = {"Authorization": own, "X-Serverless-Authorization": own}
    assert await unbelieved.outcome(group.method, group.url, both) == "in"


@pytest.mark.threat("A42")
async def test_a_persons_token_from_gcloud_is_good_at_the_console_alone(
    private: Deployment, public: Deployment
) -> None:
    expected = dict.fromkeys(GROUPS, "401") | {"people": "in"}
    for deployed in (private, public):
        found: dict[str, str] = {}
        for name, group in GROUPS.items():
            token = f"Bearer {deployed.issuer.token(group.rightful, GCLOUD_AUDIENCE)}"
            found[name] = await deployed.outcome(group.method, group.url, {"Authorization": token})
        assert found == expected


@pytest.mark.threat("A43")
@pytest.mark.parametrize("name", ["tasks", "scheduler", "run"])
async def test_what_looks_like_cloud_tasks_or_the_scheduler_is_nobody_without_their_token(
    private: Deployment, public: Deployment, name: str
) -> None:
    group = GROUPS[name]
    disguise = {
        "User-Agent": "Google-Cloud-Tasks",
        "X-CloudTasks-QueueName": "runner",
        "X-CloudTasks-TaskName": "t",
        "X-CloudTasks-TaskRetryCount": "0",
        "X-CloudScheduler": "true",
        "X-CloudScheduler-JobName": "sweep",
    }
    carried = {"Authorization": f"Bearer {private.issuer.token(CARRIER, group.service.audience)}", **disguise}

    assert await private.outcome(group.method, group.url, disguise) == "front 401"
    assert await public.outcome(group.method, group.url, disguise) == "401"
    assert await private.outcome(group.method, group.url, carried) == "403"
    assert await public.outcome(group.method, group.url, carried) == "403"


async def test_our_own_client_gets_through_the_front_end_and_is_known_by_its_signature(private: Deployment) -> None:
    hooks = client(private, "hooks")
    found = await hooks.call(VERIFICATION, path={"project": "site", "provider": "github"})
    assert (found.project_id, found.enabled) == (None, False)


async def test_our_own_client_that_may_not_invoke_a_service_changes_nothing_there(private: Deployment) -> None:
    with pytest.raises(Unavailable):
        await client(private, "stranger").call(SWEEP)


def client(deployed: Deployment, caller: str) -> Client:
    audience = Service.COORDINATOR.audience
    minter = deployed.issuer.minter(CALLERS[caller])
    return Client(deployed.http, base_url=audience, audience=audience, minter=minter, clock=SystemClock())


@pytest.mark.threat("A42")
def test_nobody_is_believed_unsigned_where_anybody_may_call_the_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANVIL_PLATFORM_VERIFIES_CALLERS", "true")
    monkeypatch.setenv("ANVIL_ROLES_FILE", "roles.json")
    for name in ("ENVIRONMENT", "NAMESPACE", "AUDIENCE", "COORDINATOR_URL", "COORDINATOR_AUDIENCE", "PUBLIC_URL"):
        monkeypatch.setenv(f"ANVIL_{name}", "x")
    monkeypatch.setenv("ANVIL_WEBHOOK_KEYRING_FILE", "keyring.json")

    with pytest.raises(SettingsError, match="ANVIL_PLATFORM_VERIFIES_CALLERS"):
        load(IngressSettings)
    monkeypatch.setenv("ANVIL_PARTS", '["console"]')
    assert load(IngressSettings).platform_verifies_callers
