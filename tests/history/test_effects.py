"""The file of what was done, as processes write it that know nothing of each other."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.history.effects import Effects, violations

PROCESSES, TIMES = 4, 200


@pytest.fixture
def effects(tmp_path: Path) -> Effects:
    return Effects(tmp_path / "what was done")


def test_nothing_was_done_while_there_is_no_file(effects: Effects) -> None:
    assert effects.read() == {}


def test_what_happened_is_counted(effects: Effects) -> None:
    for effect in ("run_a", "run_b", "run_a"):
        effects.happened(effect)

    assert effects.read() == {"run_a": 2, "run_b": 1}


def test_a_line_that_was_being_written_is_left_out(effects: Effects) -> None:
    effects.happened("run_a")
    with effects.file.open("ab") as file:
        file.write(b"run_")

    assert effects.read() == {"run_a": 1}


@pytest.mark.parametrize("effect", ["", "two\nlines"])
def test_an_effect_is_one_line(effects: Effects, effect: str) -> None:
    with pytest.raises(ValueError, match="not one line"):
        effects.happened(effect)


def test_processes_that_write_at_once_lose_nothing(effects: Effects) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.history.effects import Effects\n"
        f"for _ in range({TIMES}): Effects(Path(sys.argv[1])).happened(sys.argv[2])"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(effects.file), f"writer {number}"])
        for number in range(PROCESSES)
    ]

    assert [writer.wait() for writer in writers] == [0] * PROCESSES
    assert effects.read() == {f"writer {number}": TIMES for number in range(PROCESSES)}


def test_a_shell_says_the_same(effects: Effects) -> None:
    subprocess.run(["sh", "-c", effects.command("run $HOME_OF")], check=True, env={"HOME_OF": "a"})

    assert effects.read() == {"run a": 1}


def test_what_was_done_twice_or_for_nobody_is_a_violation(effects: Effects) -> None:
    for effect in ("run_a", "run_b", "run_b", "run_x"):
        effects.happened(effect)

    assert list(violations(effects.read(), expected={"run_a", "run_b", "run_c"})) == [
        "run_b was done 2 times",
        "run_x was done, and nobody asked",
    ]
