"""Conditions on the order column that become a window, and the conditions that remain."""

from __future__ import annotations

import pytest

from matchrec.conditions.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    STRING,
    Family,
    ValueType,
    build_decimal_type,
)
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.clauses import Distance, DistanceForm
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.show import show_scalar
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from tests.tasks.linking import split_plan

INSTANT = ValueType(Family.TIMESTAMP, "timestamp")
FLOAT = ValueType(Family.FLOATING, "float")
HOUR = 3_600_000_000  # in microseconds
QUERY = "SELECT * FROM e MATCH_RECOGNIZE (ORDER BY {} ALL ROWS PER MATCH PATTERN ({}) DEFINE {})"
COLUMNS = InputColumns(("ts", "kind"))


def make_plan(
    pattern: str, define: str, type_: ValueType = BIGINT, order: str = "ts", zone: bool = True
) -> MatchPlan:
    """Return the plan with its window. zone: whether it has one offset."""
    query = QUERY.format(order, pattern, define)
    plan = lower_clause(parse_sql(query).sites[0].clause)
    return split_plan(plan, COLUMNS, str, find_order_type=lambda _: OrderType(type_, zone)).plan


def find_window(plan: MatchPlan) -> Distance | None:
    """Return the window that the conditions of a plan form."""
    return None if plan.within is None else plan.within.distance


def show_conditions(plan: MatchPlan) -> dict[str, str]:
    """Return the conditions of a plan as text, by variable."""
    return {
        definition.variable: show_scalar(definition.condition) for definition in plan.definitions
    }


def test_conditions_that_a_window_implies_are_removed() -> None:
    bound = "ts - V.ts <= 1800"
    plan = make_plan(
        "V X*? C Y*? P",
        f"V AS kind = 'v', C AS kind = 'c' AND C.{bound}, P AS P.{bound} AND kind = 'p', "
        f"X AS X.{bound}, Y AS Y.ts >= V.ts AND Y.{bound}",
    )
    assert show_conditions(plan) == {"V": "`kind` = 'v'", "C": "`kind` = 'c'", "P": "`kind` = 'p'"}
    condition_window = find_window(plan)
    assert condition_window is not None
    assert (
        condition_window.limit,
        condition_window.first_must_be_inside,
        condition_window.text,
    ) == (1800, False, "at most 1800")
    assert condition_window.variables == ("C", "P", "X", "Y")


@pytest.mark.parametrize(
    ("type_", "bound", "limit"),
    [
        (BIGINT, "B.ts - A.ts < 60 * 30", 1799),
        (BIGINT, "1800 >= (B.ts - A.ts)", 1800),
        (INT, "B.ts <= A.ts + 1800", 1800),
        (INT, "A.ts + 10.5 > B.ts", 10),
        (BIGINT, "ts - 1800 <= FIRST(ts)", 1800),
        (BIGINT, "ts BETWEEN FIRST(A.ts) AND FIRST(A.ts) + 5", 5),
        (BIGINT, "B.ts - A.ts BETWEEN 0 AND 5", 5),
        (build_decimal_type(6, 2), "B.ts - A.ts < 1.5", 149),
        (DATE, "datediff(B.ts, A.ts) <= 3", 3),
        (DATE, "B.ts < A.ts + INTERVAL '3' DAY", 2),
        (INSTANT, "B.ts - A.ts <= INTERVAL '1' HOUR", HOUR),
        (INSTANT, "B.ts < A.ts + INTERVAL 1 HOUR 30 MINUTES", HOUR * 3 // 2 - 1),
        (DOUBLE, "B.ts - A.ts <= 0.5", 0.5),
    ],
)
def test_a_bound_can_be_written_in_several_forms(
    type_: ValueType, bound: str, limit: float
) -> None:
    plan = make_plan("A B+", f"B AS {bound}", type_)
    condition_window = find_window(plan)
    assert condition_window is not None
    assert (condition_window.limit, show_conditions(plan)) == (limit, {})


@pytest.mark.parametrize(
    ("type_", "bound"),
    [
        (BIGINT, "B.ts - A.ts >= 5"),  # from below
        (BIGINT, "B.ts - A.ts < 0"),  # of no row
        (BIGINT, "A.ts - B.ts <= 5"),
        (BIGINT, "B.ts - A.ts <= 5 OR kind = 'x'"),
        (BIGINT, "B.ts - A.ts <= 1e3"),
        (BIGINT, "B.ts - PREV(ts) <= 5"),
        (BIGINT, "B.ts - A.ts <= INTERVAL '1' HOUR"),
        (BIGINT, "B.ts - FIRST(B.ts) <= 5"),
        (BIGINT, "abs(B.ts - A.ts) <= 5"),
        (FLOAT, "B.ts - A.ts <= 5"),
        (STRING, "B.ts - A.ts <= 5"),
        (ValueType(Family.INTEGER, "smallint", 16), "B.ts - A.ts <= 5"),
        (build_decimal_type(20, 2), "B.ts - A.ts <= 5"),
        (DATE, "B.ts - A.ts <= 5"),
        (DATE, "B.ts <= A.ts + INTERVAL '36' HOUR"),
        (INSTANT, "B.ts - A.ts <= INTERVAL '1' MONTH"),
    ],
)
def test_conditions_that_form_no_window(type_: ValueType, bound: str) -> None:
    assert find_window(make_plan("A B+", f"B AS {bound}", type_)) is None


@pytest.mark.parametrize(
    ("bound", "limit"),
    [
        ("B.ts - A.ts <= INTERVAL '1' HOUR", None),  # local times go back
        ("B.ts <= A.ts + INTERVAL '1' HOUR", HOUR),
        ("B.ts <= A.ts + INTERVAL '1' DAY", None),  # of 23 to 25 hours
    ],
)
def test_clocks_that_are_changed(bound: str, limit: int | None) -> None:
    plan = make_plan("A B+", f"B AS {bound}", INSTANT, zone=False)
    assert (find_window(plan) is None, limit) == (limit is None, limit)
    assert limit is None or find_window(plan).limit == limit  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("pattern", "define", "order"),
    [
        ("A B? C?", "C AS C.ts - A.ts <= 5", "ts"),  # B may be last
        ("(A | B) C", "C AS C.ts - A.ts <= 5", "ts"),  # A need not be first
        ("A+ C", "C AS C.ts - A.ts <= 5", "ts"),  # from the last A
        ("A B", "B AS B.ts - A.ts <= 5", "ts DESC"),
        ("A B", "B AS B.ts - A.ts <= 5", "kind, ts"),
    ],
)
def test_rows_that_no_condition_bounds_have_no_window(
    pattern: str, define: str, order: str
) -> None:
    assert find_window(make_plan(pattern, define, order=order)) is None


def test_the_widest_window_of_the_last_variables_is_used() -> None:
    plan = make_plan("A B+ C?", "B AS B.ts - A.ts <= 2, C AS C.ts < A.ts + 4")
    assert show_conditions(plan) == {"B": "B.`ts` - A.`ts` <= 2"}
    assert find_window(plan) is not None
    assert find_window(plan).limit == 3  # type: ignore[union-attr]


def test_the_first_row_must_be_in_its_own_window() -> None:
    condition_window = find_window(make_plan("A+", "A AS ts - FIRST(ts) <= 2"))
    assert condition_window is not None
    assert condition_window.first_must_be_inside
    plan = make_plan("(A | B) C*", "A AS ts - FIRST(ts) <= 2, C AS ts - FIRST(ts) <= 2")
    condition_window = find_window(plan)
    assert condition_window is not None
    assert (condition_window.first_must_be_inside, show_conditions(plan)) == (
        False,
        {"A": "`ts` - FIRST(`ts`) <= 2"},
    )


def test_forms_along_a_double_do_not_mix() -> None:
    define = "B AS B.ts - A.ts <= 2, C AS C.ts <= A.ts + 2"
    assert find_window(make_plan("A (B | C)", define, DOUBLE)) is None
    condition_window = find_window(make_plan("A B? C", define, DOUBLE))
    assert condition_window is not None
    assert condition_window.forms == (DistanceForm.SUM,)
    condition_window = find_window(make_plan("A (B | C)", define, INT))
    assert condition_window is not None
    assert condition_window.forms == (DistanceForm.DIFFERENCE, DistanceForm.SUM)
