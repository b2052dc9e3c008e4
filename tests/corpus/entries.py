"""Real deliveries, where a corpus of them is at hand: a folder named by `ANVIL_CORPUS`, with an `index.json`."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tests.corpus.senders import JSON, Sender, Sent, hexdigest, send, signed_text

Fields = Mapping[str, object]

FOLDER = Path(os.environ.get("ANVIL_CORPUS", "no-corpus"))
ABSENT = not (FOLDER / "index.json").is_file()
REASON = "ANVIL_CORPUS names no folder of deliveries"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A body with how it is sent, and what must become of it. `headers` have places for ids and signatures."""

    name: str
    body: bytes
    sender: Sender
    event: str
    media_type: str
    headers: Mapping[str, str]
    expected: Fields

    @property
    def result(self) -> str:
        return str(self.expected["result"])

    @property
    def tracked(self) -> str:
        """The branch that the project follows."""
        assumed = self.expected.get("trackedBranchAssumed")
        branch = self.expected["branch"] if self.result == "accepted" else "main"
        return str(assumed or branch)

    @property
    def repository_url(self) -> str | None:
        """A URL by which the body knows its repository."""
        if url := self.expected.get("repositoryUrl"):
            return str(url)
        try:
            body = json.loads(signed_text(self.body, self.media_type))
        except (ValueError, RecursionError, KeyError):
            return None
        match body:
            case {"project": {"git_http_url": str(url)}} | {"repository": {"clone_url": str(url)}}:
                return url
            case _:
                return None

    def sent(self, *, id_: str, secret: str) -> Sent:
        if not self.headers:
            return send(self.sender, self.body, id_=id_, event=self.event, secret=secret, media_type=self.media_type)
        digest = hexdigest(secret, self.body if self.sender is Sender.GITHUB else self._text)
        filled = {"<uuid>": id_, "<hex>": digest, "sha256=<hex>": f"sha256={digest}", "<secret>": secret}
        return Sent(headers={name: filled.get(value, value) for name, value in self.headers.items()}, body=self.body)

    @property
    def _text(self) -> bytes:
        return signed_text(self.body, self.media_type)


def entries() -> Iterator[Entry]:
    index = _index()
    for found in [*index.get("public", []), *index.get("derived", [])]:
        expected = cast("Fields", found["expected"])
        headers = cast("Mapping[str, str]", found.get("headers", {}))
        provider = str(found.get("provider") or expected["provider"])
        yield Entry(
            name=str(found["file"]),
            body=(FOLDER / str(found["file"])).read_bytes(),
            sender=Sender(str(found.get("flavor") or provider)),
            event=str(found.get("rawEvent") or expected["rawEvent"]),
            media_type=str(found.get("contentType") or headers.get("Content-Type") or JSON),
            headers=headers,
            expected=expected,
        )


def vectors(kind: str) -> list[Fields]:
    """Published signatures: `file_vectors` or `inline_vectors`."""
    return [vector for vector in _index().get(kind, []) if vector.get("file", "inline") is not None]


def _index() -> Mapping[str, list[Fields]]:
    if ABSENT:
        return {}
    return cast("Mapping[str, list[Fields]]", json.loads((FOLDER / "index.json").read_text()))
