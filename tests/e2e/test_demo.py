"""The demo is the main job from end to end, and says the truth about it."""

import os
import subprocess
import sys

import pytest

DEMO = "import sys; from services.local.demo import run; sys.exit(run(store=sys.argv[1]))"


def shown(store: str, **environment: str) -> str:
    """What a demo that ends well says."""
    finished = subprocess.run(
        [sys.executable, "-c", DEMO, store],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **environment},
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def test_the_demo_shows_the_whole_main_job_and_ends_well() -> None:
    assert "7 of 7 as they should be" in shown("sqlite")


@pytest.mark.soak
def test_on_firestore_and_cloud_tasks_it_is_the_same_demo(firestore_emulator: str) -> None:
    assert "7 of 7 as they should be" in shown("firestore", FIRESTORE_EMULATOR_HOST=firestore_emulator)
