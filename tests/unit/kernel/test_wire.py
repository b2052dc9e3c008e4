"""Messages: camelCase outside, frozen, strict about names, and silent about what they refuse."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from services.kernel.runs import Status
from services.kernel.wire.deliveries import Canonical, DeliveryQuery
from services.kernel.wire.model import Empty, Page, PageQuery, rfc3339
from services.kernel.wire.projects import ProjectPatch
from services.kernel.wire.runs import Claim, Report, StepStatus
from services.kernel.wire.webhooks import PutWebhook, SealedSecret


def test_times_are_utc_with_milliseconds() -> None:
    moment = datetime(2026, 11, 30, 10, 30, 0, 123_987, tzinfo=timezone(timedelta(hours=1)))
    assert rfc3339(moment) == "2026-11-30T09:30:00.123Z"


def test_a_message_is_written_in_camel_case_with_its_nulls() -> None:
    step = StepStatus(name="test", status="passed", exit_code=0, started_at=datetime(2026, 11, 30, tzinfo=UTC))
    assert step.model_dump_json() == (
        '{"name":"test","status":"passed","exitCode":0,"startedAt":"2026-11-30T00:00:00.000Z","finishedAt":null}'
    )


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValidationError):
        StepStatus(name="test", status="passed", started_at=datetime(2026, 11, 30))  # noqa: DTZ001


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_no_calendar_has_in_utc_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="years 1 to 9999"):
        DeliveryQuery.model_validate({"since": text})


@pytest.mark.parametrize("field", ["name", "repositoryUrl", "defaultBranch", "configPath"])
def test_nothing_of_a_project_is_cleared(field: str) -> None:
    with pytest.raises(ValidationError, match=f"cannot be null: {field}"):
        ProjectPatch.model_validate({field: None})


@pytest.mark.parametrize("name", ["a\nb", "a\x00", "\x1b[31mred", "right\u202eleft"])
def test_a_projects_name_is_text_on_one_line(name: str) -> None:
    with pytest.raises(ValidationError, match="printable"):
        ProjectPatch.model_validate({"name": name})


def test_the_end_of_a_list_has_no_token() -> None:
    assert Page[Empty](items=()).model_dump_json() == '{"items":[]}'
    assert Page[Empty](items=(), next_page_token="t").model_dump_json() == '{"items":[],"nextPageToken":"t"}'


def test_a_page_has_20_items_unless_asked_for_up_to_100() -> None:
    assert PageQuery().page_size == 20
    assert PageQuery(page_size=100).page_size == 100
    with pytest.raises(ValidationError):
        PageQuery(page_size=101)


def test_what_grants_something_does_not_show_itself() -> None:
    shown = [
        repr(Claim(attempt="a-token-of-128-bits-xx")),
        repr(PutWebhook(secret="a-token-of-128-bits-xx")),
        repr(SealedSecret(secret_id="1", key_version="1", nonce="", ciphertext="a-token-of-128-bits-xx")),
    ]
    assert not any("a-token" in text for text in shown)


def test_a_refusal_does_not_repeat_the_value() -> None:
    with pytest.raises(ValidationError) as refused:
        Claim.model_validate({"attempt": "hunter2"})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("delivery_id", ["", "x" * 257, "a\nb", "a\x7f", "é", "id\n"])
def test_a_delivery_id_is_printable_ascii_of_bounded_length(delivery_id: str) -> None:
    with pytest.raises(ValidationError):
        Canonical.model_validate(_canonical(delivery_id))


@pytest.mark.parametrize("delivery_id", ["1", "x" * 256, "72d3162e-cc78-11e3-81ab-4c9367dc0958", " ~"])
def test_any_printable_delivery_id_is_taken(delivery_id: str) -> None:
    assert Canonical.model_validate(_canonical(delivery_id)).delivery_id == delivery_id


def _canonical(delivery_id: str) -> dict[str, object]:
    return {
        "provider": "github",
        "flavor": "github",
        "deliveryId": delivery_id,
        "eventKind": "ping",
        "eventName": "ping",
        "bodySha256": "0" * 64,
    }


@pytest.mark.inv("S4")
@pytest.mark.parametrize("exit_code", [None, 1, 137])
def test_a_run_does_not_pass_with_another_exit_code_than_0(exit_code: int | None) -> None:
    with pytest.raises(ValidationError, match="exit code 0"):
        Report(attempt="a" * 22, status=Status.PASSED, exit_code=exit_code)
