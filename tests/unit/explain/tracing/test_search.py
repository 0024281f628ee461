"""The trials of a trace, worked out by hand from the pattern and the rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from matchrec.conditions.run_condition import (
    Comparison,
    Constant,
    Reduction,
    RunAggregate,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.explain.tracing.search import Tracer
from matchrec.explain.tracing.trace import check_attempt, find_search_matches, find_starting_rows
from matchrec.explain.tracing.trials import Attempt, Outcome
from matchrec.plan.clauses import AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.search.strategies import ALGORITHMS
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.cases.case_file import CaseFile, list_case_files
from tests.cases.test_matches import parse_after_match
from tests.tasks.contiguous import Query, Rows, make_query, read_rows
from tests.tasks.selection import build_task
from tests.tasks.selection import make_query as selection_query
from tests.tasks.traces import check_traces

BACKTRACKING = ALGORITHMS["backtracking"]
SIGNS = {Outcome.TAKEN: "", Outcome.FAILED: "!", Outcome.NO_ROW: "$", Outcome.TRIED_BEFORE: "="}


def trace_attempt(query: Query, rows: str, start: int = 0, most: int = 1000) -> Attempt:
    """Trace the search from a starting row."""
    partitions = read_rows(rows).partitions(query.variables)
    return Tracer(query.task(), partitions, most).record_attempt(start)


def show_trials(attempt: Attempt, names: tuple[str, ...]) -> str:
    """Return the variable and row of each trial, with a sign for its outcome.

    The signs are `!` if the condition is not true, `$` if there is no row, and `=` if the same was
    tried before.
    """
    return " ".join(
        trial.outcome.value
        if trial.variable < 0
        else f"{names[trial.variable]}{trial.row}{SIGNS[trial.outcome]}"
        for trial in attempt.trials
    )


@pytest.mark.parametrize(
    ("pattern", "rows", "expected"),
    [
        ("A B", "A B", "A0 B1 match"),
        ("A B", "A A", "A0 B1!"),
        ("A B", "A", "A0 B1$"),
        ("A+ B", "A AB B", "A0 A1 A2! B2 match"),
        ("A+ B", "A AB", "A0 A1 A2$ B2$ B1 match"),
        ("A+? B", "A A B", "A0 B1! A1 B2 match"),
        ("A | B", "B", "A0! B0 match"),
        ("A?", "B", "A0! match"),
        ("A $", "A B", "A0 anchor failed"),
        ("(A B? | A) C", "A B", "A0 B1 C2$ C1! A0 C1!"),
    ],
)
def test_trials_are_in_preferment_order(pattern: str, rows: str, expected: str) -> None:
    query = make_query(pattern)
    assert show_trials(trace_attempt(query, rows), query.variables) == expected


def test_failed_ways_are_not_tried_again() -> None:
    query = make_query("(A | B)+ C")
    attempt = trace_attempt(query, "AB AB")
    assert show_trials(attempt, query.variables) == "A0 A1 A2$ B2$ C2$ B1= C1! B0="


def test_sums_of_negative_numbers_are_those_of_the_kernels() -> None:
    total = RunAggregate(Reduction.SUM, "A", 0, Kind.INTEGER)
    below = build_operation(Comparison.LESS, total, Constant(0, Kind.INTEGER))
    query = replace(make_query("A+ B"), run_conditions={"B": below})
    plain_rows = read_rows("A A B")
    for second, expected in ((4, "A0 A1 A2! B2 match"), (6, "A0 A1 A2! B2! B1!")):
        rows = replace(plain_rows, columns={Kind.INTEGER: ((-5, second, 0),), Kind.FLOATING: ()})
        attempt = Tracer(query.task(), rows.partitions(query.variables)).record_attempt(0)
        assert show_trials(attempt, query.variables) == expected


def test_the_best_way_is_the_first_of_the_longest() -> None:
    query = make_query("A B C | A D E F")
    attempt = trace_attempt(query, "A BD E -")
    assert [attempt.trials[i].row for i in attempt.best_path] == [0, 1, 2]
    assert [query.variables[attempt.trials[i].variable] for i in attempt.best_path] == [
        "A",
        "D",
        "E",
    ]
    assert [query.variables[attempt.trials[i].variable] for i in attempt.stopping_trials] == ["F"]
    assert attempt.longest_path_length == 3


def test_a_skipped_row_is_written_down() -> None:
    task = build_task(selection_query("A B", EventSelection.SKIP_TILL_NEXT_MATCH))
    rows = read_rows("A - B").partitions(task.variables)
    attempt = Tracer(task, rows).record_attempt(0)
    assert show_trials(attempt, task.variables) == "A0 B1! skipped B2 match"
    assert attempt.matches == (((0, 0), (2, 1)),)


def test_an_exponential_search_ends() -> None:
    task = build_task(selection_query("A+ B", EventSelection.SKIP_TILL_ANY_MATCH))
    rows = read_rows(" ".join(["AB"] * 30)).partitions(task.variables)
    attempt = Tracer(task, rows, 500).record_attempt(0)
    assert attempt.is_truncated
    assert len(attempt.trials) == 500
    assert attempt.longest_path_length == 30


def test_the_engine_searches_from_rows_that_no_match_goes_past() -> None:
    query = replace(make_query("A B"), after_match=AfterMatchSkip(SkipTo.PAST_LAST_ROW))
    rows = read_rows("A AB B A B").partitions(query.variables)
    matches = find_search_matches(BACKTRACKING.choose_strategy(query.task()), query.task(), rows)
    assert find_starting_rows(query.task(), matches, range(5)) == {0: 0, 2: 1, 3: 1}
    task_with_limit = replace(query.task(), max_matches=1)
    assert find_starting_rows(task_with_limit, matches[:1], range(5)) == {0: 0}


def test_another_answer_than_the_engines_is_an_error_of_ours() -> None:
    query = make_query("A B")
    rows = read_rows("A B").partitions(query.variables)
    matches = find_search_matches(BACKTRACKING.choose_strategy(query.task()), query.task(), rows)
    wrong = replace(Tracer(query.task(), rows).record_attempt(0), matches=())
    with pytest.raises(AssertionError, match="the trace of row 0"):
        check_attempt(query.task(), wrong, matches)


@pytest.mark.parametrize(
    "file", [file for file in list_case_files() if file.matches], ids=lambda file: file.path.stem
)
def test_traces_of_match_records(file: CaseFile) -> None:
    for record in file.matches:
        subsets = {name: frozenset(members) for name, members in record.subsets.items()}
        query = Query(parse_row_pattern(record.pattern), parse_after_match(record.skip), subsets)
        rows = Rows((tuple(frozenset(row) for row in record.rows),))
        check_traces(query.task(), rows.partitions(query.variables))


def test_a_longest_match_is_the_longest_of_all_tries() -> None:
    query = replace(make_query("A | A B"), output=MatchOutput.LONGEST)
    attempt = trace_attempt(query, "A B")
    assert attempt.matches == (((0, 0), (1, 1)),)
