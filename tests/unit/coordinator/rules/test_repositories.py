"""Whether a payload's repository is a project's."""

import pytest

from services.coordinator.rules.repositories import names_repository, same_repository

SITE = "https://github.com/acme/site"
OWN = "https://git.example.com:8443/acme/site.git"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/site",
        "https://github.com/acme/site/",
        "https://github.com/acme/site.git",
        "https://github.com/acme/site.git/",
        "https://github.com:443/acme/site",
        "http://github.com/acme/site",
        "http://github.com:80/acme/site",
        "https://user:password@github.com/acme/site.git",
        "https://GitHub.com/Acme/Site.git",
        "ssh://git@github.com/acme/site.git",
        "ssh://git@github.com:22/acme/site.git",
        "git://github.com:9418/acme/site.git",
        "git@github.com:acme/site.git",
        "git@GITHUB.com:Acme/Site",
        "github.com:acme/site",
        "git@github.com:/acme/site.git",
    ],
)
def test_one_repository_has_many_urls(url: str) -> None:
    assert same_repository(url, SITE)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/site2",
        "https://github.com/acme/site-backup",
        "https://github.com/acme/sit",
        "https://github.com/acme/site/wiki",
        "https://github.com/acme",
        "https://github.com/evil/acme/site",
        "https://github.com.evil.example/acme/site",
        "https://github.com@evil.example/acme/site",
        "https://evil.example/github.com/acme/site",
        "https://github.com:8443/acme/site",
        "ssh://git@github.com:443/acme/site",
        "git@evil.example:acme/site",
        "https://gitlab.com/acme/site",
    ],
)
def test_what_only_looks_like_it_is_another_repository(url: str) -> None:
    assert not same_repository(url, SITE)


@pytest.mark.parametrize("url", ["", "site", "acme/site", "https://", "https:///acme/site", "https://[::1", "://x"])
@pytest.mark.parametrize("other", [SITE, ""])
def test_what_is_no_url_names_no_repository(url: str, other: str) -> None:
    assert not same_repository(url, other)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://git.example.com:8443/acme/site", True),
        ("https://GIT.EXAMPLE.COM:8443/acme/site", True),
        ("https://git.example.com/acme/site", False),
        ("https://git.example.com:8443/Acme/site", False),
        ("git@git.example.com:acme/site.git", False),
    ],
)
def test_elsewhere_than_on_github_case_and_port_count(url: str, same: bool) -> None:
    assert same_repository(url, OWN) is same


def test_a_folder_is_its_path() -> None:
    assert same_repository("file:///srv/git/site.git", "file:///srv/git/site")
    assert not same_repository("file:///srv/git/site", "file:///srv/git/other")


def test_one_url_of_many_is_enough() -> None:
    assert names_repository(("https://mirror.example.com/site", "git@github.com:acme/site.git"), SITE)
    assert not names_repository(("https://mirror.example.com/site",), SITE)
    assert not names_repository((), SITE)
