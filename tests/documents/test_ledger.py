"""What the pages must say of the ledger, and must not."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
SOURCES = sorted((ROOT / "services").rglob("*.py"))
STATED = ROOT / "docs" / "requirements.md"

DENIAL = re.compile(r"\b(nothing|no|not|never|neither)\b")


def sentences(text: str) -> list[str]:
    """In one line and in small letters each."""
    return [" ".join(found.lower().split()) for found in re.split(r"(?<=[.:])\s|\n\n|\n\|", text)]


@pytest.mark.req("R138")
def test_nothing_claims_that_another_system_is_called_exactly_once() -> None:
    about_headers = ("header", "signature")
    claims = [
        f"{file.relative_to(ROOT)}: {sentence}"
        for file in [*PAGES, *SOURCES]
        if file != STATED
        for sentence in sentences(file.read_text())
        if re.search(r"\bexactly[- ]once\b", sentence)
        and not DENIAL.search(sentence)
        and not any(word in sentence for word in about_headers)
    ]
    assert claims == []


@pytest.mark.req("R144")
def test_the_page_says_what_the_owner_of_a_backend_takes_over() -> None:
    page = (ROOT / "docs" / "ledger.md").read_text()
    seam = page.partition("### The seam")[2]
    owned = re.findall(r"^- \*\*its ([a-z ]+)\*\*", seam, re.MULTILINE)
    assert owned == ["schema", "credentials", "readiness", "retention", "tests of concurrency", "support"]
