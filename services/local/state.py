"""The state directory: everything the local stack keeps, in one place that survives restarts.

    issuer.pem            the key that signs identity tokens; `anvil auth token` signs with it too
    webhook-keyring.json  seals webhook secrets
    roles.json            what a person may do
    operations.yml        the catalogue of operations, empty at first
    credentials/          a file for each credential profile of the catalogue
    anvil.sqlite          the store
    tasks.sqlite          tasks that are not done yet
    work/                 checkouts of the run at hand
    logs/                 one file a service
    endpoint              the URL of the running ingress
    lock                  held while a stack runs on the directory

Readable by its owner alone: who can read it can be anybody in the stack.
"""

import base64
import fcntl
import json
import os
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from services.kernel.adapters.local_minter import create_key

ROLES = (
    {"principal": "viewer@anvil.local", "role": "viewer", "projects": ["*"]},
    {"principal": "operator@anvil.local", "role": "operator", "projects": ["*"]},
    {"principal": "admin@anvil.local", "role": "admin", "projects": ["*"]},
)

NO_OPERATIONS = """\
# What may be called at other systems; read when the stack starts. See docs/operations.md.
version: 1
operations: []
"""

LONG_LOG = 16 * 1024 * 1024
"""Bytes."""


class StateInUse(Exception):
    """Another local stack runs on this state directory."""


@dataclass(frozen=True, slots=True)
class StateDirectory:
    root: Path

    @property
    def issuer_key(self) -> Path:
        return self.root / "issuer.pem"

    @property
    def webhook_keyring(self) -> Path:
        return self.root / "webhook-keyring.json"

    @property
    def roles(self) -> Path:
        return self.root / "roles.json"

    @property
    def operations(self) -> Path:
        return self.root / "operations.yml"

    @property
    def credentials(self) -> Path:
        return self.root / "credentials"

    @property
    def store(self) -> Path:
        return self.root / "anvil.sqlite"

    @property
    def tasks(self) -> Path:
        return self.root / "tasks.sqlite"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def endpoint(self) -> Path:
        return self.root / "endpoint"

    def log(self, service: str) -> Path:
        return self.root / "logs" / f"{service}.log"


def default_root(environment: Mapping[str, str]) -> Path:
    """`$XDG_STATE_HOME/anvil`, or its default; a relative `XDG_STATE_HOME` counts as unset, as its standard says."""
    given = Path(environment.get("XDG_STATE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local" / "state") / "anvil"


@contextmanager
def held(root: Path) -> Generator[StateDirectory]:
    """The directory, complete and ours alone until the end of the block.

    Raises:
        StateInUse: another stack holds it.
    """
    state = StateDirectory(root.absolute())
    state.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (state.root / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StateInUse(f"another `anvil up` runs on {state.root}; stop it or give --state-dir") from error
        _complete(state)
        yield state


def _complete(state: StateDirectory) -> None:
    """Make what is missing; what is there stays, so that secrets sealed before still open."""
    state.root.chmod(0o700)
    for folder in (state.work, state.credentials, state.log("any").parent):
        folder.mkdir(mode=0o700, exist_ok=True)
    if not state.issuer_key.exists():
        create_key(state.issuer_key)
    if not state.webhook_keyring.exists():
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        publish(state.webhook_keyring, json.dumps({"current": "1", "keys": {"1": key}}))
    if not state.roles.exists():
        publish(state.roles, json.dumps(ROLES, indent=2))
    if not state.operations.exists():
        publish(state.operations, NO_OPERATIONS)


def shorten(log: Path) -> None:
    """Begin a log anew when it has grown long; what it had is kept as `….old`, until the next time."""
    if log.exists() and log.stat().st_size > LONG_LOG:
        log.replace(log.with_suffix(".log.old"))


def publish(path: Path, text: str) -> None:
    """Write a file of ours, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.new")
    with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    unfinished.replace(path)
