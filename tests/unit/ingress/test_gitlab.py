"""What GitLab sends, and which of it is proof."""

from datetime import datetime, timedelta

import pytest
from starlette.datastructures import Headers

from services.ingress.providers.gitlab import GitLab
from services.ingress.providers.port import Key, Received
from services.kernel.errors import InvalidDeliveryId, InvalidPayload
from services.kernel.wire.deliveries import Canonical, EventKind
from services.kernel.wire.webhooks import Refusal, WebhookConfig
from tests.corpus.bodies import SHA, ZERO, push, raw
from tests.corpus.senders import JSON, SECRET, SIGNING_TOKEN, Sender, Sent, send, send_signed, sign
from tests.unit.ingress.coordinator import NOW

BODY = raw(push(Sender.GITLAB))
AT = int(NOW.timestamp())
SIGNED = send_signed(BODY, id_="msg-1", at=AT)
TOKEN = Key(secret=SECRET.encode(), config=WebhookConfig())
SIGNING = Key(secret=SIGNING_TOKEN.encode(), config=WebhookConfig(signing_token=True))
OTHER_TOKEN = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="


def received(sent: Sent, *more: tuple[bytes, bytes]) -> Received:
    kept = [(name.lower().encode(), value.encode()) for name, value in sent.headers.items()]
    return Received(headers=Headers(raw=[*kept, *more]), media_type=JSON, body=sent.body)


def refusal(sent: Sent, key: Key, *more: tuple[bytes, bytes], now: datetime = NOW) -> Refusal | None:
    return GitLab().refusal(received(sent, *more), key, now=now)


def normalise(body: object, *, event: str = "Push Hook") -> Canonical:
    return GitLab().normalise(received(send(Sender.GITLAB, raw(body), id_="d-1", event=event)), delivery_id="d-1")


class TestToken:
    def test_the_secret_itself_is_the_proof(self) -> None:
        assert refusal(send(Sender.GITLAB, BODY, id_="d-1"), TOKEN) is None

    @pytest.mark.parametrize("token", ["", " ", SECRET[1:], SECRET + "0", SECRET.upper(), "***", f"{SECRET}, {SECRET}"])
    def test_anything_else_is_none(self, token: str) -> None:
        assert refusal(send(Sender.GITLAB, BODY, id_="d-1", secret=token), TOKEN) is Refusal.BAD_SIGNATURE

    def test_a_token_comes_exactly_once(self) -> None:
        sent = send(Sender.GITLAB, BODY, id_="d-1")
        assert refusal(sent, TOKEN, (b"x-gitlab-token", SECRET.encode())) is Refusal.BAD_SIGNATURE
        assert refusal(sent.but(X_Gitlab_Token=None), TOKEN) is Refusal.MISSING_SIGNATURE

    @pytest.mark.threat("A2")
    def test_an_empty_secret_is_proved_by_nothing(self) -> None:
        empty = Key(secret=b"", config=WebhookConfig())
        assert refusal(send(Sender.GITLAB, BODY, id_="d-1", secret=""), empty) is Refusal.BAD_SIGNATURE

    @pytest.mark.threat("A6")
    def test_bytes_beyond_ascii_are_compared_as_bytes(self) -> None:
        sent = send(Sender.GITLAB, BODY, id_="d-1").but(X_Gitlab_Token=None)
        assert refusal(sent, TOKEN, (b"x-gitlab-token", b"\xe9\xff")) is Refusal.BAD_SIGNATURE

    def test_a_signature_is_no_proof_and_no_disproof(self) -> None:
        assert refusal(SIGNED, TOKEN) is Refusal.MISSING_SIGNATURE
        assert refusal(SIGNED.but(X_Gitlab_Token=SECRET, webhook_signature="v1,AAAA"), TOKEN) is None


class TestSigningToken:
    def test_a_signature_of_now_is_the_proof(self) -> None:
        assert refusal(SIGNED, SIGNING) is None

    def test_the_token_is_never_fallen_back_to(self) -> None:
        bare = send(Sender.GITLAB, BODY, id_="d-1", secret=SIGNING_TOKEN)
        wrong = SIGNED.but(webhook_signature="v1,AAAA", X_Gitlab_Token=SIGNING_TOKEN)
        assert refusal(bare, SIGNING) is Refusal.MISSING_SIGNATURE
        assert refusal(wrong, SIGNING) is Refusal.BAD_SIGNATURE

    def test_one_good_signature_of_several_is_enough(self) -> None:
        good = SIGNED.headers["webhook-signature"]
        bad = sign(OTHER_TOKEN, BODY, id_="msg-1", at=AT)
        assert refusal(SIGNED.but(webhook_signature=f"v1a,xyz {bad} v2,{good[3:]} {good}"), SIGNING) is None
        assert refusal(SIGNED.but(webhook_signature=f"{bad} v2,{good[3:]}"), SIGNING) is Refusal.BAD_SIGNATURE

    @pytest.mark.parametrize(
        ("seconds", "expected"),
        [(-300, None), (300, None), (-301, Refusal.STALE_TIMESTAMP), (301, Refusal.STALE_TIMESTAMP)],
    )
    @pytest.mark.threat("A10")
    def test_it_counts_for_five_minutes(self, seconds: int, expected: Refusal | None) -> None:
        assert refusal(SIGNED, SIGNING, now=NOW + timedelta(seconds=seconds)) is expected

    @pytest.mark.parametrize(
        "changed",
        [
            {"webhook_id": "msg-2"},
            {"webhook_id": None},
            {"webhook_timestamp": str(AT + 1)},
            {"webhook_timestamp": None},
            {"webhook_signature": ""},
            {"webhook_signature": SIGNED.headers["webhook-signature"][3:]},
            {"webhook_signature": SIGNED.headers["webhook-signature"].rstrip("=")},
            {"webhook_signature": SIGNED.headers["webhook-signature"] + "="},
            {"webhook_signature": SIGNED.headers["webhook-signature"].replace("v1,", "v1, ")},
            {"webhook_signature": SIGNED.headers["webhook-signature"].replace("v1", "V1")},
        ],
    )
    def test_what_was_signed_cannot_be_changed(self, changed: dict[str, str | None]) -> None:
        assert refusal(SIGNED.but(**changed), SIGNING) is Refusal.BAD_SIGNATURE

    @pytest.mark.parametrize("name", [b"webhook-id", b"webhook-timestamp", b"webhook-signature"])
    @pytest.mark.threat("A5")
    def test_each_of_its_headers_comes_once(self, name: bytes) -> None:
        again = SIGNED.headers[name.decode()].encode()
        assert refusal(SIGNED, SIGNING, (name, again)) is Refusal.BAD_SIGNATURE

    @pytest.mark.parametrize("at", ["", "soon", "-1", "1e9", "9" * 11])
    def test_a_time_that_is_none_is_stale_though_it_is_signed(self, at: str) -> None:
        signed = SIGNED.but(webhook_timestamp=at, webhook_signature=sign(SIGNING_TOKEN, BODY, id_="msg-1", at=at))
        assert refusal(signed, SIGNING) is Refusal.STALE_TIMESTAMP

    def test_a_secret_that_is_no_signing_token_is_proved_by_nothing(self) -> None:
        plain = Key(secret=SECRET.encode(), config=WebhookConfig(signing_token=True))
        assert refusal(SIGNED, plain) is Refusal.UNUSABLE_SECRET


class TestDeliveryId:
    @pytest.mark.req("C25")
    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            (["webhook-id", "idempotency-key", "x-gitlab-webhook-uuid", "x-gitlab-event-uuid"], "webhook-id"),
            (["idempotency-key", "x-gitlab-webhook-uuid", "x-gitlab-event-uuid"], "idempotency-key"),
            (["x-gitlab-webhook-uuid", "x-gitlab-event-uuid"], "x-gitlab-webhook-uuid"),
            (["x-gitlab-event-uuid"], "x-gitlab-event-uuid"),
        ],
    )
    def test_it_is_the_first_that_is_sent_and_the_chains_only_where_there_is_no_other(
        self, names: list[str], expected: str
    ) -> None:
        sent = Sent(headers={name: name for name in reversed(names)}, body=BODY)
        assert GitLab().delivery_id(received(sent)) == expected

    @pytest.mark.parametrize("headers", [{}, {"webhook-id": "", "idempotency-key": "d-1"}])
    def test_the_first_that_is_sent_must_be_one(self, headers: dict[str, str]) -> None:
        with pytest.raises(InvalidDeliveryId):
            GitLab().delivery_id(received(Sent(headers=headers, body=BODY)))


class TestBody:
    def test_the_commit_of_an_annotated_tag_is_the_one_that_is_checked_out(self) -> None:
        body = push(Sender.GITLAB, object_kind="tag_push", ref="refs/tags/v1", after="ab" * 20)
        tag = normalise(body, event="Tag Push Hook")
        assert (tag.event_kind, tag.commit_sha) == (EventKind.TAG, SHA)

    def test_the_commit_of_a_branch_is_the_one_after_whatever_is_checked_out(self) -> None:
        assert normalise(push(Sender.GITLAB, checkout_sha="ab" * 20)).commit_sha == SHA

    def test_a_system_hook_is_about_the_instance_whatever_is_in_it(self) -> None:
        hook = normalise(push(Sender.GITLAB), event="System Hook")
        assert (hook.event_kind, hook.ref, hook.commit_sha) == (EventKind.OTHER, None, None)

    @pytest.mark.parametrize("event", ["Merge Request Hook", "Pipeline Hook", "Note Hook", "A Later Hook"])
    def test_every_other_hook_is_kept_by_its_name(self, event: str) -> None:
        hook = normalise({"object_kind": "whatever", "ref": 7}, event=event)
        assert (hook.event_kind, hook.event_name, hook.repository_url) == (EventKind.OTHER, event, None)

    @pytest.mark.parametrize(
        ("event", "kind"), [("Push Hook", "tag_push"), ("Tag Push Hook", "push"), ("Push Hook", "note")]
    )
    def test_a_body_under_another_hooks_name_is_refused(self, event: str, kind: str) -> None:
        with pytest.raises(InvalidPayload):
            normalise(push(Sender.GITLAB, object_kind=kind), event=event)

    @pytest.mark.parametrize("template", [{"text": "octo pushed"}, {}, [], "pushed", {"ref": "main", "sha": SHA}])
    def test_a_custom_template_is_refused(self, template: object) -> None:
        with pytest.raises(InvalidPayload):
            normalise(template)

    def test_an_old_body_tells_of_the_repository_in_another_place(self) -> None:
        old = {"name": "hello", "url": "git@code.example:octo/hello.git", "homepage": "https://code.example/octo/hello"}
        found = normalise(push(Sender.GITLAB, project=None, repository=old))
        assert found.repository_urls == ("https://code.example/octo/hello", "git@code.example:octo/hello.git")

    def test_a_merge_train_is_no_branch(self) -> None:
        assert normalise(push(Sender.GITLAB, ref="refs/merge-requests/1/train")).event_kind is EventKind.OTHER

    def test_a_deletion_has_only_a_commit_before(self) -> None:
        gone = normalise(push(Sender.GITLAB, after="0" * 64, before="ab" * 32, checkout_sha=None))
        assert (gone.event_kind, gone.commit_sha, gone.before_sha) == (EventKind.DELETION, None, "ab" * 32)
        assert ZERO not in gone.model_dump_json()
