"""What GitHub's deliveries become."""

import json
from urllib.parse import urlencode

import pytest

from services.ingress.providers.github import GitHub
from services.kernel.errors import InvalidDeliveryId, InvalidPayload
from services.kernel.wire.deliveries import Canonical, EventKind, Provider
from tests.unit.ingress.github_deliveries import GUID, REPOSITORY, SHA, ZERO, Fields, push, received

FORM = "application/x-www-form-urlencoded"


def normalise(body: Fields | bytes, *, event: str = "push", media_type: str = "application/json") -> Canonical:
    return GitHub().normalise(received(body, event=event, media_type=media_type), delivery_id=GUID)


@pytest.mark.req("R56")
@pytest.mark.req("R57")
def test_a_push_becomes_the_canonical_payload() -> None:
    body = (
        b'{"ref":"refs/heads/main","after":"6dcb09b5b57875f334f61aebed695e2e4193db5e",'
        b'"before":"9049f1265b7d61be4a8904a9a27120d2064dab3b",'
        b'"repository":{"clone_url":"https://github.com/octo/hello.git","ssh_url":"git@github.com:octo/hello.git"}}'
    )
    assert normalise(body) == Canonical(
        provider=Provider.GITHUB,
        flavor="github",
        delivery_id=GUID,
        event_kind=EventKind.PUSH,
        event_name="push",
        repository_url="https://github.com/octo/hello.git",
        repository_urls=("https://github.com/octo/hello.git", "git@github.com:octo/hello.git"),
        ref="refs/heads/main",
        branch="main",
        commit_sha="6dcb09b5b57875f334f61aebed695e2e4193db5e",
        before_sha="9049f1265b7d61be4a8904a9a27120d2064dab3b",
        body_sha256="5095b22b9924d49d7fab8286318d12c32a9f142732f550ae5ea59c32cf8e877a",
    )


def test_a_new_branch_has_no_commit_before() -> None:
    assert normalise(push(before=ZERO)).before_sha is None


def test_a_sha_of_64_characters_is_a_commit() -> None:
    assert normalise(push(after="ab" * 32, before="0" * 64)).commit_sha == "ab" * 32


@pytest.mark.parametrize(
    "branch",
    ["feature/x", "release/100%25-%E2%9C%93", "ünïcødé-日本語-🚀", "Main", "a#b@c+d", "HEAD", "refs/heads/main", "x y"],
)
def test_a_branch_is_the_ref_without_its_one_prefix_and_otherwise_verbatim(branch: str) -> None:
    assert normalise(push(ref=f"refs/heads/{branch}")).branch == branch


@pytest.mark.parametrize(
    ("changed", "kind", "branch"),
    [
        ({"after": ZERO, "deleted": True}, EventKind.DELETION, "main"),
        ({"after": ZERO, "deleted": None}, EventKind.DELETION, "main"),
        ({"deleted": True}, EventKind.DELETION, "main"),
        ({"ref": "refs/tags/v1", "after": ZERO, "deleted": True}, EventKind.DELETION, None),
        ({"ref": "refs/pull/17/head"}, EventKind.OTHER, None),
        ({"ref": "refs/heads/"}, EventKind.OTHER, None),
        ({"ref": "main"}, EventKind.OTHER, None),
        ({"ref": f"refs/heads/gh-readonly-queue/main/pr-1-{SHA}"}, EventKind.OTHER, None),
    ],
)
def test_only_a_commit_on_a_branch_can_be_built(
    changed: dict[str, object], kind: EventKind, branch: str | None
) -> None:
    delivery = normalise(push(**changed))
    assert (delivery.event_kind, delivery.branch, delivery.commit_sha) == (kind, branch, None)


def test_a_tag_is_no_branch() -> None:
    delivery = normalise(push(ref="refs/tags/v1"))
    assert (delivery.event_kind, delivery.branch, delivery.commit_sha) == (EventKind.TAG, None, SHA)


def test_a_ping_needs_no_repository() -> None:
    delivery = normalise({"zen": "Anything added dilutes everything else.", "hook": {}}, event="ping")
    assert (delivery.event_kind, delivery.repository_urls) == (EventKind.PING, ())


@pytest.mark.parametrize("event", ["pull_request", "meta", "create", "delete", "a-later-event"])
def test_every_other_event_is_kept_by_its_name(event: str) -> None:
    delivery = normalise({"ref": "main", "hook_id": 1, "zen": "x", "repository": REPOSITORY}, event=event)
    assert (delivery.event_kind, delivery.event_name, delivery.branch) == (EventKind.OTHER, event, None)


@pytest.mark.threat("A8")
def test_a_form_carries_the_same_payload() -> None:
    form = urlencode({"payload": json.dumps(push(ref="refs/heads/ü+b&c"))}).encode()
    assert normalise(form, media_type=FORM).branch == "ü+b&c"


@pytest.mark.parametrize(
    "form",
    [
        b"",
        b"payload",
        b"other=1",
        b"payload=%FF",
        b"payload=\xff",
        b"payload={}&payload={}",
        b"payload=[]",
        b"a=1&" * 40,
    ],
)
def test_a_form_without_one_usable_payload_is_refused(form: bytes) -> None:
    with pytest.raises(InvalidPayload):
        normalise(form, media_type=FORM)


@pytest.mark.threat("A14")
@pytest.mark.parametrize(
    "body", [b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[" * 5000 + b"]" * 5000, b"[" * 900 + b"]" * 900]
)
def test_nesting_beyond_measure_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidPayload):
        normalise(body)


@pytest.mark.threat("A15")
@pytest.mark.parametrize("number", ["1" * 5000, "1e999", "-1e999", "NaN", "Infinity"])
def test_numbers_that_are_none_are_refused(number: str) -> None:
    with pytest.raises(InvalidPayload):
        normalise(json.dumps(push())[:-1].encode() + f', "n": {number}}}'.encode())


@pytest.mark.threat("A16")
@pytest.mark.parametrize("more", ['"ref": "refs/heads/main"', '"x": {"a": 1, "\\u0061": 2}'])
def test_a_key_given_twice_is_refused(more: str) -> None:
    with pytest.raises(InvalidPayload):
        normalise(json.dumps(push())[:-1].encode() + f", {more}}}".encode())


@pytest.mark.threat("A17")
@pytest.mark.parametrize(
    "body",
    [
        json.dumps(push()).encode("utf-16"),
        json.dumps(push()).encode("utf-8-sig"),
        b'{"a": "\xff"}',
        json.dumps(push(ref="refs/heads/\ud800")).encode(),
        json.dumps(push(note="\udc00")).encode(),
    ],
)
def test_text_that_is_not_utf_8_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidPayload):
        normalise(body)


@pytest.mark.threat("A21")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"push"',
        push(ref=None),
        push(ref=""),
        push(ref=17),
        push(ref="refs/heads/a\nb"),
        push(after=None),
        push(after=["x"]),
        push(after="0" * 7),
        push(before="abc"),
        push(repository=None),
        push(repository=[]),
        push(repository={}),
        push(repository={"clone_url": 1}),
        push(repository={"clone_url": "https://github.com/" + "a" * 3000}),
        push(ref="refs/heads/" + "a" * 1200),
    ],
)
def test_a_push_that_lacks_what_a_push_has_is_refused(body: Fields | bytes) -> None:
    with pytest.raises(InvalidPayload):
        normalise(body)


@pytest.mark.req("C19")
@pytest.mark.threat("A23")
@pytest.mark.parametrize(
    "sha", [SHA[:7], SHA.upper(), SHA + "\n", SHA + "0", "g" * 40, "٣" * 40, "--upload-pack=/bin/sh"]
)
def test_a_commit_is_a_full_id_in_lower_case_hex(sha: str) -> None:
    with pytest.raises(InvalidPayload):
        normalise(push(after=sha))


@pytest.mark.parametrize("values", [[], [b"push", b"push"], [b""], [b"p\xfcsh"], [b"x" * 257]])
def test_an_event_is_named_exactly_once(values: list[bytes]) -> None:
    delivery = received(push(), headers=[(b"x-github-event", value) for value in values])
    with pytest.raises(InvalidPayload):
        GitHub().normalise(delivery, delivery_id=GUID)


@pytest.mark.inv("D11")
@pytest.mark.parametrize("values", [[], [b"a", b"a"], [b""], [b"\xe9"], [b"a\tb"], [b"x" * 257]])
def test_a_delivery_id_comes_once_and_is_printable_ascii(values: list[bytes]) -> None:
    delivery = received(push(), headers=[(b"x-github-delivery", value) for value in values])
    with pytest.raises(InvalidDeliveryId):
        GitHub().delivery_id(delivery)


@pytest.mark.parametrize("value", [GUID, "x" * 256, "!", "a b~"])
def test_any_other_delivery_id_is_taken_as_it_is(value: str) -> None:
    delivery = received(push(), headers=[(b"x-github-delivery", value.encode())])
    assert GitHub().delivery_id(delivery) == value
