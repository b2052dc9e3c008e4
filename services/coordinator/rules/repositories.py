"""Whether a payload's repository is a project's.

Host (lower case, default port dropped) and path (without leading and trailing `/` and `.git`; case-insensitive on
github.com) must be equal for any of the payload's URLs; scheme and user do not count.
"""

import re
from urllib.parse import urlsplit

_SCP = re.compile(r"(?:[^@/]+@)?(?P<host>[^:/@]+):(?P<path>(?!//).*)", re.DOTALL)
_DEFAULT_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}


def same_repository(one: str, other: str) -> bool:
    """Whether two URLs, in any notation, name one repository. What is not a URL names none."""
    place = _place(one)
    return place is not None and place == _place(other)


def names_repository(urls: tuple[str, ...], repository_url: str) -> bool:
    """Whether any of a payload's URLs is the project's."""
    return any(same_repository(url, repository_url) for url in urls)


def _place(url: str) -> tuple[str, str] | None:
    if "://" not in url and (scp := _SCP.fullmatch(url)):
        return _normal(scp["host"], port=None, path=scp["path"])
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme == "file":
        return _normal("", port=None, path=parts.path)
    if not parts.hostname:
        return None
    return _normal(parts.hostname, port=None if port == _DEFAULT_PORTS.get(parts.scheme) else port, path=parts.path)


def _normal(host: str, *, port: int | None, path: str) -> tuple[str, str]:
    host = host.lower()
    path = path.strip("/").removesuffix(".git").strip("/")
    if host == "github.com":
        path = path.lower()
    return (host if port is None else f"{host}:{port}"), path
