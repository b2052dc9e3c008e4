"""A run's log: decoded, bounded, sent in batches. The run's result never depends on it."""

from services.runner.logs.limits import LogLimits
from services.runner.logs.run_log import RunLog

__all__ = ["LogLimits", "RunLog"]
