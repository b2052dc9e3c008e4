"""Keys, principals' keys, credentials and secret answers are in no document, log line, error or dry run."""

import io
import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from services.coordinator.operations.credentials import Credentials
from services.coordinator.operations.model import Operation
from services.kernel import log
from services.kernel.errors import AnvilError
from services.kernel.wire.operations import ExecuteOperation
from tests.unit.coordinator.operations import billing as other
from tests.unit.coordinator.operations.billing import Billing
from tests.unit.coordinator.operations.desk import ADA, BOB, KEYED, MODES, SHORT, Desk, ask, operation
from tests.unit.kernel.test_log import SERVERS

pytestmark = pytest.mark.anyio

CREDENTIAL = "canary-credential-7f3a"
KEY = "canary-key-91bc"
ANSWER = "canary-answer-55de"
INPUT = "canary-input-c0de"

CREDENTIAL_OF_BILLING = "    credential: {profile: billing, header: Authorization, scheme: Bearer}\n"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is logged at the least severity that can be asked for; everything is as before afterwards."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in SERVERS}
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    log.configure("coordinator", level="DEBUG")
    yield written
    structlog.reset_defaults()
    root.handlers, root.level = before
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def documents(folder: Path, store: str = "*") -> str:
    """Everything in the stores' files, in and beside their tables."""
    raw = [file.read_bytes().decode("latin-1") for file in sorted(folder.glob(f"{store}.sqlite*"))]
    for file in sorted(folder.glob(f"{store}.sqlite")):
        with closing(sqlite3.connect(file)) as connection:
            tables = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
            raw += [str(connection.execute(f'SELECT * FROM "{table}"').fetchall()) for table in tables]
    return "\n".join(raw)


@pytest.mark.inv("I5", "K1")
@pytest.mark.req("R96")
async def test_nothing_that_is_secret_is_written_anywhere(
    tmp_path: Path, upstream: Billing, desk: Desk, lines: io.StringIO
) -> None:
    (tmp_path / "billing").write_text(CREDENTIAL)
    desk.credentials = Credentials(tmp_path)
    answer = {"invoice": "i-1", "token": ANSWER}
    behaviours = [
        other.answers(201, answer),
        other.refuses(422, {"token": ANSWER}),
        other.refuses(500, {"token": ANSWER}),
        other.refuses(302, {"token": ANSWER}, location=f"http://127.0.0.1:1/{ANSWER}"),
        other.answers(201, f'{{"token": "{ANSWER}", "cents": NaN}}'.encode()),
        other.answers(201, {"token": ANSWER, "more": "x" * 819_200}),
        other.drops(acts=True),
        other.answers_half,
    ]
    told: list[str] = []
    for number, behaviour in enumerate(behaviours):
        for mode in MODES:
            upstream.answers = [behaviour]
            declared = operation(mode, port=upstream.port, more=CREDENTIAL_OF_BILLING)
            offered = replace(declared, timeout=SHORT, attempts=1, redact=("/token",))
            key = f"{KEY}-{number}-{mode}" if mode in KEYED else None
            requests = [ask(offered, key=key, customer=INPUT, actor=actor) for actor in (ADA, ADA, BOB)]
            dry = requests[0].model_copy(update={"dry_run": True})
            bad = ExecuteOperation(input={"customer": 5, "secret": INPUT}, actor=ADA, idempotency_key=key)
            for asked in (dry, bad, *requests):
                told.append(await said(desk, offered, asked))
    log_text = lines.getvalue()
    assert "an attempt at another system ended" in log_text
    kept, errors = documents(tmp_path), "\n".join(told)
    assert "i-1" in kept
    for secret in (CREDENTIAL, KEY, ANSWER):
        assert secret not in kept, secret
        assert secret not in log_text, secret
        assert secret not in errors, secret
    assert INPUT not in kept
    assert INPUT not in log_text
    assert ADA in kept  # In the audit, and nowhere in the ledger.
    rows = documents(tmp_path, "ledger")
    assert (ADA in rows, BOB in rows) == (False, False)


ECHO = {
    "authorization": f"Bearer {CREDENTIAL}",
    f"by {CREDENTIAL}": [1, {"deep": f"<{CREDENTIAL}> and {CREDENTIAL}"}, None, True],
}
MASKED = {
    "authorization": "[credential]",
    "by [credential]": [1, {"deep": "<[credential]> and [credential]"}, None, True],
}


@pytest.mark.inv("K1")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ECHO, MASKED),
        (f"401 for Bearer {CREDENTIAL}!".encode(), "401 for [credential]!"),
        (json.dumps(CREDENTIAL).replace("7", "\\u0037").encode(), "[credential]"),
    ],
    ids=["JSON", "text", "escaped"],
)
async def test_a_credential_that_comes_back_is_told_to_nobody(
    tmp_path: Path, upstream: Billing, desk: Desk, mode: str, answer: object, expected: object
) -> None:
    (tmp_path / "billing").write_text(CREDENTIAL)
    desk.credentials = Credentials(tmp_path)
    offered = operation(mode, port=upstream.port, more=CREDENTIAL_OF_BILLING)
    for status in (201, 422):
        upstream.answers = [other.answers(status, answer)]
        executed = await desk.execute(offered)
        assert executed.result == expected
        assert CREDENTIAL not in documents(tmp_path)
        if executed.status == 201 and mode in KEYED:
            again = await desk.execute(offered)
            assert (again.replayed, again.result) == (True, expected)
            offered = replace(offered, id=f"{mode}-again", upstream=replace(offered.upstream, base="/v2"))


@pytest.mark.parametrize(("credential", "shown"), [("1234567", "x1234567x"), ("12345678", "x[credential]x")])
async def test_a_credential_so_short_that_it_is_found_by_chance_is_not_looked_for(
    tmp_path: Path, upstream: Billing, desk: Desk, credential: str, shown: str
) -> None:
    (tmp_path / "billing").write_text(credential)
    desk.credentials = Credentials(tmp_path)
    upstream.answers = [other.answers(201, f"x{credential}x")]
    offered = operation(port=upstream.port, more=CREDENTIAL_OF_BILLING)
    assert (await desk.execute(offered)).result == shown


async def said(desk: Desk, offered: Operation, asked: ExecuteOperation) -> str:
    """What is told but the answer itself: the error with all that it carries, a replay, a dry run's result."""
    try:
        executed = await desk.execute(offered, asked)
    except AnvilError as error:
        chain = f"{error.__cause__!r} {error.__context__!r}"
        return f"{error!r} {error.detail} {error.fields} {error.ledger_ref} {chain}"
    if executed.replayed or executed.status is None:
        return json.dumps(executed.result).replace(INPUT, "")
    return str(executed.ledger_ref)
