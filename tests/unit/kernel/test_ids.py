"""Identifiers: of one shape, and no two lists of parts give one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kernel import ids
from services.kernel.adapters.clock import SystemIds
from services.kernel.ids import ProjectId, delivery_row_id, encode, fingerprint, is_commit_sha, keyed_run_id
from tests.unit.kernel.world import CountingIds

PROJECT = ProjectId("prj_0000000000000000000001")


def test_new_ids_say_what_they_name() -> None:
    counting = CountingIds()
    assert ids.new_project_id(counting) == "prj_0000000000000000000001"
    assert ids.new_run_id(counting) == "run_0000000000000000000002"


def test_new_ids_differ() -> None:
    assert len({ids.new_run_id(SystemIds()) for _ in range(100)}) == 100


@given(st.integers(0, 2**128 - 1))
def test_every_number_has_22_characters_of_its_own(bits: int) -> None:
    text = encode(bits)
    assert re.fullmatch("[0-9A-Za-z]{22}", text)
    value = 0
    for character in text:
        value = value * 62 + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".index(character)
    assert value == bits


def test_one_idempotency_key_of_one_project_is_one_run() -> None:
    assert keyed_run_id(PROJECT, "key") == keyed_run_id(PROJECT, "key")
    assert keyed_run_id(PROJECT, "key") != keyed_run_id(PROJECT, "other")
    assert keyed_run_id(PROJECT, "key") != keyed_run_id(ProjectId("prj_0000000000000000000002"), "key")
    assert re.fullmatch(ids.RUN_ID, keyed_run_id(PROJECT, "key"))


@pytest.mark.inv("D10")
def test_a_delivery_id_means_another_row_in_another_project_or_from_another_provider() -> None:
    rows = {
        delivery_row_id(PROJECT, "github", "1"),
        delivery_row_id(ProjectId("prj_0000000000000000000002"), "github", "1"),
        delivery_row_id(PROJECT, "gitea", "1"),
        delivery_row_id(PROJECT, "gitea1", ""),
        delivery_row_id(PROJECT, "gite", "a1"),
    }
    assert len(rows) == 5
    assert all(re.fullmatch(ids.DELIVERY_ID, row) for row in rows)


@given(st.lists(st.text()), st.lists(st.text()))
def test_no_two_lists_of_parts_have_one_fingerprint(one: list[str], other: list[str]) -> None:
    assert (fingerprint(*one) == fingerprint(*other)) is (one == other)


def test_a_fingerprint_is_the_sha_256_of_length_prefixed_parts() -> None:
    assert fingerprint() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("sha", ["a" * 40, "0123456789" * 4, "b" * 64])
def test_a_full_commit_name_is_one(sha: str) -> None:
    assert is_commit_sha(sha)


@pytest.mark.parametrize("sha", ["", "a" * 39, "a" * 41, "A" * 40, "g" * 40, "a" * 40 + "\n", "٠" * 40])
def test_anything_else_is_no_commit_name(sha: str) -> None:
    assert not is_commit_sha(sha)
