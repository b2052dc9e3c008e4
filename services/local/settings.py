"""What the platform process of a local stack is told."""

from pathlib import Path
from typing import Annotated

from services.kernel.settings import DevOnly, ServiceSettings


class PlatformSettings(ServiceSettings):
    """Dev only: outside it there is Google Cloud. `tasks_callers` may enqueue."""

    issuer_key_file: Annotated[Path, DevOnly()]
    tasks_path: Path
    tasks_callers: frozenset[str]
    coordinator_url: str
    coordinator_audience: str
    runner_url: str
    runner_audience: str
    sweep_seconds: float = 1
