"""Splitting of conditions: the parts that Spark computes before the match, and the other parts."""

import pytest

from matchrec.compile.columns import find_step_columns
from matchrec.conditions.residual import (
    ClassifierChoice,
    ColumnRead,
    CombinedStep,
    RunningAggregate,
    SplitCondition,
    find_column_reads,
)
from matchrec.conditions.row_column import ShiftedValue, show_column
from matchrec.conditions.run_condition import Reduction
from matchrec.conditions.split import RowScope, split_conditions
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.expression import ColumnReference, End, Navigation
from matchrec.plan.operations import can_fail
from matchrec.plan.show import show_scalar
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.tokenize import read_tokens

UNION = "CASE WHEN (x > 0) OR ((x < 9) AND (z)) THEN 1 / x END"


def split_b(condition: str, more: str = "") -> SplitCondition:
    """Return the split condition of B in PATTERN (A+ B+)."""
    text = f"ORDER BY t PATTERN (A+ B+) {more} DEFINE B AS {condition}"
    (only,) = split_conditions(lower_clause(parse_clause(text)), RowScope.SPARK)
    return only


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("x > 3", "x > 3"),
        ("B.x > 3 AND y", "(x > 3) AND (y)"),
        ("LAST(x) = 1", "x = 1"),
        ("upper(B.name) LIKE 'A%' OR x IS NULL", "upper(name) LIKE 'A%' OR x IS NULL"),
        ("exists(xs, e -> e > x)", "exists(xs, e -> e > x)"),
        ("x IN (SELECT y FROM other)", "x IN (SELECT y FROM other)"),
        ("TRUE", "TRUE"),
        ("CLASSIFIER() = 'B'", "'B' = 'B'"),
    ],
)
def test_spark_computes_conditions_on_the_row(condition: str, text: str) -> None:
    split = split_b(condition)
    assert split.run_step is None
    assert split.row_test is not None
    assert split.row_test.text == text


def test_spark_computes_reads_at_a_fixed_distance() -> None:
    split = split_b("x < PREV(x) AND x * 2 > NEXT(B.x + B.y, 3)")
    assert split.run_step is None
    assert split.row_test is not None
    shifts = [piece for piece in split.row_test.pieces if isinstance(piece, ShiftedValue)]
    assert shifts == [
        ShiftedValue("x", 0),
        ShiftedValue("x", -1),
        ShiftedValue("x", 0),
        ShiftedValue("x + y", 3),
    ]


def test_over_a_stream_spark_computes_conditions_on_one_row() -> None:
    """The search reads the neighbouring rows."""
    text = "ORDER BY t PATTERN (A+ B+) DEFINE B AS x > 3 AND x < PREV(x) AND abs(PREV(x)) > 1"
    (split,) = split_conditions(lower_clause(parse_clause(text)), RowScope.SEARCH)
    assert split.row_test is not None
    assert split.row_test.text == "x > 3"
    assert isinstance(split.run_step, CombinedStep)
    less, far = split.run_step.operands
    assert isinstance(less, CombinedStep)
    assert isinstance(far, ColumnRead)
    current, before = less.operands
    assert isinstance(current, ColumnRead)
    assert isinstance(before, ColumnRead)
    assert current.navigation is None
    assert before.navigation == Navigation(physical_offset=-1)
    assert (far.column.text, far.navigation) == ("abs(x) > 1", before.navigation)


def split_b_for_worker(condition: str) -> SplitCondition:
    """Return the split condition of B if the worker sorts the rows."""
    text = f"ORDER BY t PATTERN (A+ B+) DEFINE B AS {condition}"
    (only,) = split_conditions(lower_clause(parse_clause(text)), RowScope.WORKER)
    return only


def test_a_worker_that_sorts_computes_conditions_on_neighbours() -> None:
    split = split_b_for_worker("x > 3 AND x < PREV(x) AND abs(PREV(B.x)) > 1 AND x > LAST(A.x)")
    assert split.row_test is not None
    assert split.nearby_test is not None
    assert split.row_test.text == "x > 3"
    assert show_column(split.nearby_test.column) == "(x < PREV(x)) AND (abs(PREV(x)) > 1)"
    assert isinstance(split.nearby_test.step, CombinedStep)
    less, far = split.nearby_test.step.operands
    assert isinstance(less, CombinedStep)
    assert isinstance(far, ColumnRead)
    assert [getattr(operand, "navigation", operand) for operand in less.operands] == [
        None,
        Navigation(physical_offset=-1),
    ]
    assert (far.column.text, far.navigation) == ("abs(x) > 1", Navigation(physical_offset=-1))
    assert isinstance(split.run_step, CombinedStep)  # x > LAST(A.x) alone depends on the run
    assert list(map(show_scalar, split.run_conjuncts)) == ["x > A.x"]
    texts = ["x > 3", "x < PREV(x)", "abs(PREV(B.x)) > 1"]
    assert list(map(show_scalar, split.test_conjuncts)) == texts


@pytest.mark.parametrize(
    ("condition", "spark"),
    [
        ("LAST(B.x, 0) < PREV(B.x) + NEXT(x, 2) * 3", None),
        ("CASE WHEN PREV(x) IS NULL THEN y ELSE PREV(x) END > coalesce(x, 1)", None),
        ("x BETWEEN PREV(x) AND NEXT(x) OR name IN ('a', PREV(name))", None),
        ("levenshtein(name, PREV(name)) > 1", "levenshtein(name, PREV(name))"),
        ("x > 1 OR sqrt(x + PREV(x)) > 1", "sqrt(x + PREV(x))"),
        ("exists(xs, e -> e > PREV(x))", "exists(xs, e -> e > PREV(x))"),
        ("avg(x) OVER (ROWS 3 PRECEDING) < PREV(x)", "avg(x) OVER"),
    ],
)
def test_expressions_over_neighbours_that_only_spark_computes_are_columns(
    condition: str, spark: str | None
) -> None:
    split = split_b_for_worker(condition)
    assert split.run_step is None
    assert split.nearby_test is not None
    several = [
        column for column in find_step_columns(split.nearby_test.step) if not column.reads_one_row
    ]
    assert [show_column(column_of_step)[: len(spark or "")] for column_of_step in several] == (
        [spark] if spark else []
    )


def test_a_union_variable_that_holds_the_variable_is_the_current_row() -> None:
    assert split_b("U.x > 1", "SUBSET U = (A, B)").run_step is None
    assert split_b("U.x > 1", "SUBSET U = (A)").run_step is not None


def test_a_function_of_one_position_moves_to_the_row() -> None:
    step = split_b("upper(LAST(A.name)) LIKE concat(A.prefix, '%')").run_step
    assert isinstance(step, ColumnRead)
    assert step.column.text == "upper(name) LIKE concat(prefix, '%')"
    assert step.navigation == Navigation("A")


def test_a_condition_true_of_no_row_keeps_its_value_there() -> None:
    step = split_b("coalesce(LAST(A.x, 1), 0) = 0").run_step
    assert isinstance(step, ColumnRead)
    assert step.column_without_row is not None
    assert step.column_without_row.text == "coalesce(IF(FALSE, x, NULL), 0) = 0"
    bare = split_b("LAST(A.flag)").run_step
    assert isinstance(bare, ColumnRead)
    assert bare.column_without_row is None
    always_there = split_b("coalesce(LAST(A.x), 0) = 0").run_step
    assert isinstance(always_there, ColumnRead)
    assert always_there.column_without_row is None


def test_two_positions_are_combined_by_the_engine() -> None:
    step = split_b("x > 2 * FIRST(A.x)").run_step
    assert isinstance(step, CombinedStep)
    current, first = step.operands
    assert isinstance(current, ColumnRead)
    assert isinstance(first, ColumnRead)
    assert (current.column.text, current.navigation) == ("x", None)
    assert first.column.text == "2 * x"
    assert first.navigation == Navigation("A", End.FIRST)


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("x <> 0 AND 10 / x < A.y", "CASE WHEN x <> 0 THEN 10 / x END"),
        ("A.x <> 0 AND LAST(10 / A.x) < y", "CASE WHEN x <> 0 THEN (10 / x) END"),
        ("kind = 'n' AND CAST(v AS INT) > A.y", "CASE WHEN kind = 'n' THEN CAST(v AS INT) END"),
        (
            "x = 0 OR 10 / x < A.y",
            "CASE WHEN CASE WHEN x = 0 THEN FALSE ELSE TRUE END THEN 10 / x END",
        ),
        ("coalesce(v, 1 / z, A.y) > 1", "CASE WHEN (v) IS NULL THEN 1 / z END"),
        ("IF(x > 0, 10 / x, A.y) > 1", "CASE WHEN x > 0 THEN 10 / x END"),
        (
            "CASE WHEN x = 0 THEN A.y WHEN z > 0 THEN 1 / x END > 1",
            "CASE WHEN (CASE WHEN x = 0 THEN FALSE ELSE TRUE END) AND (z > 0) THEN 1 / x END",
        ),
        ("x <> 0 AND x / 2 < A.y", "x / 2"),  # no guard needed
        ("10 / x < A.y AND x <> 0", "10 / x"),  # Spark would fail as well
        ("x < 9 AND x + 1 < A.y", "CASE WHEN x < 9 THEN x + 1 END"),
        ("x < 9 AND -x < A.y", "CASE WHEN x < 9 THEN -x END"),
        ("x < 9 AND abs(x) < A.y", "CASE WHEN x < 9 THEN abs(x) END"),
        ("x < 9 AND kind = A.kind || 'a-b'", "kind"),  # a sign in quotes is no sign
        ("x < 9 AND upper(kind) = A.kind", "upper(kind)"),
        ("x < 9 AND new_in_spark(x) < A.y", "CASE WHEN x < 9 THEN new_in_spark(x) END"),
        ("x < 9 AND try_divide(x, z) < A.y", "try_divide(x, z)"),
        ("x < 9 AND day > DATE '2024-01-01' = A.y", "day > DATE '2024-01-01'"),
        ("x < 9 AND (kind RLIKE '^a') = A.y", "(kind RLIKE '^a')"),
        (
            "x < 9 AND (kind RLIKE v) = A.y",
            "CASE WHEN x < 9 THEN CAST((kind RLIKE v) AS INT) END = 1",
        ),
    ],
)
def test_expressions_that_may_fail_are_computed_under_their_guards(
    condition: str, column: str
) -> None:
    step = split_b(condition).run_step
    assert step is not None
    assert column in [show_column(column_of_step) for column_of_step in find_step_columns(step)]


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("upper(name) LIKE 'f(%' AND (x) IN (1, 2)", False),
        ("name LIKE pattern", True),
        ("upper(name)", False),
        ("my.upper(name)", True),
        ("`upper`(name)", True),
        ("x + 1", True),
        ("try_add(x, y) > 1", False),
        ("try_element_at(xs, y) > 1", True),  # of the place 0
        ("lpad(name, x)", True),
        ("floor(x) > 1", True),  # of a double
        ("parse_json(name)", True),
        ("x::int", True),
        ("x IN (SELECT max(y) FROM o)", False),
        ("new_in_spark(x)", True),
        ("x / 2 > 1", False),
        ("x / 2D > 1.5", False),
        ("x / 0.0 > 1", True),
        ("x / (2) > 1", True),
        ("x % 2 = 1 OR x DIV 3 = 0", False),
        ("x % y = 1", True),
        ("name NOT LIKE r'a%' ESCAPE '!'", False),
        ("name LIKE ANY ('a', 'b')", True),
        ("name LIKE 'a' || y", True),
        ("xs[0] > 1", True),
        ("exists(xs, v -> v > x)", False),
        ("exists(xs, v -> 1 / v > x)", True),
        ("exists(xs, int -> int(x) > int)", True),  # the parameter is no function
        ("struct(x AS a, y) IS NOT NULL", False),
        ("CASE WHEN x IS DISTINCT FROM y THEN :p END BETWEEN 1 AND 3", False),
        ("day + INTERVAL 1 DAY > CURRENT_DATE", True),
        ("day > DATE '2024-01-01' OR EXTRACT(YEAR FROM day) = 2", False),
        ("name COLLATE UNICODE = 'a'", False),
    ],
)
def test_unknown_functions_may_fail(text: str, fails: bool) -> None:
    scope = Scope(ClausePart.DEFINE, ("A",))
    assert can_fail(parse_scalar(read_tokens(text), scope).operations) is fails
    (reference,) = parse_scalar(read_tokens(f"LAST(f(x, {text}))"), scope).references
    assert isinstance(reference, ColumnReference)
    assert can_fail(reference.operations - {"F()"}) is fails


@pytest.mark.parametrize(
    "condition",
    [
        "IF(A.y > 0, 1 / x, 0) = 1",
        "A.y > x AND 1 + x < A.z",
        "nvl(A.y, CAST(x AS INT)) > 2",
        "A.y > x AND CAST(x AS STRING) || 'a' < A.z",
    ],
)
def test_expressions_under_a_guard_on_other_rows_may_be_deferred(condition: str) -> None:
    step = split_b(condition).run_step
    assert step is not None
    operations = [read.deferred_operation for read in find_column_reads(step)]
    (deferred,) = (operation for operation in operations if operation is not None)
    assert "x" in {show_column(column) for column in find_step_columns(deferred)}


@pytest.mark.parametrize(
    ("definitions", "expected"),
    [
        ("A AS x > 0, B AS 1 / A.x < y", "CASE WHEN x > 0 THEN 1 / x END"),
        ("A AS x > 0 AND z, B AS 1 / U.x < y", "1 / x"),  # C may be any row
        ("C AS x > 0, B AS 1 / A.x < y", "1 / x"),
        ("A AS x > PREV(x) AND f(x), B AS 1 / A.x < y", "1 / x"),
        ("A AS x IN (SELECT y FROM o), B AS 1 / A.x < y", "1 / x"),
        ("A AS x > 0, B AS PREV(1 / A.x) < y", "1 / x"),  # A need not have that row
        ("A AS x > 0, C AS x < 9 AND z, B AS 1 / U.x < y", UNION),
    ],
)
def test_expressions_that_may_fail_are_computed_for_possible_rows(
    definitions: str, expected: str
) -> None:
    text = f"ORDER BY t PATTERN (A+ C B) SUBSET U = (A, C) DEFINE {definitions}"
    step = split_conditions(lower_clause(parse_clause(text)), RowScope.SPARK)[-1].run_step
    assert step is not None
    assert expected in [show_column(column) for column in find_step_columns(step)]


def test_conjuncts_go_where_they_are_cheapest() -> None:
    split = split_b("x > 3 AND avg(A.x) < x AND y < 5")
    assert split.row_test is not None
    assert split.row_test.text == "(x > 3) AND (y < 5)"
    assert isinstance(split.run_step, CombinedStep)
    grown = split.run_step.operands[0]
    assert isinstance(grown, RunningAggregate)
    assert (grown.function, grown.aggregate.variable) == (Reduction.AVG, "A")


def test_the_classifier_of_another_row_is_a_choice_of_constants() -> None:
    step = split_b("CLASSIFIER(A) IN ('A', 'C')").run_step
    assert isinstance(step, ClassifierChoice)
    texts = [column.text for column in step.columns_by_variable]
    assert texts == ["'A' IN ('A', 'C')", "'B' IN ('A', 'C')"]
    assert step.column_without_row.text == "CAST(NULL AS STRING) IN ('A', 'C')"


def test_a_function_of_two_positions_is_refused_by_name() -> None:
    with pytest.raises(MatchRecognizeUnsupportedError, match="SENTENCES"):
        split_b("sentences(name, LAST(A.name)) = 'x'")
