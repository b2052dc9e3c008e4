"""Nonsense on the command line: one line that says what was expected, and exit code 2."""

from pathlib import Path

import pytest

from tests.unit.cli.machine import say

RUN = "run_0123456789abcdefghijkl"

NOUNS = (
    "up, demo, project, run, queue, webhook, delivery, operation, ledger, pipeline, auth, doctor, version, completion"
)
NONSENSE: list[tuple[str, str]] = [
    (
        "",
        f"expected one of {NOUNS}",
    ),
    ("deploy list", "not 'deploy'"),
    ("operation show", "operation: expected one of list, execute, not 'show'"),
    ("ledger delete", "ledger: expected one of list, show, complete, release, note, not 'delete'"),
    ("config explain", "not 'config'"),
    ("run", "run: expected one of start, list, show, watch, logs, cancel, rerun"),
    (f"run explain {RUN}", "not 'explain'"),
    ("webhook try github", "webhook: expected one of put, list, rotate-secret, test, delete, not 'try'"),
    ("pipeline run", "pipeline: expected one of check, not 'run'"),
    ("--timeout nope version", "--timeout: expected a time such as 30s, 5m or 1h, not 'nope'"),
    ("--nonsense", "No such option: --nonsense"),
    ("run list --nonsense", "No such option: --nonsense"),
    ("run list extra", "unexpected extra argument"),
    ("run list", "expected a project: --project, ANVIL_PROJECT, or `project` in ./.anvil.toml"),
    ("run list -p", "requires an argument"),
    ("run list -p Not_A_Slug", "expected a project's slug (a-z, 0-9 and -, at most 63), not 'Not_A_Slug'"),
    ("run list -p ../../me", "expected a project's slug"),
    ("run list -p hello --limit 0", "greater than or equal to 1"),
    ("run list -p hello --limit many", "valid integer"),
    ("run list --format xml", "'table', 'json', 'jsonl'"),
    ("run list --timeout soon", "--timeout: expected a time such as 30s, 5m or 1h, not 'soon'"),
    ("run list --timeout 0", "--timeout: expected a time"),
    ("run list --timeout -5", "--timeout: expected a time"),
    ("run list --endpoint nonsense", "--endpoint: expected a URL such as https://anvil.example.com, not 'nonsense'"),
    ("run list --endpoint ftp://anvil", "--endpoint: expected a URL"),
    ("run list --endpoint https://user@anvil", "--endpoint: expected a URL"),
    ("run list --endpoint https://anvil:99999", "--endpoint: expected a URL"),
    ("run list --endpoint http://anvil.example.com", "--endpoint: expected https"),
    ("run show", "Missing argument 'RUN'"),
    ("run show latest", "expected a run's id (run_ and 22 letters and digits), not 'latest'"),
    (f"run show {RUN}/../../me", "expected a run's id"),
    (f"run watch {RUN}x", "expected a run's id"),
    ("run start -p hello --branch=", "--branch: String should have at least 1 character, not ''"),
    (
        "run start -p hello --idempotency-key ä",
        "expected a key of at most 255 printable ASCII characters without spaces",
    ),
    ("project create hello", "Missing option '--repository-url'"),
    ("project create Hello --repository-url https://x", "expected a project's slug"),
    ("project create hello --repository-url=", "--repository-url: String should have at least 1 character"),
    ("project update hello", "expected something to change"),
    ("webhook put", "Missing argument 'PROVIDER'"),
    ("webhook put bitbucket", "'PROVIDER': 'bitbucket' is not one of 'github', 'gitlab', 'gitea'"),
    ("webhook put github -p hello --secret hunter2", "--secret: expected - (standard input)"),
    ("webhook put github -p hello --secret - --secret-file x", "expected one of --secret-file and --secret, not both"),
    ("webhook put github -p hello --secret-file gone", "--secret-file: expected a readable text file"),
    ("delivery list -p hello --outcome lost", "'accepted', 'ignored_ping'"),
    ("delivery list -p hello --since yesterday", "--since:"),
    ("delivery list -p hello --since 2026-11-30T09:00:00", "--since: Input should have timezone info"),
    ("delivery show 1 -p hello", "expected a delivery's id (dlv_ and 22 letters and digits), not '1'"),
    ("auth token --role king", "'viewer', 'operator', 'admin'"),
    ("auth token --role admin --as ann@example.com", "expected one of --role and --as, not both"),
    ("auth token --as ann@example.com --endpoint https://anvil.example.com", "expected the local stack"),
    ("auth token --state-dir gone", "gone has no key; `anvil up` makes one"),
    ("pipeline check gone.yml", "expected a pipeline file: gone.yml: No such file or directory"),
    ("up --port 70000", "less than or equal to 65535"),
    ("up --services ingress,cron", "--services: expected some of ingress,coordinator,runner, not 'cron'"),
    ("up --store postgres", "'sqlite', 'firestore'"),
    ("up --instances 2", "--instances: expected --store firestore too"),
    ("up --store firestore --services ingress", "--services: expected --store sqlite"),
    ("completion tcsh", "'bash', 'zsh', 'fish'"),
]


@pytest.mark.parametrize(("line", "expected"), NONSENSE, ids=[line or "nothing" for line, _ in NONSENSE])
def test_nonsense_is_answered_on_one_line_that_says_what_was_expected(tmp_path: Path, line: str, expected: str) -> None:
    said = say(*line.split(), home=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("anvil: ")
    assert said.err.count("\n") == 1
    assert expected in said.err


def test_what_is_not_understood_cannot_drive_the_terminal(tmp_path: Path) -> None:
    said = say("run", "show", "a\x1b]0;owned\x07b\nc", home=tmp_path)
    assert "\x1b" not in said.err
    assert said.err.count("\n") == 1


def test_help_is_no_error(tmp_path: Path) -> None:
    assert say("run", "start", "--help", home=tmp_path).code == 0


def test_the_version_is_one_word_for_programs(tmp_path: Path) -> None:
    assert say("version", "--format", "jsonl", home=tmp_path).out.startswith('{"data":{"version":"')


PIPELINE = """\
version: 1
run:
  steps:
    - {name: test, run: make test}
"""


def test_a_good_pipeline_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "good.yml").write_text(PIPELINE)
    said = say("pipeline", "check", str(tmp_path / "good.yml"), "--format", "jsonl", home=tmp_path)
    assert (said.code, said.out) == (0, f'{{"data":{{"file":"{tmp_path}/good.yml","steps":["test"]}}}}\n')


def test_a_bad_pipeline_file_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yml"
    file.write_text(PIPELINE + "    - {name: lint, command: make lint}\n")
    said = say("pipeline", "check", str(file), home=tmp_path)
    assert said.code == 1
    assert said.err.startswith(f"anvil: {file}: line 5: run.steps[1]")
