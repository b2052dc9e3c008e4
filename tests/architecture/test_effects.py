"""Time, randomness, threads, processes and the environment stay where they belong."""

import pytest

from tests.architecture.effects import violations
from tests.architecture.tree import Tree

PLANTED = [
    ("time comes from the Clock", "from datetime import datetime as dt\ndt.now()"),
    ("time comes from the Clock", "import datetime\ndatetime.datetime.utcnow()"),
    ("time comes from the Clock", "import time as t\nt.monotonic()"),
    ("time comes from the Clock", "from time import sleep"),
    ("time comes from the Clock", "import asyncio\nasyncio.sleep(1)"),
    ("randomness comes from Ids", "import random"),
    ("randomness comes from Ids", "import secrets\nsecrets.token_hex()"),
    ("randomness comes from Ids", "from uuid import uuid4"),
    ("randomness comes from Ids", "from uuid_utils import uuid7"),
    ("randomness comes from Ids", "import os\nos.urandom(16)"),
    ("no threads", "import threading"),
    ("no threads", "import asyncio\nasyncio.to_thread(print)"),
    ("no threads", "import asyncio\nasyncio.get_running_loop().run_in_executor(None, print)"),
    ("no threads", "from concurrent.futures import ThreadPoolExecutor"),
    ("processes are started by checkout, sandbox and the local stack", "import subprocess"),
    (
        "processes are started by checkout, sandbox and the local stack",
        "import asyncio\nasyncio.create_subprocess_exec('git')",
    ),
    ("processes are started by checkout, sandbox and the local stack", "import os\nos.system('git')"),
    ("the environment is read by main", "import os\nos.environ['PORT']"),
    ("the environment is read by main", "from os import getenv"),
    ("Any is for adapters", "from typing import Any"),
]

ALLOWED = [
    ("services/kernel/adapters/planted.py", "import time, random, threading, uuid"),
    ("services/coordinator/main.py", "import os, time\nos.environ"),
    ("services/local/planted.py", "import subprocess"),
    ("services/runner/sandbox/planted.py", "import subprocess"),
    ("services/runner/checkout.py", "import asyncio\nasyncio.create_subprocess_exec"),
    ("services/cli/planted.py", "import time"),
    ("services/coordinator/planted.py", "from datetime import UTC, datetime, timedelta"),
]


def test_effects_stay_where_they_belong(project: Tree) -> None:
    assert list(violations(project.sources())) == []


@pytest.mark.parametrize(("rule", "lines"), PLANTED)
def test_a_planted_effect_is_seen(copy: Tree, rule: str, lines: str) -> None:
    copy.plant("services/coordinator/planted.py", lines)
    assert any(found.endswith(f": {rule}") and "planted.py" in found for found in violations(copy.sources()))


@pytest.mark.parametrize(("path", "lines"), ALLOWED)
def test_an_effect_in_its_place_is_allowed(copy: Tree, path: str, lines: str) -> None:
    copy.plant(path, lines)
    assert not any(found.startswith(f"{path}:") for found in violations(copy.sources()))
