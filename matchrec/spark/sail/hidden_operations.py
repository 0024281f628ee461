"""Find operations in texts that are not parsed, so that no correction for Sail can rewrite them.

Such texts are the arguments of FIRST, LAST, PREV and NEXT, and lambdas. For example, the plan of
`FIRST(- n) > 0` has no negation, but a reference that reads `- n`.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from matchrec.plan.expression import Aggregate, Operation, Scalar, Term, list_inputs
from matchrec.plan.match_plan import MatchPlan


def find_hidden_operations(plan: MatchPlan, names: Set[str]) -> Iterator[Term]:
    """Yield the terms in whose text, or in the text of a column that they read, is an operation.

    Args:
        plan: the plan. The terms are in its conditions and measures, also inside of aggregates.
        names: the operations to look for, as `Term.operations` names them: `NEG`, `LEFT()`.
    """
    for scalar in plan.expressions:
        yield from find_terms_with(scalar, names)


def find_terms_with(scalar: Scalar, names: Set[str]) -> Iterator[Term]:
    """Yield the terms of an expression that `find_hidden_operations` yields."""
    if isinstance(scalar, Operation):
        for operand in scalar.operands:
            yield from find_terms_with(operand, names)
        return
    if scalar.operations & names:
        yield scalar
    for reference in scalar.references:
        if isinstance(reference, Aggregate):
            for inner in list_inputs(reference):
                yield from find_terms_with(inner, names)
