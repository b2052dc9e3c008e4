"""What Gitea, Forgejo and Gogs send, and which of it is proof."""

import pytest
from starlette.datastructures import Headers

from services.ingress.providers.gitea import Gitea
from services.ingress.providers.port import Key, Received
from services.kernel.errors import InvalidDeliveryId, InvalidPayload
from services.kernel.wire.deliveries import Canonical, EventKind
from services.kernel.wire.webhooks import Refusal, WebhookConfig
from tests.corpus.bodies import BEFORE, SHA, ZERO, push, raw
from tests.corpus.senders import FORM, JSON, SECRET, Sender, Sent, form, hexdigest, send
from tests.unit.ingress.coordinator import NOW

FAMILY = [Sender.GITEA, Sender.FORGEJO, Sender.GOGS]
BODY = raw(push(Sender.GITEA))
KEY = Key(secret=SECRET.encode(), config=WebhookConfig())
GOOD = hexdigest(SECRET, BODY)


def received(sent: Sent, *more: tuple[bytes, bytes]) -> Received:
    kept = [(name.lower().encode(), value.encode()) for name, value in sent.headers.items()]
    return Received(headers=Headers(raw=[*kept, *more]), media_type=sent.headers["Content-Type"], body=sent.body)


def refusal(sent: Sent, *more: tuple[bytes, bytes], key: Key = KEY) -> Refusal | None:
    return Gitea().refusal(received(sent, *more), key, now=NOW)


def gitea(**changed: str | None) -> Sent:
    return send(Sender.GITEA, BODY, id_="d-1").but(**changed)


def normalise(body: object, *, event: str = "push", **changed: str | None) -> Canonical:
    sent = send(Sender.GITEA, raw(body), id_="d-1", event=event).but(**changed)
    return Gitea().normalise(received(sent), delivery_id="d-1")


class TestSignature:
    @pytest.mark.parametrize("sender", FAMILY)
    def test_each_of_the_family_proves_itself_by_its_own_header(self, sender: Sender) -> None:
        sent = send(sender, BODY, id_="d-1")
        own = {f"X_{sender.name.title()}_Signature": None}
        assert refusal(sent) is None
        assert refusal(sent.but(**own)) is Refusal.MISSING_SIGNATURE

    def test_an_old_gitea_that_sends_no_other_signature_is_known(self) -> None:
        assert refusal(gitea(X_Hub_Signature_256=None, X_Gogs_Signature=None)) is None

    def test_the_hubs_headers_prove_nothing(self) -> None:
        alone = gitea(X_Gitea_Event=None, X_Gitea_Signature=None, X_Gogs_Event=None, X_Gogs_Signature=None)
        assert refusal(alone) is Refusal.ANOTHER_HOST

    @pytest.mark.threat("A4")
    @pytest.mark.parametrize(
        "given", [f"sha256={GOOD}", GOOD.upper(), GOOD[:-1], GOOD + "0", "0" * 64, hexdigest("another", BODY)]
    )
    def test_only_the_whole_digest_in_its_one_spelling_verifies(self, given: str) -> None:
        assert refusal(gitea(X_Gitea_Signature=given)) is Refusal.BAD_SIGNATURE

    @pytest.mark.threat("A5")
    @pytest.mark.parametrize("sender", FAMILY)
    def test_a_signature_comes_exactly_once(self, sender: Sender) -> None:
        again = (f"x-{sender}-signature".encode(), GOOD.encode())
        assert refusal(send(sender, BODY, id_="d-1"), again) is Refusal.BAD_SIGNATURE

    @pytest.mark.threat("A2")
    @pytest.mark.parametrize("sender", FAMILY)
    def test_a_host_without_a_secret_sends_the_header_empty_and_proves_nothing(self, sender: Sender) -> None:
        empty = {f"X_{name}_Signature": "" for name in ("Forgejo", "Gitea", "Gogs")}
        sent = send(sender, BODY, id_="d-1").but(**empty, X_Hub_Signature_256="sha256=")
        nothing = Key(secret=b"", config=WebhookConfig())
        assert (refusal(sent), refusal(sent, key=nothing)) == (Refusal.MISSING_SIGNATURE,) * 2
        signed = send(sender, BODY, id_="d-1", secret="")
        assert refusal(signed, key=nothing) is Refusal.BAD_SIGNATURE

    def test_the_text_of_a_form_is_signed_and_not_the_form(self) -> None:
        sent = send(Sender.GITEA, form(BODY), id_="d-1", media_type=FORM)
        assert refusal(sent) is None
        assert refusal(sent.but(X_Gitea_Signature=hexdigest(SECRET, form(BODY)))) is Refusal.BAD_SIGNATURE

    @pytest.mark.parametrize("body", [b"", b"payload", b"payload=%FF", b"a=1&" * 40, b"payload={}&payload={}", b"\xff"])
    def test_a_form_that_has_no_text_is_a_wrong_signature_and_no_failure(self, body: bytes) -> None:
        sent = Sent(headers={**gitea().headers, "Content-Type": FORM}, body=body)
        assert refusal(sent) is Refusal.BAD_SIGNATURE


class TestHeaders:
    @pytest.mark.parametrize(
        ("headers", "flavor"),
        [
            ({"X-Forgejo-Event": "push", "X-Gitea-Event": "ping", "X-Gogs-Event": "ping"}, "forgejo"),
            ({"X-Gitea-Event": "push", "X-Gogs-Event": "ping", "X-GitHub-Event": "ping"}, "gitea"),
            ({"X-Gogs-Event": "push", "X-GitHub-Event": "ping"}, "gogs"),
        ],
    )
    def test_the_last_of_the_line_says_who_it_is_and_what_happened(self, headers: dict[str, str], flavor: str) -> None:
        sent = Sent(headers={"Content-Type": JSON, **headers}, body=BODY)
        found = Gitea().normalise(received(sent), delivery_id="d-1")
        assert (found.flavor, found.event_name, found.event_kind) == (flavor, "push", EventKind.PUSH)

    def test_the_delivery_id_is_the_hosts_own(self) -> None:
        others = gitea(X_GitHub_Delivery="d-2", X_Gogs_Delivery="d-3")
        assert Gitea().delivery_id(received(others)) == "d-1"
        with pytest.raises(InvalidDeliveryId):
            Gitea().delivery_id(received(others.but(X_Gitea_Delivery=None)))

    def test_an_event_that_an_old_gitea_does_not_name_is_none_that_builds(self) -> None:
        found = normalise(push(Sender.GITEA), X_Gitea_Event="")
        assert (found.event_kind, found.event_name) == (EventKind.OTHER, "unnamed")

    def test_an_event_that_is_named_twice_is_refused(self) -> None:
        with pytest.raises(InvalidPayload):
            Gitea().normalise(received(gitea(), (b"x-gitea-event", b"push")), delivery_id="d-1")


class TestBody:
    @pytest.mark.parametrize("ref", ["feature", "v1.0.0", "refs/heads/feature"])
    @pytest.mark.parametrize("event", ["create", "delete"])
    def test_what_is_made_or_deleted_is_named_and_never_built(self, event: str, ref: str) -> None:
        found = normalise({"ref": ref, "ref_type": "branch", "sha": SHA}, event=event)
        assert (found.event_kind, found.ref, found.branch, found.commit_sha) == (EventKind.OTHER, ref, None, None)

    def test_a_mirror_of_gogs_names_its_branch_too_shortly_to_be_built(self) -> None:
        assert normalise(push(Sender.GOGS, ref="main")).event_kind is EventKind.OTHER

    def test_a_branch_that_is_called_like_a_ref_loses_one_prefix(self) -> None:
        assert normalise(push(Sender.GITEA, ref="refs/heads/refs/heads/main")).branch == "refs/heads/main"

    def test_the_commit_of_an_annotated_tag_is_its_head_commit(self) -> None:
        tag = normalise(push(Sender.GITEA, ref="refs/tags/v1", after="ab" * 20))
        assert (tag.event_kind, tag.commit_sha) == (EventKind.TAG, SHA)

    @pytest.mark.parametrize(("before", "kept"), [(ZERO, None), ("0" * 64, None), (SHA, SHA)])
    def test_a_test_delivery_has_no_commit_to_build(self, before: str, kept: str | None) -> None:
        test = normalise(push(Sender.GITEA, before=before, after=before))
        assert (test.event_kind, test.branch, test.commit_sha, test.before_sha) == (EventKind.PING, "main", None, kept)

    def test_zeros_after_a_commit_are_a_deletion(self) -> None:
        gone = normalise(push(Sender.GITEA, after=ZERO))
        assert (gone.event_kind, gone.before_sha) == (EventKind.DELETION, BEFORE)

    def test_a_secret_in_an_old_body_is_kept_nowhere(self) -> None:
        assert "hunter2" not in normalise(push(Sender.GITEA, secret="hunter2")).model_dump_json()

    def test_a_push_within_another_event_is_not_dug_out(self) -> None:
        run = {"action": "success", "run": {"event_payload": raw(push(Sender.FORGEJO)).decode()}}
        assert normalise(run, event="action_run_success").ref is None
