"""The repository stands alone: it names no machine and no package registry, and its pages lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.architecture.tree import Tree

# In two halves, so that this file does not name them either.
MACHINES = ["/tmp/" + "venv", "/wo" + "rk/", "/Us" + "ers/", "/ho" + "me/", "/.py" + "env/", "/opt/" + "wheels"]
REGISTRIES = ["pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com", "deb." + "debian.org"]
PAGES = ["README.md", "CONTRIBUTING.md", "docs/README.md"]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def named(file: Path, needles: list[str]) -> list[str]:
    """The needles that stand in a text file; an absolute path only where a path begins."""
    text = file.read_text(errors="replace")
    return [
        needle
        for needle in needles
        if re.search((r"(?<![\w.~-])" if needle[0] == "/" else "") + re.escape(needle), text)
    ]


def missing_pages(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    return [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]


def test_no_file_names_a_machine(project: Tree) -> None:
    assert {str(file): found for file in project.versioned() if (found := named(file, MACHINES))} == {}


def test_no_file_names_a_package_registry(project: Tree) -> None:
    assert {str(file): found for file in project.versioned() if (found := named(file, REGISTRIES))} == {}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_to_a_file(project: Tree, page: str) -> None:
    assert missing_pages(project.root / page) == []


@pytest.mark.parametrize("needle", MACHINES + REGISTRIES)
def test_a_planted_name_is_seen(tmp_path: Path, needle: str) -> None:
    file = tmp_path / "planted.txt"
    file.write_text(f"see {needle}x or https://{needle}x")
    assert named(file, [needle]) == [needle]


def test_a_planted_dead_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("[here](README.md) and [there](gone.md#part) and [outside](https://example.com/x.md)")
    assert missing_pages(page) == ["gone.md"]
