"""Guards: conditions under which an expression over a row is evaluated.

    x <> 0 AND 10 / x < A.y             →   CASE WHEN x <> 0 THEN 10 / x END < A.y
    A AS z > 0, B AS sum(1 / A.z) > 2   →   sum(CASE WHEN z > 0 THEN 1 / z END) > 2

Spark computes a column for every row before the match. So the column must not fail on rows for
which the condition would not evaluate the expression, or which are not mapped to its variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matchrec.plan.build_expressions import (
    join_conditions,
    make_comparison,
    make_complement,
    make_number,
    negate,
)
from matchrec.plan.expression import (
    COMPARED_CHOICES,
    Operation,
    Scalar,
    is_constant_word,
    split_branches,
)
from matchrec.plan.operations import can_fail
from matchrec.plan.operators import OPERATORS


def is_truth_value(scalar: Scalar) -> bool:
    """Return whether an expression is certainly a truth value, judged by its form.

    False for a column, and for a function that the table of operators does not have, because their
    types are not known yet. True for NULL.

    >>> from matchrec.plan.build_expressions import make_literal
    >>> from matchrec.source import Span
    >>> is_truth_value(make_literal("(TRUE)", Span(0, 6)))
    True
    """
    if not isinstance(scalar, Operation):
        return is_constant_word(scalar, "TRUE", "FALSE", "NULL")
    if scalar.operator in COMPARED_CHOICES | {"CASE", "IF"}:
        return all(is_truth_value(result) for result in split_branches(scalar).results)
    entry = OPERATORS.get(scalar.operator)
    return entry is not None and entry.is_truth


def add_guards_to_expression(guards: Sequence[Scalar], scalar: Scalar) -> Scalar:
    """Return an expression that has the value of `scalar` if all guards hold, and else is NULL.

    The guards are evaluated in their order. A guard that can fail itself gets another CASE inside
    of the CASE of the guards before it, because some sessions evaluate every operand of an AND.
    These sessions also turn a CASE of truth values into AND and OR. So a truth value is a number
    inside of the CASE. With the guard `x <> 0`:

        1 / x       →   CASE WHEN x <> 0 THEN 1 / x END
        1 / x > 2   →   CASE WHEN x <> 0 THEN CAST(1 / x > 2 AS INT) END = 1
    """
    if not guards:
        return scalar
    if is_truth_value(scalar):
        number = Operation("CAST", ("CAST(", scalar, " AS INT)"), scalar.span, words=("INT",))
        return make_comparison(
            "=", add_guards_to_expression(guards, number), make_number(1, scalar.span)
        )
    outer_count = 1  # the number of guards that the outer CASE tests
    while outer_count < len(guards) and not can_fail(guards[outer_count].operations):
        outer_count += 1
    outer_guard = join_conditions("AND", guards[:outer_count])
    inner_value = add_guards_to_expression(guards[outer_count:], scalar)
    parts = ("CASE WHEN ", outer_guard, " THEN ", inner_value, " END")
    return Operation("CASE", parts, scalar.span)


class GuardedPart(NamedTuple):
    """A part of an expression, and the guards that its place in the expression adds."""

    part: Scalar
    # Conditions that hold wherever this part is evaluated, in addition to the `later_guards` of the
    # parts before it.
    guards: Sequence[Scalar] = ()
    # Conditions that hold wherever any part after this one is evaluated.
    later_guards: Sequence[Scalar] = ()


def find_guarded_operands(operation: Operation) -> list[GuardedPart]:
    """Return the operands of an operation in their order, with their guards.

        operation       operand  guards     later guards
        IF(a, x, y)     a
                        x        a          a IS NOT TRUE
                        y
        a OR b          a                   a IS NOT TRUE
                        b                   b IS NOT TRUE

    So `y` and `b` are evaluated only if `a` is not true. The operands of most operations are always
    evaluated, and have no guards.
    """
    if operation.operator in ("IF", "CASE"):
        return find_guarded_branches(operation)
    build_later_guard = LATER_GUARD_BUILDERS.get(operation.operator)
    if build_later_guard is None:
        return [GuardedPart(operand) for operand in operation.operands]
    return [
        GuardedPart(operand, later_guards=(build_later_guard(operand),))
        for operand in operation.operands
    ]


def find_guarded_branches(choice: Operation) -> list[GuardedPart]:
    """Return the tests and the results of IF or CASE in their order, with their guards."""
    tests, results = split_branches(choice)
    guarded_parts = []
    for test, result in zip(tests, results, strict=False):  # ELSE has a result and no test
        guarded_parts += [
            GuardedPart(test),
            GuardedPart(result, guards=(test,), later_guards=(make_complement(test),)),
        ]
    guarded_parts += [GuardedPart(else_result) for else_result in results[len(tests) :]]
    return guarded_parts


def build_not_false(scalar: Scalar) -> Scalar:
    """Return the condition that a truth value is true or NULL."""
    return make_complement(negate(scalar))


def build_null_test(scalar: Scalar) -> Operation:
    """Return the condition that a value is NULL."""
    return Operation("IS NULL", ("(", scalar, ") IS NULL"), scalar.span)


# For each operator that stops early, the function that builds a guard from an operand: the
# condition under which the operands after this operand are evaluated.
LATER_GUARD_BUILDERS: Mapping[str, Callable[[Scalar], Scalar]] = {
    "AND": build_not_false,
    "OR": make_complement,
    "COALESCE": build_null_test,
    "NVL": build_null_test,
    "IFNULL": build_null_test,
}
