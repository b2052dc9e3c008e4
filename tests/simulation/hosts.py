"""What Git hosts send: pushes and other events as each writes them, signed with the secret that it was given."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from services.kernel.wire.deliveries import Provider
from tests.corpus import bodies
from tests.corpus.senders import Sender, Sent, send
from tests.unit.coordinator.builders import OTHER_SHA, REPOSITORY, SHA

FORGED_SHA = "badc0de" + "0" * 33
"""What is told of by those who have no secret: no run, and no delivery, may ever be of it."""

SENDERS: dict[str, Sequence[Sender]] = {
    Provider.GITHUB: (Sender.GITHUB,),
    Provider.GITLAB: (Sender.GITLAB,),
    Provider.GITEA: (Sender.GITEA, Sender.FORGEJO, Sender.GOGS),
}


class About(StrEnum):
    """What a delivery is about, by what must become of it."""

    PUSH = "a push to the tracked branch"
    BRANCH = "a push to another branch"
    EVENT = "another event"
    PING = "a ping"
    ELSEWHERE = "a push to another repository"
    NOTHING = "nothing that can be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One delivery before it is signed. `layout`: how its JSON is written, which must make no difference."""

    sender: Sender
    delivery_id: str
    about: About = About.PUSH
    sha: str = SHA
    layout: int | None = None

    def signed(self, secret: str) -> Sent:
        body = b"{" if self.about is About.NOTHING else json.dumps(self._body(), indent=self.layout).encode()
        return send(self.sender, body, id_=self.delivery_id, event=self._event(), secret=secret)

    def _event(self) -> str | None:
        gitlab = self.sender is Sender.GITLAB
        match self.about:
            case About.PING:
                return "Pipeline Hook" if gitlab else "ping"
            case About.EVENT:
                return "Issue Hook" if gitlab else "issues"
            case _:
                return None

    def _body(self) -> bodies.Body:
        other = self.about is About.ELSEWHERE
        about = bodies.repository(self.sender, f"{REPOSITORY}-of-others.git" if other else f"{REPOSITORY}.git")
        if self.about in (About.PING, About.EVENT):
            return about
        commit: bodies.Body = {"id": self.sha, "message": "Say hello", "added": ["hello.txt"]}
        changed: bodies.Body = {"after": self.sha, "before": OTHER_SHA, "commits": [commit], **about}
        if self.about is About.BRANCH:
            changed["ref"] = "refs/heads/topic"
        if self.sender is Sender.GITLAB:
            changed["checkout_sha"] = self.sha
        elif self.sender is not Sender.GOGS:
            changed["head_commit"] = commit
        return bodies.push(self.sender, **changed)
