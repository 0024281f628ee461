"""Guards: conditions on a row under which something is asked of it at all.

    x <> 0 AND 10 / x < A.y             →   CASE WHEN x <> 0 THEN 10 / x END < A.y
    A AS z > 0, B AS sum(1 / A.z) > 2   →   sum(CASE WHEN z > 0 THEN 1 / z END) > 2

What Spark computes for every row before the match must not fail on rows on which the condition
would not have come to it, or to which its variable is not mapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from matchrec.plan.combined import complement, conjuncts, joined, negation
from matchrec.plan.expression import (
    ColumnReference,
    Operation,
    Scalar,
    Term,
    looks_at_columns_only,
    references,
    row_text,
    set_apart,
)
from matchrec.plan.match_plan import MatchPlan

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`", re.DOTALL)
_SUM = re.compile(r"(?<!\d[eE])[-+*](?!>)|\b(?:ABS|NEGATIVE)\b", re.IGNORECASE)
_PARTIAL = re.compile(
    r"""/(?!\s*[\d.]*[1-9]) | %(?!\s*[\d.]*[1-9]) | \[ | ::
    | \b(?: P?MOD | DIV | CAST | (?:TINY|SMALL|BIG)?INT | DOUBLE | FLOAT | DECIMAL
    | BOOLEAN | DATE | TIMESTAMP | ELEMENT_AT | ELT | RAISE_ERROR | ASSERT_TRUE
    | NEXT_DAY | UNIX_TIMESTAMP | SEQUENCE | CONV | (?:TO|MAKE|PARSE)_\w+ )\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""A divisor that may be zero, a cast, an element, a text that is read."""

_LONG = re.compile(r"\b(?!(?:IN|AND|OR|NOT|WHEN|THEN|ELSE)\b)\w+\s*\(|\bSELECT\b", re.IGNORECASE)
"""A call of a function, which may be the user's own, or a query."""


def may_fail(scalar: Scalar) -> bool:
    """Whether an expression may have no result under ANSI, by its words."""
    texts = (
        piece.argument if isinstance(piece, ColumnReference) else piece
        for piece in scalar.pieces
        if isinstance(piece, str | ColumnReference)
    )
    return any(map(text_may_fail, texts))


def text_may_fail(text: str) -> bool:
    """The same of SQL over one row."""
    return is_partial(text) or _SUM.search(without_quotes(text)) is not None


def is_partial(text: str) -> bool:
    """The same, but for sums, which fail where they are too large for their type."""
    return _PARTIAL.search(without_quotes(text)) is not None


def without_quotes(text: str) -> str:
    """SQL without what stands in quotes."""
    return _QUOTED.sub("''", text)


def holds_of_rows(plan: MatchPlan, variable: str | None) -> Scalar | None:
    """What holds of each row that is mapped to a variable, as SQL over that row; None: nothing."""
    names = [plan.variables[member] for member in sorted(plan.members(variable))]
    known = [_row_condition(plan, name) for name in names]
    found = [one for one in dict.fromkeys(known) if one is not None]
    return joined("OR", found) if found and None not in known else None


def _row_condition(plan: MatchPlan, variable: str) -> Term | None:
    """What the condition of a variable asks of the row alone, but for what takes long to ask."""
    conditions = (one.condition for one in plan.definitions if one.variable == variable)
    parts = [part for condition in conditions for part in conjuncts(condition)]
    texts = [row_text(part) for part in parts if _is_of_row(plan, variable, part)]
    quick = [text for text in texts if not _LONG.search(without_quotes(text))]
    text = quick[0] if len(quick) == 1 else " AND ".join(f"({one})" for one in quick)
    return Term((text,), parts[0].span) if quick else None


def _is_of_row(plan: MatchPlan, variable: str, part: Scalar) -> bool:
    """Whether a part of the condition of a variable looks at the row alone."""
    own = plan.ids[variable]
    places = [one.navigation for one in references(part) if isinstance(one, ColumnReference)]
    return looks_at_columns_only(part) and all(
        one.is_last and not one.physical_offset and own in plan.members(one.variable)
        for one in places
    )


def under(guards: Sequence[Scalar], scalar: Scalar) -> Scalar:
    """The expression where all guards hold, in their order; NULL elsewhere."""
    if not guards:
        return scalar
    guard = joined("AND", guards)
    pieces = set_apart(("CASE WHEN ", *guard.pieces, " THEN ", *scalar.pieces, " END"))
    return Operation("CASE", (guard, scalar), pieces, scalar.span)


def guards_of(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """For each operand, what of those before it must hold for it to be asked."""
    operands = operation.operands
    for place in range(len(operands)):
        before = operands[:place]
        match operation.operator:
            case "AND":
                yield tuple(complement(negation(one)) for one in before)
            case "OR":
                yield tuple(map(complement, before))
            case "COALESCE" | "NVL" | "IFNULL":
                yield tuple(map(_unknown, before))
            case "IF" | "CASE":
                yield _of_branch(before)
            case _:
                yield ()


def _of_branch(before: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Of a condition or a value of CASE: earlier conditions fail, that of the value holds."""
    conditions = before[0::2]
    is_value = len(before) % 2 == 1
    taken = conditions[-1:] if is_value else ()
    return (*map(complement, conditions[:-1] if is_value else conditions), *taken)


def _unknown(scalar: Scalar) -> Operation:
    return Operation("IS NULL", (scalar,), ("(", *scalar.pieces, ") IS NULL"), scalar.span)
