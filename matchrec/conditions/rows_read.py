"""Find out which rows an expression of a condition reads.

The *distance* of a reference is how many rows after the current row it reads, if that is the same
for every run: -1 for `PREV(price)`. Its *position* is the row that its navigation finds, which can
depend on the run, such as LAST(A) for `LAST(A.price)`.

    expression                   distances    single position
    price < PREV(price)          -1 and 0     none, because there are two
    2 * LAST(A.price)            none         LAST(A)
    LAST(CLASSIFIER(A)) = 'A'    none         LAST(A)
    price > LAST(A.price)        none         none
"""

from __future__ import annotations

from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    Navigation,
    Operation,
    Reference,
    Scalar,
    reads_columns_only,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import OPERATORS
from matchrec.plan.pattern import always_precedes


def find_distances(plan: MatchPlan, variable: str, scalar: Scalar) -> frozenset[int] | None:
    """Return the distances at which an expression reads rows.

    None if the distance of a reference depends on the run.

    Args:
        plan: the plan of the query.
        variable: the variable in whose condition the expression is.
        scalar: the expression.
    """
    distances = []
    for reference in scalar.references:
        distance = find_distance(plan, variable, reference)
        if distance is None:
            return None
        distances.append(distance)
    return frozenset(distances)


def find_distance(plan: MatchPlan, variable: str, reference: Reference) -> int | None:
    """Return how many rows after the current row a reference reads, negative for rows before.

    None if the distance depends on the run, as it does for an aggregate over rows of the match and
    for MATCH_NUMBER(). 0 for an aggregate over a frame, whose value Spark computes for each row.

    Args:
        plan: the plan of the query.
        variable: the variable in whose condition the reference is.
        reference: the reference.
    """
    if isinstance(reference, ColumnReference | Classifier):
        navigation = reference.navigation
        can_be_current_row = plan.ids[variable] in plan.members[navigation.variable]
        if not can_be_current_row or not navigation.is_last:
            return None
        # What a neighbour is mapped to depends on the run.
        if isinstance(reference, Classifier) and navigation.physical_offset != 0:
            return None
        return navigation.physical_offset
    if isinstance(reference, Aggregate) and reference.frame:
        return 0
    return None


def find_single_position(scalar: Scalar) -> Navigation | None:
    """Return the position that all references of an expression read.

    None if there are several positions or no references, or if the references are neither all
    columns nor all classifiers.
    """
    has_only_classifiers = bool(scalar.references) and all(
        isinstance(reference, Classifier) for reference in scalar.references
    )
    if not has_only_classifiers and not reads_columns_only(scalar):
        return None
    positions = {
        reference.navigation
        for reference in scalar.references
        if isinstance(reference, ColumnReference | Classifier)
    }
    return positions.pop() if len(positions) == 1 else None


def always_exists(plan: MatchPlan, variable: str, position: Navigation) -> bool:
    """Return whether a position certainly has a row when the condition of a variable is evaluated.

    In `A B`, `LAST(A.x)` always has a row when the condition of B is evaluated.
    """
    members = plan.members[position.variable]
    variable_id = plan.ids[variable]
    if position.logical_offset or position.physical_offset or plan.staging is not None:
        return False
    if variable_id in members:
        return True  # the current row is one of the rows
    if variable_id not in plan.members[None]:
        return False  # no row is mapped to the variable, so nothing precedes such a row
    member_names = frozenset(plan.variables[member] for member in members)
    return always_precedes(plan.pattern, member_names, variable)


def is_null_without_row(scalar: Scalar) -> bool:
    """Return whether an expression is certainly NULL if the row that it reads does not exist.

    All references of the expression are NULL then. `x + coalesce(x, 1)` is NULL, but
    `coalesce(x, 1)` is not.
    """
    if isinstance(scalar, Operation):
        entry = OPERATORS.get(scalar.operator)
        is_strict = entry is not None and entry.is_strict
        return is_strict and any(
            operand.references and is_null_without_row(operand) for operand in scalar.operands
        )
    return is_single_reference(scalar)


def is_single_reference(scalar: Scalar) -> bool:
    """Return whether an expression is nothing but one reference, perhaps in parentheses."""
    return len(scalar.references) == 1 and all(
        not piece.strip(" \t\r\n()") for piece in scalar.pieces if isinstance(piece, str)
    )
