"""Residual conditions: the part of a condition that remains for the engine, as a tree of steps.

`split` builds the tree before types are known; `typing` gives each step its type. An operation that
the engine does not have is rewritten with the few basic operations that it has:

    COALESCE(a, b)   →   IF(a IS NOT NULL, a, b)

Source: the semantics of each function as Spark SQL documents it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import ValueType
from matchrec.plan.expression import COMPARISONS, Aggregate, Navigation, Scalar
from matchrec.plan.text import Amount
from matchrec.source import Span

NO_SPAN = Span(0, 0)

# The number zero in rewritten functions. It is not a column of the query, so Spark does not have to
# find out its type.
ZERO = build_row_column("0", Amount(Fraction(0)))


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """A column that is read on one row."""

    column: RowColumn
    # Finds the row from the run; None for the current row.
    navigation: Navigation | None
    # What is read on the current row instead if `navigation` finds no row; None for NULL.
    missing: RowColumn | None
    span: Span
    # The same value as arithmetic of columns and constants, if it is that.
    formula: CombinedStep | None = None
    # The same value as the engine computes it, if it can fail and guards over other rows decide
    # whether it is evaluated.
    deferred: CombinedStep | None = None


@dataclass(frozen=True, slots=True)
class RunningAggregate:
    """An aggregate over rows of the run.

    The engine either updates its value with each row, or keeps its rows in a list from which Python
    computes it. Python also computes sums and averages of values that the engine cannot add.
    """

    # The basic form that the engine updates: count, sum, avg, min or max; None if there is none.
    function: str | None
    # The aggregate as the user wrote it.
    aggregate: Aggregate
    # The argument of the basic form; None if it counts rows.
    column: RowColumn | None
    span: Span
    # If there may be a list, what it holds of a row, by the id of the row's primary variable: the
    # FILTER condition or TRUE, which lets the row count, then the arguments.
    columns: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class VariableAt:
    """A value that depends only on the classifier of one row."""

    # Finds the row from the run.
    navigation: Navigation
    # The value for each primary variable, by id, and last the value if there is no such row. These
    # columns are constants: they read no row.
    by_variable: tuple[RowColumn, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CombinedStep:
    """An operation on values of the run."""

    operator: str
    operands: tuple[Step, ...]
    span: Span
    # What the operator needs besides its operands, such as a type; see `plan.expression.Operation`.
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedStep:
    """A step with its type."""

    expression: RunExpression
    type: ValueType
    span: Span = NO_SPAN
    # The step, if it is a column that Spark may still cast.
    value: ColumnRead | None = None
    # The operands of an operation, as the user wrote it.
    parts: tuple[TypedStep, ...] = ()
    # How many operations it consists of, once it is rewritten with the operations of the engine.
    size: int = 1
    # How deep these operations are nested.
    depth: int = 0
    # Whether it may have no result on some row.
    fails: bool = False


@dataclass(frozen=True, slots=True)
class TypedOperation(CombinedStep):
    """An operation whose operands have types, while its own type is not known yet."""

    operands: tuple[TypedStep, ...]


Step = ColumnRead | RunningAggregate | VariableAt | CombinedStep | TypedStep


def read_current_row(column: RowColumn, span: Span) -> ColumnRead:
    """Return the step that reads a column on the current row."""
    return ColumnRead(column, navigation=None, missing=None, span=span)


def find_column_reads(step: Step) -> Iterator[ColumnRead]:
    """Yield the columns that an operation combines, at any depth; a column yields itself."""
    if isinstance(step, ColumnRead):
        yield step
    elif isinstance(step, CombinedStep):
        for operand in step.operands:
            yield from find_column_reads(operand)


@dataclass(frozen=True, slots=True)
class Nearby:
    """A test over neighbours that the worker computes for all rows, before the match."""

    # The same test as Spark would compute it.
    column: RowColumn
    # Its navigations are physical ones from the row itself.
    step: Step


@dataclass(frozen=True, slots=True)
class SplitCondition:
    """The condition of one variable, in parts. A row satisfies it if all parts are true."""

    variable: str
    # Computed by Spark before the match. None if there is nothing to test.
    before: RowColumn | None
    # Computed by the engine during the match. None if there is nothing to test.
    during: Step | None
    span: Span | None
    # The conjuncts in `before` and `nearby`.
    tests: tuple[RowColumn | Nearby, ...] = ()
    # The conjuncts in `during`, as the user wrote them.
    rest: tuple[Scalar, ...] = ()
    # Computed by the worker before the match. None if there is nothing to test, or if the worker
    # does not sort the rows.
    nearby: Nearby | None = None


BITS = frozenset({"&", "|", "^", "~", "<<", ">>", "SHIFTRIGHTUNSIGNED"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "NEG"})
LOGIC = frozenset({"AND", "OR", "NOT"})

# Operations that the engine has, so that they are not rewritten.
BASIC = COMPARISONS | ARITHMETIC | LOGIC | {"IS NULL", "IF", "DATEDIFF"}

# Operations that are NULL if an operand is NULL.
NULL_IN_NULL_OUT = (COMPARISONS - {"<=>"}) | ARITHMETIC | BITS | {"NOT", "ABS", "LIKE", "||"}

Operands = tuple[Step, ...]
Rewriting = Callable[[Operands, Span], Step]
RewritingForm = Any  # a template: a nested tuple, see `REWRITINGS`


def rewrite(step: TypedOperation) -> Step | None:
    """Return an operation rewritten with others, one step closer to the basic ones.

    None if the operation is not rewritten.
    """
    if step.operator in CONVERSIONS and len(step.operands) == 1:
        return CombinedStep("CAST", step.operands, step.span, (CONVERSIONS[step.operator],))
    rewriting = REWRITINGS.get(step.operator)
    if rewriting is None:
        return None
    if callable(rewriting):
        rewritten: Step = rewriting(step.operands, step.span)
        return rewritten
    return fill_form(rewriting, step.operands, step.span)


def fill_form(form: RewritingForm, operands: Operands, span: Span) -> Step:
    """Return a form of `REWRITINGS` with these operands.

    `("IF", ("IS NOT NULL", 0), 1, 2)` and the operands a, b, c: `IF(a IS NOT NULL, b, c)`, where
    "IS NOT NULL" is an operation on a alone.
    """
    match form:
        case int():
            return operands[form]
        case "0":
            return read_current_row(ZERO, span)
        case str():
            return CombinedStep(form, operands, span)
    operator, *forms = form
    parts = tuple(fill_form(part, operands, span) for part in forms)
    return CombinedStep(operator, parts, span)


def rewrite_coalesce(operands: Operands, span: Span) -> Step:
    """Return the first operand that is not NULL: COALESCE, NVL and IFNULL.

    `COALESCE(a, b, c)` is `IF(a IS NOT NULL, a, IF(b IS NOT NULL, b, c))`.
    """
    *earlier_operands, step = operands
    for operand in reversed(earlier_operands):
        is_not_null = CombinedStep("IS NOT NULL", (operand,), span)
        step = CombinedStep("IF", (is_not_null, operand, step), span)
    return step


def build_extreme(comparison: str) -> Rewriting:
    """Return the rewriting of GREATEST or LEAST, which leave NULLs out.

    Args:
        comparison: `>` for GREATEST, `<` for LEAST.
    """
    take_second = ("OR", ("IS NULL", 0), (comparison, 1, 0))
    extreme_of_two = ("IF", ("IS NULL", 1), 0, ("IF", take_second, 1, 0))

    def rewrite_extreme(operands: Operands, span: Span) -> Step:
        """Return the extreme of the operands, built from the extremes of both halves."""
        # Each of two operands occurs several times in the form. With halves rather than one operand
        # after the other, the depth and so the number of repetitions grows slowly.
        if len(operands) == 1:
            return operands[0]
        middle = len(operands) // 2
        first_half = rewrite_extreme(operands[:middle], span)
        second_half = rewrite_extreme(operands[middle:], span)
        return fill_form(extreme_of_two, (first_half, second_half), span)

    return rewrite_extreme


def rewrite_in(operands: Operands, span: Span) -> CombinedStep:
    """Return `x IN (a, b)` as `x = a OR x = b`."""
    value, *candidates = operands
    comparisons = [CombinedStep("=", (value, candidate), span) for candidate in candidates]
    return CombinedStep("OR", tuple(comparisons), span)


def rewrite_case(operands: Operands, span: Span) -> CombinedStep:
    """Return CASE WHEN a THEN x WHEN b THEN y ELSE z END as IF(a, x, IF(b, y, z)).

    Args:
        operands: a, x, b, y, z. Without ELSE the last IF has no third operand.
        span: where the CASE was written.
    """
    others = operands[2:]
    if len(others) > 1:
        others = (rewrite_case(others, span),)
    return CombinedStep("IF", (*operands[:2], *others), span)


def build_compared_case(comparison: str) -> Rewriting:
    """Return the rewriting of a CASE that compares one value with others.

    Args:
        comparison: `=` for CASE x WHEN a THEN y ELSE z END; `<=>` for DECODE(x, a, y, z), which
            also finds NULL. The operands are x, a, y, z, and the conditions become x = a.
    """

    def rewrite_compared_case(operands: Operands, span: Span) -> CombinedStep:
        """Return a CASE whose branches are conditions that compare the value."""
        value, *branches = operands
        for index in range(0, len(branches) - 1, 2):
            branches[index] = CombinedStep(comparison, (value, branches[index]), span)
        return CombinedStep("CASE", tuple(branches), span)

    return rewrite_compared_case


# How each operation is rewritten, by a function or by a form. In a form,
#
#     a tuple    is an operation: its operator, then the forms of its operands
#     a number   is the operand with that index
#     a name     is that operation on all operands
#     "0"        is the number zero
REWRITINGS: Mapping[str, Rewriting | RewritingForm] = {
    "ABS": ("IF", ("<", 0, ("NEG", 0)), ("NEG", 0), 0),  # NULL and NaN stay as they are
    "NEGATIVE": "NEG",
    "MOD": "%",
    "ISNOTNULL": ("NOT", "IS NULL"),
    "ISNULL": "IS NULL",
    "COALESCE": rewrite_coalesce,
    "NVL": rewrite_coalesce,
    "IFNULL": rewrite_coalesce,
    "NULLIF": ("IF", ("OR", ("IS NULL", "="), ("NOT", "=")), 0),
    "NANVL": ("IF", ("ISNAN", 0), 1, 0),
    "NVL2": ("IF", ("IS NOT NULL", 0), 1, 2),
    "CASE": rewrite_case,
    "CASE OF": build_compared_case("="),
    "DECODE": build_compared_case("<=>"),
    "GREATEST": build_extreme(">"),
    "LEAST": build_extreme("<"),
    "BETWEEN": ("AND", (">=", 0, 1), ("<=", 0, 2)),
    **{f"NOT {name}": ("NOT", name) for name in ("BETWEEN", "IN", "LIKE")},
    "IN": rewrite_in,
    **{f"IS NOT {name}": ("NOT", f"IS {name}") for name in ("NULL", "UNKNOWN", "TRUE", "FALSE")},
    "IS UNKNOWN": "IS NULL",
    "IS NOT DISTINCT FROM": "<=>",
    "IS DISTINCT FROM": ("NOT", "<=>"),
    "IS TRUE": ("AND", "IS NOT NULL", 0),  # NULL becomes false
    "IS FALSE": ("AND", "IS NOT NULL", "NOT"),
    "DATE_DIFF": "DATEDIFF",
    "DATE_ADD": "+",
    "DATEADD": "+",
    "DATE_SUB": "-",
    "EQUAL_NULL": "<=>",
    "NULLIFZERO": ("NULLIF", 0, "0"),
    "ZEROIFNULL": ("COALESCE", 0, "0"),
}

# Functions that are a cast to one type, with that type.
CONVERSIONS: Mapping[str, str] = {
    "TO_DATE": "DATE",
    "TO_TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP": "TIMESTAMP_LTZ",  # whatever TIMESTAMP means in the session
} | {
    name: name
    for name in (
        *("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
        *("STRING", "BOOLEAN", "DATE"),
    )
}
