"""Run the `match` records of `cases/**/*.test` on both algorithms and on the reference matcher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.search.strategies import ALGORITHMS
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.cases.case_file import CASES, MatchRecord, list_case_files
from tests.tasks.contiguous import Outcome, Query, Rows, run_algorithm, run_reference

Matcher = Callable[[Query, Rows], Outcome]

MATCHERS: dict[str, Matcher] = {
    **{name: partial(run_algorithm, algorithm) for name, algorithm in ALGORITHMS.items()},
    "reference": run_reference,
}


def parameters() -> Iterator[Any]:
    """Yield each `match` record with each matcher."""
    for file in list_case_files():
        for record in file.matches:
            location = f"{file.path.relative_to(CASES)}:{record.head.line}"
            for name, matcher in MATCHERS.items():
                yield pytest.param(record, matcher, id=f"{location}-{name}")


@pytest.mark.parametrize(("record", "matcher"), list(parameters()))
def test_a_record_has_its_expected_matches(record: MatchRecord, matcher: Matcher) -> None:
    subsets = {name: frozenset(members) for name, members in record.subsets.items()}
    query = Query(parse_row_pattern(record.pattern), parse_after_match(record.skip), subsets)
    outcome = matcher(query, Rows((tuple(frozenset(row) for row in record.rows),)))
    assert isinstance(outcome, list), outcome
    lines = [f"{start}: {word}".rstrip() for _, _, start, word in outcome]
    assert [line.replace("[", "{").replace("]", "}") for line in lines] == list(record.expected)


def parse_after_match(skip: str) -> AfterMatchSkip:
    """Parse `past last row`, `to next row` or `to [first | last] VARIABLE`."""
    if skip.upper() in (SkipTo.NEXT_ROW.value, SkipTo.PAST_LAST_ROW.value):
        return AfterMatchSkip(SkipTo(skip.upper()))
    *_, variable = skip.split()
    return AfterMatchSkip(SkipTo.FIRST if skip.startswith("to first ") else SkipTo.LAST, variable)
