"""The demo is the main job from end to end, and says the truth about it."""

import subprocess
import sys

DEMO = "import sys; from services.local.demo import run; sys.exit(run())"


def test_the_demo_shows_the_whole_main_job_and_ends_well() -> None:
    finished = subprocess.run([sys.executable, "-c", DEMO], check=False, capture_output=True, text=True, timeout=100)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "7 of 7 as they should be" in finished.stdout
