"""Split a condition into conjuncts, which must all be true: the conjunctive normal form.

    NOT (a.x = 1 OR b.y = 2)      becomes      NOT (a.x = 1),  NOT (b.y = 2)
    a.x = 1 OR (b.y = 2 AND c)    becomes      a.x = 1 OR b.y = 2,  a.x = 1 OR c

Each conjunct can be tested as soon as the events that it reads are known, which may be before the
events of the other conjuncts are known. The laws of De Morgan and of distribution, by which
conditions are split here, also hold in three-valued logic.

Source: Agrawal et al., 2008, section 3.2, step 2.
"""

from __future__ import annotations

from itertools import chain, product
from math import prod

from matchrec.plan.build_expressions import join_conditions, negate
from matchrec.plan.expression import Operation, Scalar

# The operands of a disjunction, from left to right. A condition without OR is its only operand.
Disjunction = tuple[Scalar, ...]

# A disjunction that would become more conjuncts than this is not distributed.
MAX_CONJUNCTS = 32


def split_into_conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    """Return the conjuncts of a condition, from left to right."""
    disjunctions = _split_into_disjunctions(condition)
    return tuple(join_conditions("OR", disjunction) for disjunction in disjunctions)


def _split_into_disjunctions(condition: Scalar) -> tuple[Disjunction, ...]:
    """Return the conjuncts of a condition, each divided at OR.

    `a AND (b OR c)` gives `((a,), (b, c))`.
    """
    match condition:
        case Operation("AND", operands):
            return tuple(chain.from_iterable(map(_split_into_disjunctions, operands)))
        case Operation("OR", operands):
            return _distribute(condition, operands)
        case Operation("NOT", (Operation("NOT", (inner,)),)):
            return _split_into_disjunctions(inner)
        case Operation("NOT", (Operation("AND" | "OR" as operator, operands),)):
            dual_operator = "OR" if operator == "AND" else "AND"
            negated_operands = [negate(operand) for operand in operands]
            return _split_into_disjunctions(join_conditions(dual_operator, negated_operands))
        case _:
            return ((condition,),)


def _distribute(condition: Scalar, operands: tuple[Scalar, ...]) -> tuple[Disjunction, ...]:
    """Distribute OR over the conjuncts of its operands: `a OR (b AND c)` is `a OR b`, `a OR c`.

    Args:
        condition: the whole condition.
        operands: the operands of the condition, between which OR is.

    Returns:
        The conjuncts, each divided at OR. The whole condition is the only conjunct if there would
        be more than MAX_CONJUNCTS, or if no operand has several conjuncts.
    """
    disjunctions_by_operand = [_split_into_disjunctions(operand) for operand in operands]
    count = prod(len(disjunctions) for disjunctions in disjunctions_by_operand)
    if count == 1 or count > MAX_CONJUNCTS:
        return ((condition,),)
    # Each conjunct joins one disjunction of each operand.
    return tuple(
        tuple(chain.from_iterable(disjunctions))
        for disjunctions in product(*disjunctions_by_operand)
    )
