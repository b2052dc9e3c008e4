"""What a run's commands are given beyond what every process has. Pure."""

from collections.abc import Mapping

from services.kernel.ids import CommitSha
from services.kernel.wire.runs import Job


def environment(job: Job, commit: CommitSha, own: Mapping[str, str]) -> Mapping[str, str]:
    """The pipeline's own variables and Anvil's, which win. Values are data: no shell ever reads them (A39)."""
    return {
        **own,
        "CI": "true",
        "ANVIL": "true",
        "ANVIL_RUN_ID": job.run_id,
        "ANVIL_PROJECT": job.project,
        "ANVIL_BRANCH": job.branch,
        "ANVIL_COMMIT_SHA": commit,
    }
