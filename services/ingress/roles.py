"""Who may do what in which project: the deployment's settings say it, never a token's claims.

Pure.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from pydantic import Field, TypeAdapter

from services.kernel.errors import Forbidden, NotFound
from services.kernel.wire.model import SlugText, Wire


class Role(StrEnum):
    """Each role may also do what the ones before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def covers(self, needed: "Role") -> bool:
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(needed)


class Grant(Wire):
    """A role for one principal in some projects, by slug, or in all of them (`*`)."""

    principal: str = Field(min_length=3, max_length=320)
    role: Role
    projects: tuple[Literal["*"] | SlugText, ...] = Field(min_length=1)

    def reaches(self, project: str) -> bool:
        return "*" in self.projects or project in self.projects


Everything: TypeAlias = Literal["*"]


@dataclass(frozen=True, slots=True)
class Roles:
    grants: tuple[Grant, ...]

    @classmethod
    def parse(cls, text: bytes) -> "Roles":
        """From a JSON list of grants.

        Raises:
            ValueError: it is none.
        """
        return cls(TypeAdapter(tuple[Grant, ...]).validate_json(text))

    def of(self, principal: str, project: str) -> Role | None:
        """The principal's highest role in one project."""
        return _highest(grant.role for grant in self._of(principal) if grant.reaches(project))

    def highest(self, principal: str) -> Role | None:
        """The principal's highest role in any project."""
        return _highest(grant.role for grant in self._of(principal))

    def everywhere(self, principal: str) -> Role | None:
        """The principal's highest role in all projects, those included that do not exist yet."""
        return _highest(grant.role for grant in self._of(principal) if "*" in grant.projects)

    def visible(self, principal: str) -> frozenset[str] | Everything:
        """The projects that the principal may see."""
        slugs = frozenset(slug for grant in self._of(principal) for slug in grant.projects)
        return "*" if "*" in slugs else slugs

    def require(self, principal: str, project: str, needed: Role) -> None:
        """Let the principal act in a project as `needed` may.

        Raises:
            NotFound: the project does not exist for this principal.
            Forbidden: it does, but the role is too low.
        """
        role = self.of(principal, project)
        if role is None:
            raise NotFound(f"there is no project {project}")
        if not role.covers(needed):
            raise Forbidden(f"this needs the role {needed}; {principal} is {role}")

    def require_everywhere(self, principal: str, needed: Role) -> None:
        """Let the principal act on what belongs to no project as `needed` may.

        Raises:
            Forbidden: the role is too low, or holds in some projects only.
        """
        role = self.everywhere(principal)
        if role is None or not role.covers(needed):
            raise Forbidden(f"this needs the role {needed} in all projects")

    def _of(self, principal: str) -> Iterable[Grant]:
        return (grant for grant in self.grants if grant.principal == principal)


def _highest(roles: Iterable[Role]) -> Role | None:
    return max(roles, key=list(Role).index, default=None)
