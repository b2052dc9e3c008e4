"""Data on stdout, everything else on stderr, and how the command ends when a stream does."""

import json
import os
import subprocess

import anyio
import pytest

from services.kernel.errors import Unavailable
from services.kernel.wire import api
from tests.unit.cli.conftest import Anvil
from tests.unit.cli.ingress import RUN, Ingress

pytestmark = pytest.mark.anyio


async def test_a_failure_has_the_shape_of_a_problem_where_programs_look_for_data(anvil: Anvil) -> None:
    result = await anvil("project", "show", "gone", "--format", "json")
    assert (result.code, result.err) == (6, "anvil: there is no project gone\n")
    problem = json.loads(result.out)["error"]
    assert len(problem.pop("traceId")) == 32
    assert problem == {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "there is no project gone",
        "code": "not_found",
        "retryable": False,
    }


async def test_a_usage_error_has_the_same_shape(anvil: Anvil) -> None:
    result = await anvil("run", "show", "--format=jsonl")
    assert (result.code, result.err) == (2, "anvil: Missing argument 'RUN'.\n")
    assert json.loads(result.out)["error"]["code"] == "usage"


async def test_a_passing_failure_may_be_tried_again_later(anvil: Anvil, ingress: Ingress) -> None:
    ingress.errors[api.GET_QUEUE.summary] = Unavailable("the store is away")
    result = await anvil("queue", "show")
    assert (result.code, result.out, result.err) == (75, "", "anvil: the store is away\n")


async def test_where_nothing_listens_one_may_try_again_later(anvil: Anvil) -> None:
    result = await anvil("queue", "show", "--endpoint", "http://127.0.0.1:1")
    assert (result.code, result.err) == (75, "anvil: http://127.0.0.1:1 cannot be reached\n")


async def test_a_closed_pipe_ends_the_command_quietly(anvil: Anvil) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = await anyio.run_process(
            anvil.command("queue", "show"), stdout=writing, check=False, env=anvil.variables(), cwd=anvil.working
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


async def test_an_output_that_is_closed_is_told(anvil: Anvil) -> None:
    shell = ("/bin/sh", "-c", 'exec "$@" >&-', "sh", *anvil.command("version"))
    done = await anyio.run_process(shell, check=False, env=anvil.variables(), cwd=anvil.working)
    assert (done.returncode, done.stderr) == (1, b"anvil: standard output is closed\n")


async def test_a_full_disk_is_told(anvil: Anvil) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = await anyio.run_process(
            anvil.command("queue", "show"), stdout=full, check=False, env=anvil.variables(), cwd=anvil.working
        )
    finally:
        os.close(full)
    assert (done.returncode, done.stderr) == (1, b"anvil: [Errno 28] No space left on device\n")


@pytest.mark.parametrize(
    "line",
    [
        ("--project", "right", "run", "list"),
        ("run", "-p", "right", "list"),
        ("run", "list", "--project=right"),
        ("--project", "wrong", "run", "list", "-p", "right"),
    ],
)
async def test_global_options_may_stand_anywhere_and_the_last_one_counts(
    anvil: Anvil, ingress: Ingress, line: tuple[str, ...]
) -> None:
    result = await anvil(*line, "--format", "json")
    assert json.loads(result.out)["data"]["items"][0]["runId"] == RUN
    assert ingress.projects_asked == ["right"]


async def test_completion_knows_the_verbs(stranger: Anvil) -> None:
    script = (await stranger("completion", "bash")).out
    assert "complete -o default -F _anvil_completion anvil" in script
    stranger.environment |= {"_ANVIL_COMPLETE": "complete_bash", "COMP_WORDS": "anvil run re", "COMP_CWORD": "2"}
    done = await anyio.run_process(
        stranger.command(), env=stranger.variables(), cwd=stranger.working, stderr=subprocess.STDOUT
    )
    assert done.stdout.decode().split() == ["rerun"]
