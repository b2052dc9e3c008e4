"""A push as GitHub would tell of it: payload, headers, signature.

Pure.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass

NO_COMMIT = "0" * 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A delivery about `branch` of the repository, now at `commit_sha`."""

    repository_url: str
    commit_sha: str
    delivery_id: str
    before_sha: str = NO_COMMIT
    branch: str = "main"

    @property
    def body(self) -> bytes:
        return json.dumps(
            {
                "ref": f"refs/heads/{self.branch}",
                "before": self.before_sha,
                "after": self.commit_sha,
                "created": self.before_sha == NO_COMMIT,
                "deleted": False,
                "forced": False,
                "head_commit": {"id": self.commit_sha, "message": "a commit"},
                "commits": [],
                "repository": {"id": 1, "full_name": "demo/origin", "clone_url": self.repository_url},
                "pusher": {"name": "ada"},
            },
            separators=(",", ":"),
        ).encode()

    def headers(self, *, secret: str) -> Mapping[str, str]:
        """What GitHub sends along, signed over the raw body."""
        digest = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        return {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/local",
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": self.delivery_id,
            "X-Hub-Signature-256": f"sha256={digest}",
        }
