"""What is a repository to fetch from, and what a branch."""

import subprocess

import pytest

from services.runner.checkout import CheckoutFailed, Source
from services.runner.checkout.source import REMOTE, is_branch
from tests.unit.runner.desk import job


@pytest.mark.threat("A24")
@pytest.mark.threat("A26")
@pytest.mark.threat("A27")
@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% x",
        "ext::sh",
        "ssh://-oProxyCommand=x/y",
        "git@github.com:a/b.git",
        "file:///etc",
        "http://example.org/a",
        "/etc",
        "-x",
        "",
        "https://",
        "https://user:secret@example.org/a",
        "https://[::1",
        "https://example.org/a\n",
    ],
)
def test_only_https_without_credentials_is_a_source(url: str) -> None:
    with pytest.raises(CheckoutFailed) as refused:
        Source.of(job(url), protocols=REMOTE)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("main", True),
        ("a/b", True),
        ("-x", True),
        ("ünï", True),
        ("@", True),
        ("", False),
        ("/a", False),
        ("a/", False),
        ("a//b", False),
        ("a..b", False),
        ("a.lock", False),
        (".a", False),
        ("a/.b", False),
        ("a.", False),
        ("a b", False),
        ("a:b", False),
        ("a*", False),
        ("a\\b", False),
        ("a@{1}", False),
        ("a\nb", False),
    ],
)
def test_a_branch_name_is_legal_where_git_says_so(name: str, *, legal: bool) -> None:
    assert is_branch(name) is legal
    checked = subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"], check=False)
    assert (checked.returncode == 0) is legal
