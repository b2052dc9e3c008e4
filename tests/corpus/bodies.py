"""Pushes as each host writes them, hand-made; a test overrides only what it is about."""

import json
from collections.abc import Mapping

from tests.corpus.senders import Sender

REPOSITORY = "https://code.example/octo/hello.git"
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
BEFORE = "9049f1265b7d61be4a8904a9a27120d2064dab3b"
ZERO = "0" * 40

Body = dict[str, object]

_COMMIT = {"id": SHA, "message": "Say hello", "added": ["hello.txt"], "modified": [], "removed": []}
_OWN: Mapping[Sender, Body] = {
    Sender.GITHUB: {"created": False, "deleted": False, "forced": False, "head_commit": _COMMIT},
    Sender.GITLAB: {"object_kind": "push", "event_name": "push", "checkout_sha": SHA, "total_commits_count": 1},
    Sender.GITEA: {"total_commits": 1, "head_commit": _COMMIT, "compare_url": "https://code.example/compare"},
    Sender.FORGEJO: {"total_commits": 1, "head_commit": _COMMIT},
    Sender.GOGS: {"compare_url": "https://code.example/compare"},
}


def push(sender: Sender, **changed: object) -> Body:
    """A push of `SHA` to `main`; a field given as None is left out."""
    common: Body = {"ref": "refs/heads/main", "before": BEFORE, "after": SHA, "commits": [_COMMIT]}
    whole = common | _OWN[sender] | repository(sender) | changed
    return {name: value for name, value in whole.items() if value is not None}


def repository(sender: Sender, url: str = REPOSITORY) -> Body:
    """What a body says of the repository at `url`."""
    web = url.removesuffix(".git")
    if sender is Sender.GITLAB:
        return {"project_id": 7, "project": {"id": 7, "git_http_url": url, "web_url": web, "default_branch": "main"}}
    return {"repository": {"id": 7, "clone_url": url, "html_url": web, "default_branch": "main"}}


def raw(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
