"""What each failure and each result is as an exit code, and what text of others may do to a terminal."""

from datetime import timedelta

import pytest

from services.cli.exits import Stopped, Usage, of_error, of_run
from services.cli.options import duration
from services.cli.terminal import harmless, plain
from services.kernel import errors
from services.kernel.runs import Status

CODES: list[tuple[errors.AnvilError, int]] = [
    (errors.AnvilError(), 1),
    (errors.Permanent(), 1),
    (errors.SlugTaken(), 1),
    (errors.ProjectBusy(), 1),
    (errors.NotRerunnable(), 1),
    (errors.IdempotencyKeyReused(), 1),
    (errors.AttemptRunning(), 1),
    (errors.AlreadySettled(), 1),
    (Usage(), 2),
    (errors.Invalid(), 2),
    (errors.WeakSecret(), 2),
    (errors.SecretNotAllowed(), 2),
    (errors.IdempotencyKeyRequired(), 2),
    (errors.ConfirmationRequired(), 2),
    (errors.OperationNotApproved(), 2),
    (Stopped(), 3),
    (errors.Unauthenticated(), 4),
    (errors.Forbidden(), 4),
    (errors.NotFound(), 6),
    (errors.WebhookChanged(), 7),
    (errors.PreconditionFailed(), 7),
    (errors.StaleVersion(), 7),
    (errors.Ambiguous(), 8),
    (errors.OutcomeUnknown(), 8),
    (errors.IdempotencyInProgress(), 8),
    (errors.OperationOutcomeUnknown(), 8),
    (errors.QueueFull(), 9),
    (errors.QueueFullForNow(), 9),
    (errors.Unavailable(), 75),
    (errors.Contended(), 75),
    (errors.TooManyRequests(), 75),
    (errors.LedgerUnavailable(), 75),
    (errors.UpstreamUnavailable(), 75),
]


@pytest.mark.parametrize(("error", "code"), CODES, ids=[type(error).__name__ for error, _ in CODES])
def test_a_failure_has_one_code(error: errors.AnvilError, code: int) -> None:
    assert of_error(error) == code


@pytest.mark.parametrize(("status", "code"), [(Status.PASSED, 0), (Status.FAILED, 5), (Status.CANCELED, 3)])
def test_a_result_has_one_code(status: Status, code: int) -> None:
    assert of_run(status) == code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", timedelta(seconds=30)),
        ("30s", timedelta(seconds=30)),
        ("5m", timedelta(minutes=5)),
        ("1h", timedelta(hours=1)),
    ],
)
def test_a_time_has_a_unit_or_means_seconds(text: str, expected: timedelta) -> None:
    assert duration(text) == expected


@pytest.mark.parametrize("text", ["", "0", "0s", "-1", "1.5", "1d", "soon", "٣", "1s ", "9999999"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Usage):
        duration(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m\tand\n", "\x1b[31mred\x1b[0m\tand\n"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1bPq#0\x1b\\sixel", "sixel"),
        ("\x1bcreset", "reset"),
        ("over\rwritten", "overwritten"),
        ("line\r\n", "line\n"),
        ("bell\x07back\x08\x9b2J", "bellback2J"),
        ("\x1b", ""),
        ("\u202efdp.\u202cexe \u2066a\u2069", "fdp.exe a"),
    ],
)
def test_a_log_may_color_a_terminal_but_not_drive_it(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_a_name_is_one_line_without_colors() -> None:
    assert plain("\x1b[31mfeature\x1b[0m\n/\tx") == "feature / x"


@pytest.mark.parametrize("turns", [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))])
def test_a_name_reads_in_the_order_in_which_it_is_written(turns: str) -> None:
    assert plain(f"not {turns}in the export") == "not in the export"
