"""Guards: conditions on a row under which something is asked of it at all.

    x <> 0 AND 10 / x < A.y             →   CASE WHEN x <> 0 THEN 10 / x END < A.y
    A AS z > 0, B AS sum(1 / A.z) > 2   →   sum(CASE WHEN z > 0 THEN 1 / z END) > 2

What Spark computes for every row before the match must not fail on rows on which the condition
would not have come to it, or to which its variable is not mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from matchrec.plan.expression import (
    ColumnReference,
    Operation,
    Scalar,
    Term,
    complement,
    conjuncts,
    joined,
    looks_at_columns_only,
    negation,
    row_text,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import NO_OPERATIONS, takes_long


def holds_of_rows(plan: MatchPlan, variable: str | None) -> Scalar | None:
    """What holds of each row that is mapped to a variable, as SQL over that row; None: nothing."""
    names = [plan.variables[member] for member in sorted(plan.members(variable))]
    known = [_row_condition(plan, name) for name in names]
    found = [term for term in dict.fromkeys(known) if term is not None]
    return joined("OR", found) if found and None not in known else None


def _row_condition(plan: MatchPlan, variable: str) -> Term | None:
    """What the condition of a variable asks of the row alone, but for what takes long to ask."""
    conditions = (one.condition for one in plan.definitions if one.variable == variable)
    parts = [part for condition in conditions for part in conjuncts(condition)]
    own = (part for part in parts if _is_of_row(plan, variable, part))
    quick = [part for part in own if not takes_long(part.operations)]
    texts = [row_text(part) for part in quick]
    text = texts[0] if len(quick) == 1 else " AND ".join(f"({one})" for one in texts)
    operations = NO_OPERATIONS.union(*(part.operations for part in quick))
    return Term((text,), parts[0].span, operations) if quick else None


def _is_of_row(plan: MatchPlan, variable: str, part: Scalar) -> bool:
    """Whether a part of the condition of a variable looks at the row alone."""
    own = plan.ids[variable]
    places = [one.navigation for one in part.references if isinstance(one, ColumnReference)]
    return looks_at_columns_only(part) and all(
        place.is_last and not place.physical_offset and own in plan.members(place.variable)
        for place in places
    )


def guard(guards: Sequence[Scalar], scalar: Scalar) -> Scalar:
    """The expression where all guards hold, in their order; NULL elsewhere."""
    if not guards:
        return scalar
    parts = "CASE WHEN ", joined("AND", guards), " THEN ", scalar, " END"
    return Operation("CASE", parts, scalar.span)


@dataclass(frozen=True, slots=True)
class Guards:
    """A guard, and those before it that look at the same row: a list that shares its beginning."""

    last: Scalar
    earlier: Guards | None


def in_order(guards: Guards | None) -> tuple[Scalar, ...]:
    """The guards, the first of them first."""
    found: list[Scalar] = []
    while guards is not None:
        found.append(guards.last)
        guards = guards.earlier
    return tuple(reversed(found))


Asked = tuple[Scalar, Sequence[Scalar], Sequence[Scalar]]
"""A part of an expression, with what must hold for it to be asked beside what must for those before
it: for this one alone, then for all after it."""


def guards_of(operation: Operation) -> Iterator[Asked]:
    """The operands, each with what of those before it must hold for it to be asked."""
    passed = _PASSED.get(operation.operator)
    branches = operation.operator in ("IF", "CASE")
    for place, operand in enumerate(operation.operands):
        if branches and place % 2:  # a value, whose condition holds, and does not for what follows
            condition = operation.operands[place - 1]
            yield operand, (condition,), (complement(condition),)
        else:
            yield operand, (), () if passed is None else (passed(operand),)


def _unknown(scalar: Scalar) -> Operation:
    return Operation("IS NULL", ("(", scalar, ") IS NULL"), scalar.span)


_PASSED: Mapping[str, Callable[[Scalar], Scalar]] = {
    "AND": lambda one: complement(negation(one)),
    "OR": complement,
    **dict.fromkeys(("COALESCE", "NVL", "IFNULL"), _unknown),
}
"""What must hold of an operand for the next one to be asked."""
