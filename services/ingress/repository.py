"""What may be given as a project's repository: its URL, branch and configuration file.

Pure.
"""

import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from services.kernel.errors import FieldProblem, Invalid, InvalidRepositoryUrl

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_FORBIDDEN_IN_BRANCH = re.compile(r"[\x00-\x20\x7f~:?*\[\\\^]|\.\.|@\{")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


def check_url(url: str, *, allow_local: bool) -> None:
    """An `https` URL of a host and a path, and nothing that could carry a credential or mean something to a shell.

    With `allow_local` also `http`, and `file` with an absolute path.

    Raises:
        InvalidRepositoryUrl: which part of it cannot be.
    """
    if _PRINTABLE.fullmatch(url) is None or "\\" in url:
        raise _refused_url("has characters that a URL cannot have")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise _refused_url("has no usable host") from error
    if parts.scheme not in ({"https", "http", "file"} if allow_local else {"https"}):
        raise _refused_url("must begin with https://")
    if "@" in parts.netloc:
        raise _refused_url("must not carry a user or a password")
    if "?" in url or "#" in url:
        raise _refused_url("must not have a query or a fragment")
    if bool(host) is (parts.scheme == "file"):
        raise _refused_url("has no usable host")
    if not parts.path.strip("/"):
        raise _refused_url("names no repository")


def check_branch(branch: str, *, field: str) -> None:
    """A name that git takes for a branch.

    Raises:
        Invalid: it is none.
    """
    if not _is_branch(branch):
        raise _refused(field, "is not a branch name that git accepts")


def check_config_path(path: str) -> None:
    """A file inside the repository.

    Raises:
        Invalid: the path is absolute, leads out, or is no file's.
    """
    parts = PurePosixPath(path)
    if _CONTROL.search(path) or path.endswith("/") or parts.is_absolute() or ".." in parts.parts or not parts.parts:
        raise _refused("configPath", "must name a file inside the repository")


def _is_branch(name: str) -> bool:
    """git-check-ref-format(1), and no leading hyphen, which would make it an option (A25)."""
    return (
        name != "@"
        and not name.startswith("-")
        and not name.endswith(".")
        and _FORBIDDEN_IN_BRANCH.search(name) is None
        and all(part and not part.startswith(".") and not part.endswith(".lock") for part in name.split("/"))
    )


def _refused_url(message: str) -> InvalidRepositoryUrl:
    return InvalidRepositoryUrl(
        f"repositoryUrl {message}", fields=(FieldProblem(field="repositoryUrl", message=message),)
    )


def _refused(field: str, message: str) -> Invalid:
    return Invalid(f"{field} {message}", fields=(FieldProblem(field=field, message=message),))
