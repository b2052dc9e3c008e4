"""Errors are facts; their branch is the whole retry policy."""

from services.kernel import errors
from services.kernel.errors import AnvilError, FieldProblem


def test_an_error_without_words_of_its_own_says_what_its_class_says() -> None:
    assert errors.SlugTaken().detail == "Another project has this slug."
    assert str(errors.SlugTaken("api is taken")) == "api is taken"


def test_what_passes_is_retryable_and_what_lasts_is_not() -> None:
    passing, lasting = _branch(errors.Transient), _branch(errors.Permanent)
    assert all(kind.retryable for kind in passing)
    assert not any(kind.retryable for kind in lasting)
    assert not passing & lasting


def test_one_code_stands_for_one_fact_that_passes_and_one_that_lasts_at_most() -> None:
    """`unavailable` alone does not say whether anything was applied: the same is to be done either way."""
    told: dict[tuple[str, bool], set[str]] = {}
    for kind in _branch(AnvilError):
        if "code" in vars(kind):
            told.setdefault((kind.code, kind.retryable), set()).add(kind.__name__)
    shared = {code: names for (code, _), names in told.items() if len(names) > 1}
    assert shared == {"unavailable": {"Unavailable", "Ambiguous"}}


def test_an_error_carries_the_fields_it_is_about() -> None:
    problem = FieldProblem(field="slug", message="required")
    assert errors.Invalid(fields=(problem,)).fields == (problem,)


def _branch(kind: type[AnvilError]) -> set[type[AnvilError]]:
    """The kernel's own part of the tree under `kind`."""
    own = {kind} if kind.__module__ == errors.__name__ else set[type[AnvilError]]()
    return own.union(*(_branch(child) for child in kind.__subclasses__()))
