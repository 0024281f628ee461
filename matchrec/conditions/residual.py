"""Residual conditions: what of a condition is left for the engine, before and while it is typed.

Functions of several rows are written with the few operations that the engine has:

    COALESCE(a, b)   →   IF(a IS NOT NULL, a, b)

Source: the semantics of each function as Spark SQL documents it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import ValueType
from matchrec.plan.expression import Aggregate, Navigation, Scalar
from matchrec.plan.text import Amount
from matchrec.source import Span

NOWHERE = Span(0, 0)

# The number zero in what a function is written as, which Spark is not asked about.
ZERO = row_column("0", Amount(Fraction(0)))


@dataclass(frozen=True, slots=True)
class Value:
    """A column read on the row that `navigation` finds; None is the current row.

    missing: what takes its place, on the current row, where there is no such row; None is NULL.
    formula: the same as arithmetic of columns and constants, if it is that. deferred: the same as
    the engine computes it, where other rows tell whether it is asked, and it may fail.
    """

    column: RowColumn
    navigation: Navigation | None
    missing: RowColumn | None
    span: Span
    formula: Combined | None = None
    deferred: Combined | None = None


@dataclass(frozen=True, slots=True)
class RunningAggregate:
    """An aggregate that grows with the run, or of which the engine keeps all rows in a list, for
    Python to compute it from: also a sum or an average of values that the engine cannot add.

    function: its basic form, None where it has none. column: that it is over, None of rows that are
    counted. columns: of a list what each primary variable's rows have, by id: the condition that
    lets a row count, or TRUE, then the arguments.
    """

    function: str | None
    aggregate: Aggregate
    column: RowColumn | None
    span: Span
    columns: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class VariableAt:
    """A value that depends only on the classifier of the row that `navigation` finds.

    by_variable: for every primary variable, by id, the value with its name; the last is for
    no row. Constant columns: they look at no row at all.
    """

    navigation: Navigation
    by_variable: tuple[RowColumn, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Combined:
    """An operation on values of the run. words: see `plan.expression.Operation`."""

    operator: str
    operands: tuple[Step, ...]
    span: Span
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Typed:
    """A step that has its type: the expression that computes it, and the type of its value.

    value: the column that it is, which Spark may still cast. parts: the operands of an operation as
    it was written. size, depth: how many operations there are in it, and in one another, once it is
    written with those of the engine. fails: whether it may have no result on some row.
    """

    expression: RunExpression
    type: ValueType
    span: Span = NOWHERE
    value: Value | None = None
    parts: tuple[Typed, ...] = ()
    size: int = 1
    depth: int = 0
    fails: bool = False


@dataclass(frozen=True, slots=True)
class TypedOperation(Combined):
    operands: tuple[Typed, ...]


Step = Value | RunningAggregate | VariableAt | Combined | Typed


def values_in(step: Step) -> Iterator[Value]:
    if isinstance(step, Value):
        yield step
    elif isinstance(step, Combined):
        for operand in step.operands:
            yield from values_in(operand)


@dataclass(frozen=True, slots=True)
class Nearby:
    """What the worker computes for all rows before the match: `column`, had Spark to compute it.

    Navigations of the step are physical ones from each row.
    """

    column: RowColumn
    step: Step


@dataclass(frozen=True, slots=True)
class SplitCondition:
    """One variable's condition; an absent part is true.

    tests: the conjuncts of `before` and `nearby`. rest: those that `during` is made of, as they
    were written. nearby: what the worker computes before the match, if it sorts the rows.
    """

    variable: str
    before: RowColumn | None
    during: Step | None
    span: Span | None
    tests: tuple[RowColumn | Nearby, ...] = ()
    rest: tuple[Scalar, ...] = ()
    nearby: Nearby | None = None


COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
BITS = frozenset({"&", "|", "^", "~", "<<", ">>", "SHIFTRIGHTUNSIGNED"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "NEG"})
LOGIC = frozenset({"AND", "OR", "NOT"})
BASIC = COMPARISONS | ARITHMETIC | LOGIC | {"IS NULL", "IF", "DATEDIFF"}
NULL_IN_NULL_OUT = (COMPARISONS - {"<=>"}) | ARITHMETIC | BITS | {"NOT", "ABS", "LIKE", "||"}

Parts = tuple[Step, ...]
Rewriting = Callable[[Parts, Span], Step]
Form = Any  # a nested tuple, see `REWRITINGS`


def rewrite(step: TypedOperation) -> Step | None:
    """The value by basic operations; None of an operation that is basic."""
    if step.operator in CONVERSIONS and len(step.operands) == 1:
        return Combined("CAST", step.operands, step.span, (CONVERSIONS[step.operator],))
    rewriting = REWRITINGS.get(step.operator)
    if rewriting is None:
        return None
    if callable(rewriting):
        found: Step = rewriting(step.operands, step.span)
        return found
    return step_of_form(rewriting, step.operands, step.span)


def step_of_form(form: Form, parts: Parts, span: Span) -> Step:
    match form:
        case int():
            return parts[form]
        case "0":
            return Value(ZERO, None, None, span)
        case str():
            return Combined(form, parts, span)
    operator, *forms = form
    return Combined(operator, tuple(step_of_form(one, parts, span) for one in forms), span)


def first_not_null(parts: Parts, span: Span) -> Step:
    *before, last = parts

    def choose(rest: Step, part: Step) -> Step:
        return Combined("IF", (Combined("IS NOT NULL", (part,), span), part, rest), span)

    return reduce(choose, reversed(before), last)


def extreme(comparison: str) -> Rewriting:
    """GREATEST and LEAST: NULLs are left out."""
    take_right = ("OR", ("IS NULL", 0), (comparison, 1, 0))
    of_two = ("IF", ("IS NULL", 1), 0, ("IF", take_right, 1, 0))

    def of_all(parts: Parts, span: Span) -> Step:
        """By halves: each is asked for several times."""
        middle = len(parts) // 2
        halves = (parts[:middle], parts[middle:])
        both = tuple(half[0] if len(half) == 1 else of_all(half, span) for half in halves)
        return step_of_form(of_two, both, span)

    return of_all


def membership(parts: Parts, span: Span) -> Combined:
    value, *others = parts
    return Combined("OR", tuple(Combined("=", (value, one), span) for one in others), span)


def case(parts: Parts, span: Span) -> Combined:
    """CASE WHEN a THEN x WHEN b THEN y ELSE z END, from a on: IF(a, x, IF(b, y, z))."""
    rest = parts[2:] if len(parts) <= 3 else (case(parts[2:], span),)
    return Combined("IF", (*parts[:2], *rest), span)


def case_by(comparison: str) -> Rewriting:
    """CASE x WHEN a THEN ..., from x on, with the conditions x = a; or DECODE(x, a, y, ..., z),
    where NULL is found too.
    """

    def of_all(parts: Parts, span: Span) -> Combined:
        value, *branches = parts
        for place in range(0, len(branches) - 1, 2):
            branches[place] = Combined(comparison, (value, branches[place]), span)
        return Combined("CASE", tuple(branches), span)

    return of_all


# A function that rewrites, or a form: an operation of other forms; a number is the part at that
# place, a name that operation of all parts, and "0" the number zero.
REWRITINGS: Mapping[str, Rewriting | Form] = {
    "ABS": ("IF", ("<", 0, ("NEG", 0)), ("NEG", 0), 0),  # itself where it is NULL or NaN
    "NEGATIVE": "NEG",
    "MOD": "%",
    "ISNOTNULL": ("NOT", "IS NULL"),
    "ISNULL": "IS NULL",
    "COALESCE": first_not_null,
    "NVL": first_not_null,
    "IFNULL": first_not_null,
    "NULLIF": ("IF", ("OR", ("IS NULL", "="), ("NOT", "=")), 0),
    "NANVL": ("IF", ("ISNAN", 0), 1, 0),
    "NVL2": ("IF", ("IS NOT NULL", 0), 1, 2),
    "CASE": case,
    "CASE OF": case_by("="),
    "DECODE": case_by("<=>"),
    "GREATEST": extreme(">"),
    "LEAST": extreme("<"),
    "BETWEEN": ("AND", (">=", 0, 1), ("<=", 0, 2)),
    **{f"NOT {one}": ("NOT", one) for one in ("BETWEEN", "IN", "LIKE", "ILIKE")},
    "IN": membership,
    **{f"IS NOT {one}": ("NOT", f"IS {one}") for one in ("NULL", "UNKNOWN", "TRUE", "FALSE")},
    "IS UNKNOWN": "IS NULL",
    "IS NOT DISTINCT FROM": "<=>",
    "IS DISTINCT FROM": ("NOT", "<=>"),
    "IS TRUE": ("AND", "IS NOT NULL", 0),  # false, not NULL, where it is NULL
    "IS FALSE": ("AND", "IS NOT NULL", "NOT"),
    "DATE_DIFF": "DATEDIFF",
    "DATE_ADD": "+",
    "DATEADD": "+",
    "DATE_SUB": "-",
    "EQUAL_NULL": "<=>",
    "NULLIFZERO": ("NULLIF", 0, "0"),
    "ZEROIFNULL": ("COALESCE", 0, "0"),
}

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
