"""Conjunctive normal form: the conditions that must all hold, each a disjunction.

    NOT (a.x = 1 OR b.y = 2)      →      NOT (a.x = 1),  NOT (b.y = 2)

The laws of De Morgan and of distribution hold in three-valued logic. Source: section 3.2, step 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, product
from math import prod

from matchrec.plan.combined import joined, negation
from matchrec.plan.expression import Operation, Scalar

MOST_CLAUSES = 32
"""A disjunction that would be distributed over more conjunctions stays whole."""

Clause = tuple[Scalar, ...]


def conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    """The conjuncts of a condition, from left to right."""
    return tuple(joined("OR", clause) for clause in clauses(condition))


def clauses(condition: Scalar) -> tuple[Clause, ...]:
    """The same, each as the parts of a disjunction."""
    match condition:
        case Operation("AND", operands):
            return tuple(chain.from_iterable(clauses(operand) for operand in operands))
        case Operation("OR", operands):
            return distributed(condition, operands)
        case Operation("NOT", (Operation("NOT", (inner,)),)):
            return clauses(inner)
        case Operation("NOT", (Operation("AND", operands),)):
            return clauses(joined("OR", [negation(operand) for operand in operands]))
        case Operation("NOT", (Operation("OR", operands),)):
            return clauses(joined("AND", [negation(operand) for operand in operands]))
        case _:
            return ((condition,),)


def distributed(condition: Scalar, operands: Sequence[Scalar]) -> tuple[Clause, ...]:
    """OR over the conjuncts of its operands."""
    parts = [clauses(operand) for operand in operands]
    number = prod(len(part) for part in parts)
    if number == 1 or number > MOST_CLAUSES:
        return ((condition,),)
    return tuple(tuple(chain.from_iterable(choice)) for choice in product(*parts))
