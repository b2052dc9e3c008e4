"""The page about the pipeline file shows a file that a runner takes, and names every way to fail."""

import re
from pathlib import Path

from services.kernel.runs import Reason
from services.runner.pipeline import parse

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "pipeline.md").read_text()


def test_the_example_is_a_file_that_a_runner_takes() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert [step.name for step in parse(example.encode()).steps] == ["install", "test"]


def test_every_reason_of_a_failure_is_named() -> None:
    named = re.findall(r"^\| `([a-z_]+)` \| ", PAGE.partition("## How a run ends")[2], re.MULTILINE)
    assert sorted(named) == sorted(Reason)
