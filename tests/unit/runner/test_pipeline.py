"""What `.anvil.yml` may say, and how it is told what is wrong."""

from contextlib import suppress
from datetime import timedelta

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from services.runner.pipeline import ConfigInvalid, Deploy, Pipeline, Step, parse

WHOLE = b"""\
version: 1
run:
  workingDirectory: app/web
  timeoutSeconds: 900
  env: {LEVEL: full, _EMPTY: ""}
  steps:
    - name: test
      run: make test
      timeoutSeconds: 300
    - name: lint
      run: |
        make lint
        make types
deploy:
  site:
    steps:
      - {name: build, run: make site}
"""


def file(run: str = "steps: []", *, more: str = "") -> bytes:
    """A valid file with this `run` section and further top-level lines."""
    body = "".join(f"  {line}\n" for line in run.splitlines())
    return f"version: 1\nrun:\n{body}{more}\n".encode()


def step(line: str) -> bytes:
    return file(f"steps:\n  - {line}")


def refusal(raw: bytes) -> ConfigInvalid:
    with pytest.raises(ConfigInvalid) as refused:
        parse(raw)
    return refused.value


def test_a_whole_file_is_read_in_every_field() -> None:
    assert parse(WHOLE) == Pipeline(
        steps=(
            Step(name="test", script="make test", timeout=timedelta(seconds=300)),
            Step(name="lint", script="make lint\nmake types\n"),
        ),
        working_directory="app/web",
        timeout=timedelta(seconds=900),
        environment={"LEVEL": "full", "_EMPTY": ""},
        deploys={"site": Deploy(steps=(Step(name="build", script="make site"),))},
    )


def test_a_pipeline_may_have_no_steps() -> None:
    assert parse(file("steps: []")) == Pipeline(steps=())


def test_a_refusal_names_line_and_field() -> None:
    refused = refusal(b"version: 1\nrun:\n  steps:\n    - name: test\n      run: true\n")
    assert (refused.line, refused.field) == (5, "run.steps[0].run")
    assert str(refused) == "line 5: run.steps[0].run: must be text, not a boolean; write it in quotes: 'true'"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "the file is empty"),
        (b"# nothing but a comment\n", "the file is empty"),
        (b"~", "line 1: must be a mapping, not empty"),
        (b"- 1", "line 1: must be a mapping, not a list"),
        (b"version: 1", "line 1: 'run' is missing"),
        (b"run: {steps: []}", "line 1: 'version' is missing"),
        (b"version: 2\nrun: {steps: []}", "line 1: version: only version 1 is known"),
        (b"version: '1'\nrun: {steps: []}", "line 1: version: must be a whole number"),
        (b"version: 0b1\nrun: {steps: []}", "line 1: version: must be a whole number"),
        (b"version: 1\nrun: {}", "line 2: run: 'steps' is missing"),
        (b"version: 1\nrun:", "line 2: run: must be a mapping, not empty"),
        (file(more="image: x"), "line 4: image: unknown field; known are deploy, run, version"),
        (file("steps: {}"), "line 3: run.steps: must be a list, not a mapping"),
        (file("steps: []\nsteps: []"), "line 4: run.steps: is given twice"),
        (step("{name: a}"), "line 4: run.steps[0]: 'run' is missing"),
        (
            step("{name: a, run: b, image: c}"),
            "line 4: run.steps[0].image: unknown field; known are name, run, timeoutSeconds",
        ),
        (step("{name: ' ', run: b}"), "line 4: run.steps[0].name: must not be blank"),
        (step("{name: a, run: ''}"), "line 4: run.steps[0].run: must not be blank"),
        (step("{name: a, run: }"), "line 4: run.steps[0].run: must be text, not empty"),
        (step('{name: "a\\nb", run: c}'), "line 4: run.steps[0].name: must be one line of printable characters"),
        (step('{name: a, run: "\\0"}'), "line 4: run.steps[0].run: contains NUL, or half of a surrogate pair"),
        (
            step('{name: a, run: "\\ud800"}'),
            "line 4: run.steps[0].run: contains NUL, or half of a surrogate pair",
        ),
        (
            step("{name: a, run: b, timeoutSeconds: 0}"),
            "line 4: run.steps[0].timeoutSeconds: must be from 1 to 1740 seconds",
        ),
        (file("timeoutSeconds: 1741\nsteps: []"), "line 3: run.timeoutSeconds: must be from 1 to 1740 seconds"),
        (file("timeoutSeconds: 1:30\nsteps: []"), "line 3: run.timeoutSeconds: must be a whole number"),
        (file("timeoutSeconds: 1.5\nsteps: []"), "line 3: run.timeoutSeconds: must be a whole number"),
        (
            file("env: {LEVEL: 3}\nsteps: []"),
            "line 3: run.env.LEVEL: must be text, not a number; write it in quotes: '3'",
        ),
        (
            file("env: {LEVEL: yes}\nsteps: []"),
            "line 3: run.env.LEVEL: must be text, not a boolean; write it in quotes: 'yes'",
        ),
        (file("env: {PATH: /x}\nsteps: []"), "line 3: run.env.PATH: this variable is not the file's to set"),
        (
            file("env: {ANVIL_RUN_ID: x}\nsteps: []"),
            "line 3: run.env.ANVIL_RUN_ID: this variable is not the file's to set",
        ),
        (
            file("env: {LD_PRELOAD: x}\nsteps: []"),
            "line 3: run.env.LD_PRELOAD: this variable is not the file's to set",
        ),
        (
            file("env: {level: x}\nsteps: []"),
            "line 3: run.env.level: a variable's name is made of A-Z, 0-9 and _, and begins with no digit",
        ),
        (
            file("workingDirectory: /etc\nsteps: []"),
            "line 3: run.workingDirectory: must be a path inside the repository, without '..'",
        ),
        (
            file("workingDirectory: a/../../b\nsteps: []"),
            "line 3: run.workingDirectory: must be a path inside the repository, without '..'",
        ),
        (
            file("workingDirectory: ./.git/hooks\nsteps: []"),
            "line 3: run.workingDirectory: must not be inside .git",
        ),
        (
            file(more="deploy: {Site: {steps: []}}"),
            "line 4: deploy.Site: a deploy key is made of a-z, 0-9 and '-', at most 63 characters",
        ),
        (file(more="deploy: {site: {}}"), "line 4: deploy.site: 'steps' is missing"),
        (
            file(more="deploy: {site: {steps: [{name: a, run: [b]}]}}"),
            "line 4: deploy.site.steps[0].run: must be text, not a list",
        ),
        (b"version: 1\n---\nversion: 1", "line 2: there is a second document; one file is one document"),
        (
            b"version: 1\nrun: !!python/object/apply:os.system [x]",
            "line 2: tags like 'tag:yaml.org,2002:python/object/apply:os' are not allowed",
        ),
        (b"version: !!int '1'", "line 1: tags like 'tag:yaml.org,2002:int' are not allowed"),
        (b"version: [", "line 1: not YAML: expected the node content, but found '<stream end>'"),
        (b"version: 1\nrun: *steps", "line 2: not YAML: found undefined alias 'steps'"),
        (b"version: 1\nrun: \xff", "line 2: the file is not UTF-8"),
        (b"a: \x07", "not YAML: unacceptable character #x0007: special characters are not allowed"),
        (b"[" * 1000, "line 1: nested deeper than 16 levels"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(raw: bytes, message: str) -> None:
    assert str(refusal(raw)) == message


@pytest.mark.parametrize(
    ("fits", "too_much"),
    [
        (step(f"{{name: {'n' * 64}, run: b}}"), step(f"{{name: {'n' * 65}, run: b}}")),
        (step(f"{{name: {'ü' * 32}, run: b}}"), step(f"{{name: {'ü' * 33}, run: b}}")),
        (step(f"{{name: a, run: {'c' * 4096}}}"), step(f"{{name: a, run: {'c' * 4097}}}")),
        (file("steps:\n" + "- {name: a, run: b}\n" * 20), file("steps:\n" + "- {name: a, run: b}\n" * 21)),
        (file("timeoutSeconds: 1740\nsteps: []"), file("timeoutSeconds: 1741\nsteps: []")),
        (file(more="#" * (64 * 1024 - 29)), file(more="#" * (64 * 1024 - 28))),
    ],
)
def test_each_limit_holds_to_the_byte(fits: bytes, too_much: bytes) -> None:
    parse(fits)
    refusal(too_much)


def test_an_anchor_within_the_limits_may_be_used() -> None:
    parsed = parse(file("steps:\n  - &a {name: a, run: b}\n  - *a"))
    assert [step.name for step in parsed.steps] == ["a", "a"]


@pytest.mark.parametrize(
    "raw",
    [
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in b"bcdefghi"),
        b"a: &a [*a]",
        b"a: &a " + b"x" * 60_000 + b"\nb: [*a, *a]",
    ],
)
def test_anchors_that_expand_past_the_limits_are_refused(raw: bytes) -> None:
    assert "grows too large when its anchors are expanded" in str(refusal(raw))


NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12).filter(str.strip)
SCRIPTS = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=60).filter(str.strip)
STEPS = st.lists(
    st.builds(Step, name=NAMES, script=SCRIPTS, timeout=st.integers(1, 1740).map(lambda s: timedelta(seconds=s))),
    max_size=20,
)


@given(STEPS, st.dictionaries(st.from_regex(r"X[A-Z0-9_]{0,8}", fullmatch=True), SCRIPTS, max_size=5))
def test_what_a_yaml_writer_writes_is_read_back_the_same(steps: list[Step], environment: dict[str, str]) -> None:
    written = {
        "version": 1,
        "run": {
            "env": environment,
            "steps": [
                {"name": s.name, "run": s.script, "timeoutSeconds": int(s.timeout.total_seconds())}
                for s in steps
                if s.timeout is not None
            ],
        },
    }
    raw = yaml.safe_dump(written, allow_unicode=True).encode()  # pyright: ignore[reportUnknownMemberType]
    assert parse(raw) == Pipeline(steps=tuple(steps), environment=environment)


FRAGMENTS = [
    b"version: 1\n",
    b"run:\n",
    b"  steps:\n",
    b"  - ",
    b"{",
    b"}",
    b"[",
    b"]",
    b": ",
    b"&a ",
    b"*a",
    b"!!x ",
    b"'",
]


@given(st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=6), max_size=30).map(b"".join))
def test_whatever_the_bytes_they_parse_or_are_refused(raw: bytes) -> None:
    with suppress(ConfigInvalid):
        assert isinstance(parse(raw), Pipeline)
