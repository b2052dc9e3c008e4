"""What cannot be undone is asked on a terminal first."""

import os
import pty
import signal
import subprocess
from collections.abc import Generator

import anyio
import pytest
from anyio.abc import Process

from services.kernel.wire import api
from tests.unit.cli.conftest import Anvil
from tests.unit.cli.ingress import Ingress
from tests.unit.cli.test_projects import known

pytestmark = pytest.mark.anyio

QUESTION = b"Delete project hello for good? [y/N] "


@pytest.fixture
def terminal() -> Generator[tuple[int, int]]:
    """A person's end of a terminal, and the command's."""
    person, command = pty.openpty()
    yield person, command
    os.close(person)
    os.close(command)


async def asked(anvil: Anvil, terminal: tuple[int, int]) -> Process:
    """The command, once it has asked."""
    process = await anyio.open_process(
        anvil.command("project", "delete", "hello"),
        stdin=terminal[1],
        stdout=subprocess.DEVNULL,
        env=anvil.variables(),
        cwd=anvil.working,
    )
    assert process.stderr is not None
    said = b""
    while len(said) < len(QUESTION):
        said += await process.stderr.receive()
    assert said == QUESTION
    return process


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("Yes\n", 0), ("n\n", 3), ("\n", 3), ("\x04", 3)])
async def test_only_a_yes_is_consent(
    anvil: Anvil, ingress: Ingress, terminal: tuple[int, int], answer: str, code: int
) -> None:
    known(ingress, "hello")
    async with await asked(anvil, terminal) as process:
        os.write(terminal[0], answer.encode())
        assert await process.wait() == code
    assert len(ingress.of(api.DELETE_PROJECT)) == (1 if code == 0 else 0)


async def test_a_question_can_be_interrupted(anvil: Anvil, ingress: Ingress, terminal: tuple[int, int]) -> None:
    known(ingress, "hello")
    async with await asked(anvil, terminal) as process:
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
    assert ingress.of(api.DELETE_PROJECT) == []
