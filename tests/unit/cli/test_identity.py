"""Who the command is, and to whom it shows that."""

import json

import jwt
import pytest

from tests.unit.cli.conftest import Anvil
from tests.unit.cli.ingress import Ingress

pytestmark = pytest.mark.anyio


def claims(token: str) -> dict[str, object]:
    decoded: dict[str, object] = jwt.decode(token, options={"verify_signature": False})
    return decoded


async def test_beside_a_local_stack_one_is_its_admin(anvil: Anvil) -> None:
    result = await anvil("auth", "whoami", "--format", "json")
    assert json.loads(result.out) == {"data": {"principal": "admin@anvil.local", "role": "admin"}}


@pytest.mark.parametrize(
    ("arguments", "email"),
    [
        ((), "admin@anvil.local"),
        (("--role", "viewer"), "viewer@anvil.local"),
        (("--as", "ann@example.com"), "ann@example.com"),
    ],
)
async def test_a_token_of_the_local_stack_is_for_whoever_is_named(
    anvil: Anvil, arguments: tuple[str, ...], email: str
) -> None:
    found = claims((await anvil("auth", "token", *arguments)).out.strip())
    assert (found["email"], found["aud"], found["iss"]) == (email, "anvil-ingress", "https://anvil.local")


async def test_a_token_that_was_given_is_used_and_its_role_is_all_it_has(anvil: Anvil) -> None:
    anvil.environment["ANVIL_TOKEN"] = (await anvil("auth", "token", "--role", "viewer")).out.strip()
    assert (await anvil("queue", "show")).code == 0
    result = await anvil("run", "start")
    assert (result.code, result.err) == (4, "anvil: viewer@anvil.local may only look\n")


async def test_a_token_that_is_none_is_not_let_in(anvil: Anvil) -> None:
    anvil.environment["ANVIL_TOKEN"] = "nonsense"
    assert (await anvil("queue", "show")).code == 4


async def test_another_state_directory_has_another_key(anvil: Anvil) -> None:
    elsewhere = anvil.home / "elsewhere"
    anvil.state.rename(elsewhere)
    result = await anvil("auth", "token", "--state-dir", str(elsewhere), "--endpoint", "https://anvil.example.com")
    assert claims(result.out.strip())["email"] == "admin@anvil.local"


async def test_a_key_that_is_none_is_named(stranger: Anvil) -> None:
    stranger.state.mkdir(parents=True)
    (stranger.state / "issuer.pem").write_text("nonsense")
    result = await stranger("auth", "token")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert result.err.startswith(f"anvil: {stranger.state}/issuer.pem: expected the local stack's key: ")


async def test_elsewhere_gcloud_is_asked_for_the_token(stranger: Anvil) -> None:
    stranger.program("gcloud", 'echo "token for $*"')
    result = await stranger("auth", "token", "--endpoint", "https://anvil.example.com")
    assert (result.code, result.out) == (0, "token for auth print-identity-token\n")


async def test_without_gcloud_one_is_told_what_to_do(stranger: Anvil) -> None:
    result = await stranger("auth", "token", "--endpoint", "https://anvil.example.com")
    assert (result.code, result.err) == (4, "anvil: no token: set ANVIL_TOKEN; gcloud is not installed\n")


async def test_what_gcloud_complains_about_is_told_on_one_line(stranger: Anvil) -> None:
    stranger.program("gcloud", "echo no account >&2; echo log in >&2; exit 1")
    result = await stranger("run", "list", "-p", "hello")
    assert (result.code, result.out) == (4, "")
    assert result.err == (
        "anvil: no token: set ANVIL_TOKEN, or start `anvil up`; `gcloud auth print-identity-token` failed: no account\n"
    )


async def test_a_checkout_cannot_send_the_token_to_whom_it_likes(stranger: Anvil) -> None:
    stranger.program("gcloud", "touch ../asked; echo token")
    (stranger.working / ".anvil.toml").write_text('endpoint = "https://evil.example.com"\n')
    result = await stranger("run", "list", "-p", "hello")
    assert result.code == 2
    assert "`trusted`" in result.err
    assert not (stranger.home / "asked").exists()


async def test_the_token_never_goes_over_the_network_in_the_clear(stranger: Anvil) -> None:
    result = await stranger("run", "list", "-p", "hello", "--endpoint", "http://anvil.example.com")
    assert result.code == 2
    assert "expected https" in result.err


async def test_doctor_ticks_off_what_works_and_fails_if_something_does_not(anvil: Anvil, ingress: Ingress) -> None:
    result = await anvil("doctor")
    assert result.code == 1
    assert result.out.splitlines() == [
        f"✓ endpoint: {ingress.endpoint} (the local stack)",
        f"✓ state directory: {anvil.state}",
        "✓ token and role: admin@anvil.local is admin",
        "✓ readiness: ingress is ready",
        "✓ version: 1",
        "✗ git: not found; needed for checking out repositories on the local stack",
    ]
    anvil.program("git", "")
    assert (await anvil("doctor")).code == 0


async def test_doctor_sees_that_others_can_read_the_key(anvil: Anvil) -> None:
    anvil.state.chmod(0o755)
    assert f"✗ state directory: others can read {anvil.state}: chmod 700 it" in (await anvil("doctor")).out
