"""`AfterMatch.throw_on_miss` is allowed only for a skip to a stage."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from matchrec import AfterMatch
from matchrec.errors import MatchRecognizePlanError
from matchrec.plan.clauses import SkipTo


@pytest.mark.parametrize(("to", "name"), [(None, "NO_SKIP"), (SkipTo.NEXT_ROW, "SKIP_TO_NEXT")])
@pytest.mark.parametrize(
    "make",
    [lambda to: AfterMatch(to, _throws=True), lambda to: AfterMatch(to).throw_on_miss()],
    ids=["field", "call"],
)
def test_a_skip_without_a_stage_cannot_throw(
    make: Callable[[SkipTo | None], AfterMatch], to: SkipTo | None, name: str
) -> None:
    message = rf"throw_on_miss\(\) is not allowed for AfterMatch\.{name}, which does not skip to"
    with pytest.raises(MatchRecognizePlanError, match=message):
        make(to)


def test_the_call_sets_the_field() -> None:
    strategy = AfterMatch.skip_to_first("b").throw_on_miss()
    assert strategy == AfterMatch(SkipTo.FIRST, "b", _throws=True)
