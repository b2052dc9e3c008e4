"""The Git hosts whose webhooks are served."""

from collections.abc import Mapping
from typing import Final

from services.ingress.providers.gitea import Gitea
from services.ingress.providers.github import GitHub
from services.ingress.providers.gitlab import GitLab
from services.ingress.providers.port import GitHost
from services.kernel.errors import NotFound
from services.kernel.wire.deliveries import Provider

GIT_HOSTS: Final[Mapping[str, GitHost]] = {
    Provider.GITHUB: GitHub(),
    Provider.GITLAB: GitLab(),
    Provider.GITEA: Gitea(),
}


def git_host(name: str) -> tuple[Provider, GitHost]:
    """The host that a path names.

    Raises:
        NotFound: there is none of that name; all that a stranger may learn.
    """
    if (host := GIT_HOSTS.get(name)) is None:
        raise NotFound(f"there is no webhook provider of that name; there are: {', '.join(sorted(GIT_HOSTS))}")
    return Provider(name), host
