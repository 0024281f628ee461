"""Types that are known without asking the session; None if only the session knows them."""

from __future__ import annotations

import pytest

from matchrec.compile.split_query import find_conjuncts
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.split import RowScope, split_conditions
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    ValueType,
    build_decimal_type,
)
from matchrec.conditions.typing.known_types import find_known_type
from matchrec.plan.expression import ColumnReference, Reference, Scalar, render, write_argument
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause

TYPES = {
    "i": INT,
    "b": BIGINT,
    "d": DOUBLE,
    "f": FLOAT,
    "s": STRING,
    "flag": BOOLEAN,
    "day": DATE,
    "m": build_decimal_type(10, 2),
    ":low": BIGINT,
}


def parse_measure(text: str) -> Scalar:
    """Return the expression of a measure."""
    plan = lower_clause(
        parse_clause(f"ORDER BY t MEASURES {text} AS x PATTERN (A) DEFINE A AS TRUE")
    )
    return plan.measures[0].value


def find_leaf_type(leaf: Reference | str) -> ValueType | None:
    """Return the type of a column or literal; None if it is unknown."""
    if isinstance(leaf, ColumnReference):
        return TYPES.get(leaf.argument)
    return TYPES.get(leaf) if isinstance(leaf, str) else None


KNOWN = {
    # Columns, literals and parameters.
    "i": INT,
    "(f)": FLOAT,
    "flag": BOOLEAN,
    "90": INT,
    "2147483647": INT,
    "2147483649": BIGINT,
    "(-3)": INT,
    "2D": DOUBLE,
    "'it is'": STRING,
    "false": BOOLEAN,
    ":low": BIGINT,
    "m": None,  # engines differ in what they compare with a decimal
    "day": None,
    "unknown": None,
    "-2147483648": None,  # an INT only for an engine that reads the sign as a part of the number
    "1e3": None,
    "'it''s'": None,
    "5L": None,
    # Tests.
    "i >= 90": BOOLEAN,
    "(i) = (2.5)": BOOLEAN,
    "f < d": BOOLEAN,
    "s <> 'X'": BOOLEAN,
    "b > :low": BOOLEAN,
    "i >= 90 AND (s = 'X' OR NOT flag)": BOOLEAN,
    "FIRST(i) == LAST(b)": BOOLEAN,
    "s > 90": None,  # a setting decides whether the text becomes a number
    "flag = flag": None,
    "i = b = d": None,  # engines differ in which values they compare first
    "i >= 90 AND s": None,
    "m > 1": None,
    "abs(i) > 1": None,
    "i IN (1, 2)": None,
    # Sums, differences and products.
    "FIRST(i) - LAST(i) + 1": INT,
    "i + b * 2": BIGINT,
    "(i - 1) * d": DOUBLE,
    "f + 1": None,  # FLOAT or DOUBLE, by ANSI mode
    "i + 1.5": None,
    "i / 2": None,
    "- i": None,
    "i + s": None,
}


@pytest.mark.parametrize(("text", "type_"), KNOWN.items())
def test_types_are_known_if_every_session_agrees(text: str, type_: ValueType | None) -> None:
    assert find_known_type(parse_measure(text), find_leaf_type) == type_


def test_columns_of_spark_are_conjunctions_of_conjuncts() -> None:
    plan = lower_clause(
        parse_clause(
            "ORDER BY t PATTERN (A B) DEFINE A AS x = 1, "
            "B AS s = 'X' AND x < PREV(x) AND x > A.x AND x >= 90"
        )
    )
    conditions = split_conditions(plan, RowScope.WORKER)

    conjuncts = find_conjuncts(plan, conditions)

    def show_conjuncts(column: RowColumn) -> list[str]:
        """Return the conjuncts of a column as text."""
        return [render(conjunct, write_argument) for conjunct in conjuncts[column]]

    assert {column.text: show_conjuncts(column) for column in conjuncts} == {
        "x = 1": ["x = 1"],
        "s = 'X'": ["s = 'X'"],
        "x >= 90": ["x >= 90"],
        "(s = 'X') AND (x >= 90)": ["s = 'X'", "x >= 90"],
    }
