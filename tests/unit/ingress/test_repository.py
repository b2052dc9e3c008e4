"""What can be a project's repository."""

import pytest

from services.ingress.repository import check_branch, check_config_path, check_url
from services.kernel.errors import Invalid, InvalidRepositoryUrl

GOOD_URLS = ["https://github.com/octo/hello.git", "https://git.example.com:8443/a/b/c", "https://[2001:db8::1]/a"]
LOCAL_URLS = ["http://127.0.0.1:3000/octo/hello.git", "file:///tmp/hello.git"]
BAD_URLS = [
    "",
    "hello",
    "https://",
    "https:///hello",
    "https://github.com",
    "https://github.com/",
    "https://user@github.com/octo/hello",
    "https://user:secret@github.com/octo/hello",
    "https://@github.com/octo/hello",
    "https://github.com/octo/hello?a=b",
    "https://github.com/octo/hello?",
    "https://github.com/octo/hello#main",
    "https://github.com/octo/he llo",
    "https://github.com/octo/hello\n",
    "https://github.com/octo/hell\u00f6",
    "https://github.com\\@evil.example/octo/hello",
    "https://github.com:99999/octo/hello",
    "https://[2001:db8::1/a",
    "ssh://git@github.com/octo/hello.git",
    "git@github.com:octo/hello.git",
    "ext::sh -c touch% /tmp/x",
    "ssh://-oProxyCommand=x/y",
    "--upload-pack=/bin/sh",
    "file://host/path",
    "file://",
    "javascript://github.com/a",
]


@pytest.mark.parametrize("url", GOOD_URLS)
def test_an_https_url_names_a_repository(url: str) -> None:
    check_url(url, allow_local=False)


@pytest.mark.parametrize("url", [*BAD_URLS, *LOCAL_URLS])
def test_everything_else_names_none(url: str) -> None:
    with pytest.raises(InvalidRepositoryUrl):
        check_url(url, allow_local=False)


@pytest.mark.parametrize("url", [*GOOD_URLS, *LOCAL_URLS])
def test_local_repositories_are_taken_where_they_are_allowed(url: str) -> None:
    check_url(url, allow_local=True)


@pytest.mark.parametrize("url", BAD_URLS)
def test_and_nothing_more_is(url: str) -> None:
    with pytest.raises(InvalidRepositoryUrl):
        check_url(url, allow_local=True)


def test_a_refusal_does_not_repeat_a_password() -> None:
    with pytest.raises(InvalidRepositoryUrl) as refused:
        check_url("https://user:hunter2@github.com/octo/hello", allow_local=False)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "branch", ["main", "feature/x", "release/1.0", "ünïcødé-🚀", "a@b", "refs/heads/main", "a.b", "@a"]
)
def test_git_takes_these_branches(branch: str) -> None:
    check_branch(branch, field="branch")


@pytest.mark.threat("A25")
@pytest.mark.parametrize(
    "branch",
    [
        "",
        "-main",
        "--upload-pack=/bin/sh",
        "/main",
        "main/",
        "a//b",
        "a..b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "@",
        "a@{1}",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "a[",
        "a\\b",
        "a\n",
        "a\x7f",
    ],
)
def test_git_takes_no_such_branch(branch: str) -> None:
    with pytest.raises(Invalid):
        check_branch(branch, field="branch")


@pytest.mark.parametrize("path", [".anvil.yml", "ci/anvil.yml", "a..b.yml", "-x.yml"])
def test_a_configuration_file_lies_inside_the_repository(path: str) -> None:
    check_config_path(path)


@pytest.mark.parametrize("path", ["", ".", "/etc/passwd", "../x", "a/../../x", "a/..", "a/", "a\n", "a\x00b", "a\\b"])
def test_and_nowhere_else(path: str) -> None:
    with pytest.raises(Invalid):
        check_config_path(path)
