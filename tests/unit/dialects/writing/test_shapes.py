"""Comparison of the plan of a query with the plan of the SQL that was written for it."""

from dataclasses import replace

import pytest

from matchrec.dialects.writing.shapes import find_differing_part, find_shape
from matchrec.plan import clauses
from matchrec.plan.expression import Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Span
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause

B_CONDITION = "the condition of `B`"


def read_plan(
    define: str = "TRUE", partition_by: str = "k", measures: str = "A.x AS x", within: str = ""
) -> MatchPlan:
    """Return the plan of a query with some parts."""
    text = f"""
        SELECT * FROM t MATCH_RECOGNIZE (
            PARTITION BY {partition_by}
            ORDER BY ts
            MEASURES {measures}
            PATTERN (A B)
            {within}
            DEFINE B AS {define}
        )"""
    (site,) = parse_sql(text, []).sites
    return lower_clause(site.clause)


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("B.name = 'a  b'", "B.name = 'a b'"),
        ("B.name = 'a b'", "B.name = 'a\tb'"),
        ("f(B.name, 'a  b') > 1", "f(B.name, 'a b') > 1"),
        ("f(concat(B.name, 'a  b')) > 1", "f(concat(B.name, 'a b')) > 1"),
        ("'TRUE'", "TRUE"),
        ("B.`loc.x` > 1", "B.loc.x > 1"),
        ("max_by(B.x, B.y) > 1", "max_by(B.y, B.x) > 1"),
        ("(B.x) + (B.y) > 1", "(B.x) - (B.y) > 1"),
    ],
)
def test_conditions_that_differ(condition: str, other: str) -> None:
    plan, other_plan = read_plan(condition), read_plan(other)
    assert find_differing_part(plan, other_plan) == B_CONDITION
    assert find_differing_part(other_plan, plan) == B_CONDITION


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("B.x > 1 AND B.y < 2", "(  `B`.`y`  <  2 ) AND B.x > 1"),
        ("B.x > 1 AND true", "B.x > 1"),
        ("B.x > 1 AND (True)", "TRUE AND B.x > 1"),
        ("true", "TRUE"),
        ("f( B.x,'a  b' ) > 1", "f(B.x, 'a  b')>1"),
        ("((B.x)) > 1", "B.x > (1)"),
    ],
)
def test_conditions_that_are_equal(condition: str, other: str) -> None:
    assert find_differing_part(read_plan(condition), read_plan(other)) is None


def test_only_parentheses_around_a_whole_term_are_ignored() -> None:
    span = Span(0, 1)
    shape = find_shape(Term(("(1) || (2)",), span))
    assert find_shape(Term(("( (1) || (2) )",), span)) == shape
    assert find_shape(Term(("(1 || (2))",), span)) != shape


def test_the_order_of_partition_keys_matters() -> None:
    plan, other = read_plan(partition_by="a, b"), read_plan(partition_by="b, a")
    assert find_differing_part(plan, other) == "PARTITION BY"
    assert find_differing_part(plan, read_plan(partition_by="`a`,  b")) is None


def test_the_filter_of_an_aggregate_is_not_an_argument() -> None:
    plan = read_plan(measures="count(A.x) FILTER (WHERE A.y) AS n")
    other = read_plan(measures="count(A.x, A.y) AS n")
    assert find_differing_part(plan, other) == "MEASURES"


def test_windows_of_equal_length() -> None:
    plan = read_plan(within="WITHIN INTERVAL '60' SECOND")
    assert find_differing_part(plan, read_plan(within="WITHIN INTERVAL '1' MINUTE")) is None
    other = read_plan(within="WITHIN INTERVAL '61' SECOND")
    assert find_differing_part(plan, other) == "WITHIN"


def test_the_output_rows_matter() -> None:
    plan = read_plan()
    all_rows = replace(plan, rows_per_match=clauses.RowsPerMatch.ALL_ROWS_SHOW_EMPTY)
    assert find_differing_part(plan, all_rows) == "ROWS PER MATCH"
    partial = replace(plan, partial=clauses.PartialMatches(timed_out=True))
    assert find_differing_part(plan, partial) == "the output of partial matches"
    gap = clauses.Gap(clauses.RowExpression("5"))
    assert find_differing_part(plan, replace(plan, gaps=(gap,))) == "a window inside the match"
