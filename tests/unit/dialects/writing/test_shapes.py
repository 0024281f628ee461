"""Comparison of the plan of a query with the plan of the SQL that was written for it."""

from dataclasses import fields, replace
from typing import Any

import pytest

from matchrec.dialects.writing.clause_text import write_sql
from matchrec.dialects.writing.shapes import find_differing_part, make_shape
from matchrec.plan import clauses
from matchrec.plan.expression import Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Variable
from matchrec.plan.stages import Staging
from matchrec.plan.totals import TotalAggregate, Totals
from matchrec.source import Span
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause

B_CONDITION = "the condition of `B`"


def read_plan(
    define: str = "TRUE",
    partition_by: str = "k",
    measures: str = "A.x AS x",
    within: str = "",
    skip: str = "",
    subset: str = "",
) -> MatchPlan:
    """Return the plan of a query with some parts.

    Args:
        define: the condition of B.
        partition_by: the keys of PARTITION BY.
        measures: the items of MEASURES.
        within: all that follows the row pattern, such as WITHIN and its length.
        skip: AFTER MATCH SKIP, with its keywords.
        subset: SUBSET, with its keyword.
    """
    text = f"""
        SELECT * FROM t MATCH_RECOGNIZE (
            PARTITION BY {partition_by}
            ORDER BY ts
            MEASURES {measures}
            {skip}
            PATTERN (A B)
            {within}
            {subset}
            DEFINE B AS {define}
        )"""
    (site,) = parse_sql(text, []).sites
    return lower_clause(site.clause)


def find_differing_name(plan: MatchPlan, other: MatchPlan) -> str | None:
    """Return the name of the first part in which two plans differ; None if they are equal."""
    part = find_differing_part(plan, other)
    return None if part is None else part.name


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("B.name = 'a  b'", "B.name = 'a b'"),
        ("B.name = 'a b'", "B.name = 'a\tb'"),
        ("f(B.name, 'a  b') > 1", "f(B.name, 'a b') > 1"),
        ("f(concat(B.name, 'a  b')) > 1", "f(concat(B.name, 'a b')) > 1"),
        ("'TRUE'", "TRUE"),
        ("f(B.x) AND TRUE()", "f(B.x)"),
        ("B.`loc.x` > 1", "B.loc.x > 1"),
        ("max_by(B.x, B.y) > 1", "max_by(B.y, B.x) > 1"),
        ("(B.x) + (B.y) > 1", "(B.x) - (B.y) > 1"),
    ],
)
def test_conditions_that_differ(condition: str, other: str) -> None:
    plan, other_plan = read_plan(condition), read_plan(other)
    assert find_differing_name(plan, other_plan) == B_CONDITION
    assert find_differing_name(other_plan, plan) == B_CONDITION


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("B.x > 1 AND B.y < 2", "(  `B`.`y`  <  2 ) AND B.x > 1"),
        ("B.x > 1 AND true", "B.x > 1"),
        ("B.x > 1 AND (True)", "TRUE AND B.x > 1"),
        ("B.x > 1 AND ((TRUE))", "B.x > 1"),
        ("true", "TRUE"),
        ("f( B.x,'a  b' ) > 1", "f(B.x, 'a  b')>1"),
        ("((B.x)) > 1", "B.x > (1)"),
    ],
)
def test_conditions_that_are_equal(condition: str, other: str) -> None:
    assert find_differing_name(read_plan(condition), read_plan(other)) is None


def test_only_parentheses_around_a_whole_term_are_ignored() -> None:
    span = Span(0, 1)
    shape = make_shape(Term(("(1) || (2)",), span))
    assert make_shape(Term(("( (1) || (2) )",), span)) == shape
    assert make_shape(Term(("(1 || (2))",), span)) != shape


def test_the_order_of_partition_keys_matters() -> None:
    plan, other = read_plan(partition_by="a, b"), read_plan(partition_by="b, a")
    assert find_differing_name(plan, other) == "PARTITION BY"
    assert find_differing_name(plan, read_plan(partition_by="`a`,  b")) is None


def test_the_filter_of_an_aggregate_is_not_an_argument() -> None:
    plan = read_plan(measures="count(A.x) FILTER (WHERE A.y) AS n")
    other = read_plan(measures="count(A.x, A.y) AS n")
    assert find_differing_name(plan, other) == "MEASURES"


def test_windows_of_equal_length() -> None:
    plan = read_plan(within="WITHIN INTERVAL '60' SECOND")
    assert find_differing_name(plan, read_plan(within="WITHIN INTERVAL '1' MINUTE")) is None
    other = read_plan(within="WITHIN INTERVAL '61' SECOND")
    assert find_differing_name(plan, other) == "WITHIN"


def test_the_output_rows_matter() -> None:
    plan = read_plan()
    all_rows = replace(plan, rows_per_match=clauses.RowsPerMatch.ALL_ROWS_SHOW_EMPTY)
    assert find_differing_name(plan, all_rows) == "ROWS PER MATCH"
    partial = replace(plan, partial=clauses.PartialMatches(shows_timed_out=True))
    assert find_differing_name(plan, partial) == "the output of partial matches"
    gap = clauses.Gap(clauses.RowExpression("5"))
    assert find_differing_name(plan, replace(plan, gaps=(gap,))) == "a window inside the match"


def test_the_names_of_partition_keys_matter() -> None:
    plan = read_plan(partition_by="k AS a")
    assert find_differing_name(plan, read_plan(partition_by="k AS b")) == "PARTITION BY"
    assert find_differing_name(plan, read_plan(partition_by="k")) == "PARTITION BY"
    assert find_differing_name(plan, read_plan(partition_by="`k`  AS a")) is None


def test_the_longest_match_has_an_after_match_skip() -> None:
    plan = read_plan(skip="AFTER MATCH SKIP TO NEXT ROW", within="LONGEST MATCH")
    other = read_plan(skip="AFTER MATCH SKIP PAST LAST ROW", within="LONGEST MATCH")
    assert find_differing_name(plan, other) == "the output of matches"
    assert "AFTER MATCH SKIP TO NEXT ROW" in write_sql(plan, "t")


def test_the_subset_of_after_match_skip_matters() -> None:
    skip = "AFTER MATCH SKIP TO LAST U"
    plan = read_plan(skip=skip, subset="SUBSET U = (A, B)")
    other = read_plan(skip=skip, subset="SUBSET U = (B)")
    assert find_differing_name(plan, other) == "SUBSET"
    assert "SUBSET U = (A, B)" in write_sql(plan, "t")


def test_a_subset_that_nothing_reads_does_not_matter() -> None:
    plan = read_plan(subset="SUBSET U = (A, B)")
    assert find_differing_name(plan, read_plan()) is None
    assert "SUBSET" not in write_sql(plan, "t")


ROW = clauses.RowExpression("5")

# For each field of a plan: a value that differs from the value in the test.
# A window inside the match reads the union variable of `subsets`.
CHANGES: dict[str, Any] = {
    "pattern": Variable("B"),
    "partition_by": (ROW,),
    "order_by": (clauses.SortItem(ROW),),
    "equivalence_keys": (ROW,),
    "measures": (clauses.Measure("m", Term(("1",), Span(0, 1))),),
    "rows_per_match": clauses.RowsPerMatch.ALL_ROWS_SHOW_EMPTY,
    "column_order": clauses.ColumnOrder.INPUT_FIRST,
    "output": clauses.MatchOutput.ALL,
    "first_matches": clauses.FirstMatches(2),
    "partial": clauses.PartialMatches(shows_timed_out=True),
    "totals": Totals((TotalAggregate("count"),)),
    "after_match": clauses.AfterMatchSkip(clauses.SkipTo.NEXT_ROW),
    "within": clauses.Within(ROW),
    "within_rows": 5,
    "gaps": (),
    "subsets": (clauses.Subset("U", ("A", "B")),),
    "definitions": (clauses.Definition("A", Term(("x",), Span(0, 1))),),
    "selection": clauses.EventSelection.SKIP_TILL_ANY_MATCH,
    "absences": (clauses.Absence("A", None, None),),
    "match_condition": "A",
    "staging": Staging((), ()),
    "frame_length": ROW,
}


@pytest.mark.parametrize("field", [field.name for field in fields(MatchPlan) if field.compare])
def test_every_field_of_a_plan_is_compared(field: str) -> None:
    plan = MatchPlan(
        Variable("A"), gaps=(clauses.Gap(ROW, "A", "U"),), subsets=(clauses.Subset("U", ("A",)),)
    )
    changed = replace(plan, **{field: CHANGES[field]})
    assert find_differing_name(plan, plan) is None
    assert find_differing_name(plan, changed) is not None


def test_equal_keys_of_another_kind_differ() -> None:
    plan = MatchPlan(Variable("A"), partition_by=(ROW,))
    other = MatchPlan(Variable("A"), equivalence_keys=(ROW,))
    assert find_differing_name(plan, other) == "PARTITION BY"
