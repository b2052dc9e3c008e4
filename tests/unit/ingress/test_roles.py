"""Who may do what where."""

import pytest

from services.ingress.roles import Role, Roles
from services.kernel.errors import Forbidden, NotFound

ROLES = Roles.parse(
    b"""[
      {"principal": "ada@example.com", "role": "admin", "projects": ["*"]},
      {"principal": "olga@example.com", "role": "viewer", "projects": ["*"]},
      {"principal": "olga@example.com", "role": "operator", "projects": ["site", "blog"]},
      {"principal": "vic@example.com", "role": "viewer", "projects": ["site"]}
    ]"""
)


@pytest.mark.parametrize(
    ("principal", "project", "role"),
    [
        ("ada@example.com", "anything", Role.ADMIN),
        ("olga@example.com", "site", Role.OPERATOR),
        ("olga@example.com", "other", Role.VIEWER),
        ("vic@example.com", "site", Role.VIEWER),
        ("vic@example.com", "other", None),
        ("sam@example.com", "site", None),
        ("*", "site", None),
        ("ADA@example.com", "site", None),
    ],
)
def test_the_highest_role_that_reaches_a_project_counts(principal: str, project: str, role: Role | None) -> None:
    assert ROLES.of(principal, project) is role


def test_the_highest_role_anywhere_is_who_one_is() -> None:
    found = [ROLES.highest(name) for name in ("olga@example.com", "vic@example.com", "sam@example.com")]
    assert found == [Role.OPERATOR, Role.VIEWER, None]


@pytest.mark.parametrize(
    ("principal", "role"),
    [("ada@example.com", Role.ADMIN), ("olga@example.com", Role.VIEWER), ("vic@example.com", None)],
)
def test_what_belongs_to_no_project_needs_a_role_that_holds_in_all(principal: str, role: Role | None) -> None:
    assert ROLES.everywhere(principal) is role
    for needed in Role:
        if role is not None and role.covers(needed):
            ROLES.require_everywhere(principal, needed)
        else:
            with pytest.raises(Forbidden):
                ROLES.require_everywhere(principal, needed)


def test_one_sees_the_projects_one_has_a_role_in() -> None:
    assert ROLES.visible("ada@example.com") == "*"
    assert ROLES.visible("vic@example.com") == frozenset({"site"})
    assert ROLES.visible("sam@example.com") == frozenset()


def test_a_role_covers_itself_and_the_ones_below() -> None:
    covered = {(one.value, other.value) for one in Role for other in Role if one.covers(other)}
    assert covered == {
        ("viewer", "viewer"),
        ("operator", "viewer"),
        ("operator", "operator"),
        ("admin", "viewer"),
        ("admin", "operator"),
        ("admin", "admin"),
    }


def test_anothers_project_does_not_exist_and_a_low_role_is_told_so() -> None:
    with pytest.raises(NotFound):
        ROLES.require("vic@example.com", "other", Role.VIEWER)
    with pytest.raises(Forbidden):
        ROLES.require("vic@example.com", "site", Role.OPERATOR)
    ROLES.require("vic@example.com", "site", Role.VIEWER)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '[{"principal": "a@b", "role": "owner", "projects": ["*"]}]',
        '[{"principal": "a@b", "role": "admin", "projects": []}]',
        '[{"principal": "a@b", "role": "admin", "projects": ["A/b"]}]',
        '[{"principal": "", "role": "admin", "projects": ["*"]}]',
        '[{"principal": "a@b", "role": "admin"}]',
        '[{"principal": "a@b", "role": "admin", "projects": ["*"], "except": ["x"]}]',
    ],
)
def test_what_is_no_list_of_grants_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Roles.parse(text.encode())
