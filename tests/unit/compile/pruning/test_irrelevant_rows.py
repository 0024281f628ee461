"""Rows that satisfy no condition: if they may be left out, the matches are the same."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.compile.pruning.irrelevant_rows import can_always_take_row, find_loop_variables
from matchrec.conditions.row_column import show_column
from matchrec.conditions.split import RowScope
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.pattern import RowPattern, list_variable_names, show_pattern
from matchrec.plan.resolve import InputColumns
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.cases.pattern_notation import Question
from tests.quick.scale import examples
from tests.references.matcher import find_all
from tests.tasks.compiled import list_folded_choices
from tests.tasks.linking import split_plan
from tests.tasks.patterns import split_pattern

FILLERS = frozenset("XY")


def fillers_take_any_row(pattern: RowPattern) -> bool:
    """Return whether the fillers of a pattern can take any row."""
    names = list_variable_names(pattern)
    return can_always_take_row(
        list_folded_choices(pattern),
        frozenset(i for i, name in enumerate(names) if name in FILLERS),
    )


@pytest.mark.parametrize(
    "text",
    ["A", "A X* B", "A X*? B", "A X*? B Y*? C", "(A | B) X* C", "(A X*)+ B", "A X* (B X*)? C"],
)
def test_fillers_can_take_all_other_rows(text: str) -> None:
    assert fillers_take_any_row(parse_row_pattern(text))


@pytest.mark.parametrize(
    "text",
    [
        "A B",  # the rows must be neighbours
        "A X B",  # exactly one row between them
        "A X+ B",
        "A X{0,3} B",
        "A* A",
        "A+ X* B",  # neighbours, as long as the loop goes on
        "X* A",  # the match would begin with another row
        "A X*",  # and end with another one
        "A X* B?",
        "A (X* B)?",
    ],
)
def test_fillers_that_cannot_take_all_other_rows_are_rejected(text: str) -> None:
    assert not fillers_take_any_row(parse_row_pattern(text))


def list_matches(
    pattern: RowPattern, rows: list[str], skip: AfterMatchSkip, loops: Collection[str] = ()
) -> list[object]:
    """Return the number of each match, and its rows with their variables, without left-out rows.

    Args:
        pattern: the row pattern.
        rows: each row as its number and the variables that it can be mapped to, as in `7AB`.
        skip: where the search continues after a match.
        loops: the variables whose rows are left out, which have conditions. If there are none, the
            rows of the fillers X and Y are left out, to which any row can be mapped.
    """
    unconditional_variables = () if loops else FILLERS
    left_out_variables = loops or FILLERS

    def can_map_last_row(_: int, start: int, variables: tuple[str, ...]) -> bool:
        """Return whether the last row so far can be mapped to its variable."""
        name = variables[-1]
        row = rows[start + len(variables) - 1]
        return name in unconditional_variables or name in row

    matches: list[object] = []
    for match in find_all(pattern, len(rows), can_map_last_row, skip, {}):
        variables = [variable for variable, _ in match.word]
        mapped_rows = rows[match.start : match.start + len(variables)]
        kept_pairs = [
            (row, variable)
            for row, variable in zip(mapped_rows, variables, strict=True)
            if variable not in left_out_variables
        ]
        matches.append((match.number, kept_pairs))
    return matches


ROWS = st.lists(st.sampled_from(["", "A", "B", "AB", ""]), max_size=7)
UNITS = st.recursive(
    st.sampled_from(["A X*", "B X*?", "A Y*", "(A | B) X*", "A", "B", "X*", "X"]),
    lambda parts: st.one_of(
        st.tuples(parts, parts).map(" ".join),
        st.tuples(parts, parts).map(lambda pair: f"({pair[0]} | {pair[1]})"),
        st.tuples(parts, st.sampled_from(["*", "+", "?", "{2}", "*?"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=3,
)


@settings(max_examples=examples(300), deadline=None, database=None)
@given(UNITS, st.sampled_from(["A", "B", "(A | B)"]), ROWS, st.booleans())
def test_matches_are_the_same_without_irrelevant_rows(
    text: str, last: str, variables_of_rows: list[str], past_last: bool
) -> None:
    pattern = parse_row_pattern(f"{text} {last}")
    if not fillers_take_any_row(pattern):
        return
    skip = AfterMatchSkip(SkipTo.PAST_LAST_ROW if past_last else SkipTo.NEXT_ROW)
    rows = [f"{index}{variables}" for index, variables in enumerate(variables_of_rows)]
    relevant = [row for row, variables in zip(rows, variables_of_rows, strict=True) if variables]
    matches = list_matches(pattern, rows, skip)
    assert list_matches(pattern, relevant, skip) == matches, show_pattern(pattern)


CONDITIONED = st.lists(
    st.sampled_from(["", "X", "Y", "XY", "XY", "AX", "BY", "AXY", "A", "B"]), max_size=7
)


@settings(max_examples=examples(300), deadline=None, database=None)
@given(UNITS, st.sampled_from(["A", "B", "(A | B)"]), CONDITIONED, st.booleans())
def test_matches_are_the_same_without_rows_of_loops_with_conditions(
    text: str, last: str, rows: list[str], past_last: bool
) -> None:
    pattern = parse_row_pattern(f"{text} {last}")
    names, compiled = list_variable_names(pattern), list_folded_choices(pattern)
    loops = {names[variable] for variable in find_loop_variables(compiled)}
    if not can_always_take_row(compiled, frozenset(map(names.index, loops))):
        return
    skip = AfterMatchSkip(SkipTo.PAST_LAST_ROW if past_last else SkipTo.NEXT_ROW)
    numbered = [f"{index}{variables}" for index, variables in enumerate(rows)]
    other_names = set(names) - loops
    # A row is irrelevant if every loop can take it, and no other variable can.
    relevant = [
        row
        for row, variables in zip(numbered, rows, strict=True)
        if not loops <= set(variables) or other_names & set(variables)
    ]
    matches = list_matches(pattern, numbered, skip, loops)
    assert list_matches(pattern, relevant, skip, loops) == matches


def test_loops_that_do_not_advance_a_run_are_found() -> None:
    def list_loops(text: str) -> str:
        """Return the names of the loops of a pattern, with blanks between them."""
        pattern = parse_row_pattern(text)
        names = list_variable_names(pattern)
        return " ".join(
            names[variable]
            for variable in sorted(find_loop_variables(list_folded_choices(pattern)))
        )

    assert list_loops("A X*? B Y* C") == "X Y"
    assert list_loops("A X+ B Y* C") == "Y"
    assert list_loops("X* A Y{0,3} B") == ""
    assert list_loops("A X* B X C") == ""


FUNNEL = "PATTERN (A X*? B) DEFINE A AS e = 'a', B AS e = 'b'"
LOOPED = ["e = 'a'", "(e <> 'b') IS NOT TRUE", "e = 'b'"]
SKIPPING = "PATTERN (A B) SKIP TILL NEXT MATCH ALL MATCHES"


@pytest.mark.parametrize(
    ("text", "relevant"),
    [
        (f"MEASURES A.t AS s, LAST(t) AS e {FUNNEL}", ["`e` = 'a'", "`e` = 'b'"]),
        (f"MEASURES count(A.t) AS n, MATCH_NUMBER() AS m {FUNNEL}", ["`e` = 'a'", "`e` = 'b'"]),
        (f"MEASURES A.t AS s AFTER MATCH SKIP TO NEXT ROW {FUNNEL}", ["`e` = 'a'", "`e` = 'b'"]),
        (f"MEASURES count(*) AS n {FUNNEL}", []),
        (f"MEASURES X.t AS s {FUNNEL}", []),
        (f"MEASURES PREV(A.t) AS s {FUNNEL}", []),
        (f"MEASURES LAST(t, 1) AS s {FUNNEL}", []),
        (f"MEASURES A.t AS s ALL ROWS PER MATCH {FUNNEL}", []),
        (f"MEASURES A.t AS s AFTER MATCH SKIP TO LAST B {FUNNEL}", []),
        (f"MEASURES A.t AS s {FUNNEL} AND t > PREV(t)", []),
        (f"MEASURES A.t AS s {FUNNEL} AND t > 2 * A.t", ["`e` = 'a'", "`e` = 'b'"]),
        (f"MEASURES A.t AS s {FUNNEL} AND t > max(t)", []),
        (f"MEASURES A.t AS s {FUNNEL}, X AS t > A.t", []),
        (f"MEASURES A.t AS s {FUNNEL}, X AS X.e <> 'b'", LOOPED),
        (f"MEASURES A.t AS s {FUNNEL}, X AS e <> 'b' AND t > PREV(t)", []),
        (f"MEASURES X.t AS s {FUNNEL}, X AS e <> 'b'", []),
        (f"MEASURES A.t AS s {FUNNEL} AND t > X.t, X AS e <> 'b'", []),
        (f"MEASURES A.t AS s {FUNNEL.replace('X*?', 'X+')}, X AS e <> 'b'", []),
        (f"MEASURES A.t AS s {FUNNEL.replace('X*?', 'NOT C X*')}, X AS e <> 'b', C AS e = 'c'", []),
        (
            f"MEASURES A.t AS s {SKIPPING} DEFINE A AS e = 'a', B AS e = 'b' AND t > 2 * A.t",
            ["`e` = 'a'", "`e` = 'b'"],
        ),
        (f"MEASURES A.t AS s {SKIPPING} DEFINE A AS e = 'a'", []),
        ("MEASURES A.t AS s PATTERN (A) DEFINE A AS e = 'a'", ["`e` = 'a'"]),
        ("MEASURES A.t AS s PATTERN (A?) DEFINE A AS e = 'a'", []),
        ("MEASURES A.t AS s PATTERN (^ A) DEFINE A AS e = 'a'", []),
    ],
)
def test_rows_that_satisfy_no_filter_are_irrelevant(text: str, relevant: list[str]) -> None:
    query = f"SELECT * FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY t {text})"
    plan = lower_clause(parse_sql(query).sites[0].clause)
    shown = [
        show_column(column).replace("`", "")
        for column in split_plan(plan, InputColumns(()), str).row_filters
    ]
    assert shown == [text.replace("`", "") for text in relevant]


@pytest.mark.parametrize("scope", RowScope)
def test_a_loop_that_reads_another_row_leaves_none_out(scope: RowScope) -> None:
    clause = f"PARTITION BY k ORDER BY t MEASURES A.t AS s {FUNNEL}, X AS e <> 'b' AND t > PREV(t)"
    plan = lower_clause(
        parse_sql(f"SELECT * FROM events MATCH_RECOGNIZE ({clause})").sites[0].clause
    )
    assert not split_plan(plan, InputColumns(()), str, scope=scope).row_filters


def show_stage_filters(calls: str, skip: str = "", *, timeouts: bool = False) -> str:
    """Return the filters of a pattern. A relevant row satisfies at least one of them."""
    filters = split_pattern(Question(calls, skip, timeouts, ())).row_filters
    return " ".join(sorted(show_column(column) for column in filters))


@pytest.mark.parametrize(
    ("calls", "tests"),
    [
        ("begin(a).followed_by(b).within(3)", "`is_a` `is_b`"),
        ("begin(a).one_or_more().followed_by_any(b)", "`is_a` `is_b`"),
        ("begin(a).not_followed_by(c).followed_by(b)", "`is_a` `is_b` `is_c`"),
        ("begin(a).one_or_more().greedy().followed_by(b)", "`is_a` `is_b`"),
        ("begin(begin(a).followed_by(b)).times(2).followed_by_any(c)", "`is_a` `is_b` `is_c`"),
        ('begin(a).followed_by("b").where("is_b AND count(b) < 2").times(2)', "`is_a` `is_b`"),
    ],
)
def test_rows_that_every_run_skips(calls: str, tests: str) -> None:
    assert show_stage_filters(calls) == tests


@pytest.mark.parametrize(
    "calls",
    [
        "begin(a).next(b)",
        "begin(a).followed_by(b).times(2).consecutive()",
        "begin(begin(a)).next(begin(b).followed_by(c))",
        "begin(a).not_next(c).followed_by(b)",
        "begin(a).followed_by(b).not_next(c)",
        "begin(a).not_followed_by(c).within(5)",
        'begin(a).followed_by("b")',
        'begin(a).followed_by("b").where("count(a) < 2")',
        'begin(a).one_or_more().greedy().until("is_c").followed_by(b)',
    ],
)
def test_rows_that_a_run_may_not_skip_or_that_end_something(calls: str) -> None:
    assert not show_stage_filters(calls)


def test_rows_stay_if_they_decide_which_run_times_out_first() -> None:
    calls = "begin(a).followed_by(b).within(3)"
    assert show_stage_filters(calls, timeouts=True)
    assert show_stage_filters(calls, "to next")
    assert not show_stage_filters(calls, "to next", timeouts=True)
