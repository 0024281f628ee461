"""The table of operators: each name is computed somewhere, and its facts agree."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from matchrec.conditions.computed_operations import is_computed_in_run
from matchrec.conditions.evaluate import instructions
from matchrec.conditions.evaluate.vector_arithmetic import FLOAT_OPERATIONS
from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.numerals import OPERATIONS
from matchrec.conditions.run_condition import (
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    MathFunction,
)
from matchrec.conditions.typing.python_values import NEVER_IN_PYTHON
from matchrec.plan.forms import apply_form
from matchrec.plan.operations import can_fail, find_call_operations, find_operator_operations
from matchrec.plan.operators import (
    BASIC_OPERATORS,
    OPERATORS,
    Coercion,
    Failure,
    OperatorEntry,
    OperatorKind,
    find_operator_names,
)
from matchrec.plan.words import read_words
from matchrec.syntax.expressions.expression import BINARY_OPERATORS


def test_three_operators_have_their_facts() -> None:
    """`a % b` divides, `abs` of the least integer is too large, and texts can always be joined."""
    remainder, join, absolute = OPERATORS["%"], OPERATORS["||"], OPERATORS["ABS"]
    assert remainder.kind is OperatorKind.ARITHMETIC
    assert remainder.failure is Failure.DIVISION
    assert join.kind is OperatorKind.FUNCTION
    assert join.failure is Failure.NEVER
    assert absolute.kind is OperatorKind.REWRITTEN
    assert absolute.failure is Failure.TOO_LARGE
    assert all(entry.is_strict for entry in (remainder, join, absolute))
    assert OPERATORS["MOD"].coercion is remainder.coercion is Coercion.COMPUTED


def list_operators_of_form(entry: OperatorEntry) -> Iterator[str]:
    """Yield the operators with which an entry is written, for three, four and five operands."""
    assert entry.form is not None
    operators: list[str] = []

    def record_operator(operator: str, *operands: str) -> str:
        operators.append(operator)
        return operator  # stands for the result in later calls

    for count in (3, 4, 5):
        apply_form(entry.form, ["operand"] * count, record_operator, zero="0")
    yield from operators


@pytest.mark.parametrize("name", sorted(find_operator_names(OperatorKind.REWRITTEN)))
def test_a_form_consists_of_other_operators(name: str) -> None:
    operators = {*list_operators_of_form(OPERATORS[name])}
    assert operators <= OPERATORS.keys() - {name}
    assert all(map(is_computed_in_run, operators))


def test_every_kernel_operation_has_an_entry() -> None:
    arithmetic = {operator.value for operator in ArithmeticOperator}
    assert find_operator_names(OperatorKind.ARITHMETIC) == arithmetic | {"DIV", "NEG"}
    assert find_operator_names(OperatorKind.COMPARISON) == {
        comparison.value for comparison in Comparison
    }
    assert find_operator_names(OperatorKind.LOGIC) == {
        BasicOperator.AND.value,
        BasicOperator.OR.value,
        BasicOperator.NOT.value,
    }
    assert find_operator_names(OperatorKind.NULL_TEST) == {BasicOperator.IS_NULL.value}
    assert find_operator_names(OperatorKind.CHOICE) == {BasicOperator.CHOOSE.value}
    compiled = {
        entry.math_function
        for entry in OPERATORS.values()
        if entry.kind is OperatorKind.MATHEMATICS
    }
    assert compiled - {None} == {function.value for function in MathFunction}
    tried = {entry.tried_operator for entry in OPERATORS.values() if entry.kind is OperatorKind.TRY}
    assert tried == arithmetic


def test_kernels_numpy_and_python_have_every_operator() -> None:
    assert instructions.COMPARISON_MASKS.keys() == {*Comparison}
    assert instructions.OPERATOR_NUMBERS.keys() == FLOAT_OPERATIONS.keys() == {*ArithmeticOperator}
    assert OPERATIONS.keys() == {operator.value for operator in ArithmeticOperator}
    assert instructions.FUNCTION_NUMBERS.keys() == {*MathFunction}


def test_python_has_functions_for_the_operators_that_it_computes() -> None:
    assert load_functions().keys() >= BASIC_OPERATORS - NEVER_IN_PYTHON
    assert "||" in load_functions()
    assert "RLIKE" not in load_functions()


def test_every_binary_operator_of_the_grammar_has_an_entry() -> None:
    assert {operator.name for operator in BINARY_OPERATORS.values()} - OPERATORS.keys() == {">>>"}


def test_no_operator_is_listed_as_a_function_that_never_fails() -> None:
    assert not read_words("NEVER FAILING") & OPERATORS.keys()


def test_a_word_before_a_literal_never_fails_but_a_call_may() -> None:
    for name in ("DATE", "TIMESTAMP"):
        assert not can_fail(find_operator_operations(name))
        assert can_fail(find_call_operations(name))
