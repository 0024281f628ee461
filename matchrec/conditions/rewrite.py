"""Functions of several rows of a run, written with the few operations that the engine has.

    COALESCE(a, b)   →   IF(a IS NOT NULL, a, b)

Source: the semantics of each function as Spark SQL documents it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from matchrec.conditions.residual import Combined, Step, Value
from matchrec.conditions.row_column import row_column
from matchrec.source import Span

Parts = tuple[Step, ...]
Rewriting = Callable[[Parts, Span], Combined]


def rewrite(step: Combined) -> Combined:
    """The same value by basic operations; an operation that is basic is itself."""
    rewriting = REWRITINGS.get(step.operator)
    return step if rewriting is None else rewriting(step.operands, step.span)


def negate(operator: str, parts: Parts, span: Span) -> Combined:
    """NOT of an operation."""
    return Combined("NOT", (Combined(operator, parts, span),), span)


def absolute(parts: Parts, span: Span) -> Combined:
    """ABS(x): IF(x < -x, -x, x), which is x where x is NULL or NaN."""
    (value,) = parts
    minus = Combined("NEG", parts, span)
    return Combined("IF", (Combined("<", (value, minus), span), minus, value), span)


def positive_remainder(parts: Parts, span: Span) -> Combined:
    """PMOD(a, n): a % n, or (a % n + n) % n where that is negative."""
    _, divisor = parts
    rest = Combined("%", parts, span)
    again = Combined("%", (Combined("+", (rest, divisor), span), divisor), span)
    zero = Value(row_column("0"), None, None, span)
    return Combined("IF", (Combined("<", (rest, zero), span), again, rest), span)


def first_not_null(parts: Parts, span: Span) -> Combined:
    """COALESCE, NVL and IFNULL."""
    *before, last = parts

    def choose(rest: Step, part: Step) -> Combined:
        return Combined("IF", (Combined("IS NOT NULL", (part,), span), part, rest), span)

    found = reduce(choose, reversed(before), last)
    return found if isinstance(found, Combined) else choose(last, last)


def extreme(comparison: str) -> Rewriting:
    """GREATEST and LEAST: NULLs are left out."""

    def of_two(left: Step, right: Step, span: Span) -> Combined:
        better = Combined(comparison, (right, left), span)
        no_left = Combined("IS NULL", (left,), span)
        no_right = Combined("IS NULL", (right,), span)
        take_right = Combined("OR", (no_left, better), span)
        inner = Combined("IF", (take_right, right, left), span)
        return Combined("IF", (no_right, left, inner), span)

    def of_all(parts: Parts, span: Span) -> Combined:
        """By halves: each is asked for several times."""
        middle = len(parts) // 2
        left, right = (
            part[0] if len(part) == 1 else of_all(part, span)
            for part in (parts[:middle], parts[middle:])
        )
        return of_two(left, right, span)

    return of_all


def between(parts: Parts, span: Span) -> Combined:
    """X BETWEEN a AND b."""
    value, low, high = parts
    sides = Combined(">=", (value, low), span), Combined("<=", (value, high), span)
    return Combined("AND", sides, span)


def membership(parts: Parts, span: Span) -> Combined:
    """X IN (a, b, ...)."""
    value, *others = parts
    return Combined("OR", tuple(Combined("=", (value, one), span) for one in others), span)


def is_truth(operator: str) -> Rewriting:
    """X IS TRUE is false, not NULL, where x is NULL; so is x IS FALSE."""

    def rewriting(parts: Parts, span: Span) -> Combined:
        known = Combined("IS NOT NULL", parts, span)
        return Combined("AND", (known, Combined(operator, parts, span)), span)

    return rewriting


def null_if(parts: Parts, span: Span) -> Combined:
    """NULLIF(a, b): NULL where they are equal."""
    value, other = parts
    equal = Combined("=", (value, other), span)
    differs = Combined("OR", (Combined("IS NULL", (equal,), span), negate("=", parts, span)), span)
    return Combined("IF", (differs, value), span)


def two_branches(parts: Parts, span: Span) -> Combined:
    """NVL2(x, a, b)."""
    value, present, absent = parts
    return Combined("IF", (Combined("IS NOT NULL", (value,), span), present, absent), span)


def case(parts: Parts, span: Span) -> Combined:
    """CASE WHEN a THEN x WHEN b THEN y ELSE z END, from a on: IF(a, x, IF(b, y, z))."""
    last = 2 * ((len(parts) - 2) // 2)  # where the last condition stands
    found = Combined("IF", parts[last:], span)
    for place in range(last - 2, -1, -2):
        found = Combined("IF", (*parts[place : place + 2], found), span)
    return found


def case_of(parts: Parts, span: Span) -> Combined:
    """CASE x WHEN a THEN ..., from x on, with the conditions x = a."""
    value, *branches = parts
    for place in range(0, len(branches) - 1, 2):
        branches[place] = Combined("=", (value, branches[place]), span)
    return case(tuple(branches), span)


def negation_of(operator: str) -> Rewriting:
    """NOT of another operation."""
    return lambda parts, span: negate(operator, parts, span)


def as_operator(operator: str) -> Rewriting:
    """Another name of an operation."""
    return lambda parts, span: Combined(operator, parts, span)


REWRITINGS: Mapping[str, Rewriting] = {
    "ABS": absolute,
    "NEGATIVE": as_operator("NEG"),
    "MOD": as_operator("%"),
    "PMOD": positive_remainder,
    "ISNOTNULL": negation_of("IS NULL"),
    "ISNULL": as_operator("IS NULL"),
    "COALESCE": first_not_null,
    "NVL": first_not_null,
    "IFNULL": first_not_null,
    "NULLIF": null_if,
    "NANVL": lambda parts, span: Combined(
        "IF", (Combined("ISNAN", parts[:1], span), parts[1], parts[0]), span
    ),
    "NVL2": two_branches,
    "CASE": case,
    "CASE OF": case_of,
    "GREATEST": extreme(">"),
    "LEAST": extreme("<"),
    "BETWEEN": between,
    "NOT BETWEEN": negation_of("BETWEEN"),
    "IN": membership,
    "NOT IN": negation_of("IN"),
    "IS NOT NULL": negation_of("IS NULL"),
    "IS UNKNOWN": as_operator("IS NULL"),
    "IS NOT UNKNOWN": negation_of("IS NULL"),
    "IS NOT DISTINCT FROM": as_operator("<=>"),
    "IS DISTINCT FROM": negation_of("<=>"),
    "IS TRUE": is_truth("AND"),
    "IS NOT TRUE": negation_of("IS TRUE"),
    "IS FALSE": is_truth("NOT"),
    "IS NOT FALSE": negation_of("IS FALSE"),
    "DATE_DIFF": as_operator("DATEDIFF"),
}
