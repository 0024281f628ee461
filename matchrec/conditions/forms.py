"""Questions about the form of a scalar expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from matchrec.conditions.functions import functions
from matchrec.conditions.residual import (
    BASIC,
    COMPARISONS,
    LOGIC,
    NULL_IN_NULL_OUT,
    REWRITINGS,
    Combined,
    Nearby,
    Step,
    Value,
    VariableAt,
)
from matchrec.conditions.row_column import conjunction, row_column
from matchrec.conditions.typing.arithmetic import TRYING
from matchrec.conditions.typing.mathematics import NAMES
from matchrec.errors import MatchRecognizeError
from matchrec.errors.conditions import (
    lambda_not_read,
    not_known_during_the_match,
    operations_nested_too_deep,
)
from matchrec.plan.expression import (
    DEEPEST,
    LAMBDA,
    LONG_CHAIN,
    Aggregate,
    Classifier,
    ColumnReference,
    LambdaVariable,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Term,
    argument_of,
    references,
    render,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import always_precedes
from matchrec.plan.show import show_scalar
from matchrec.plan.text import amount, as_operand, string_literal
from matchrec.source import Span

Write = Callable[[Reference], str]

FORMULAS = frozenset({"+", "-", "*"})
OF_TEXTS = {"LIKE", "ILIKE", "RLIKE", "REGEXP_LIKE", "CONTAINS", "STARTSWITH", "ENDSWITH"}
OF_ALL_ROWS = BASIC | REWRITINGS.keys() | TRYING.keys()
"""What the worker computes for all rows, before the match."""

TRUTH_VALUED = COMPARISONS | LOGIC | OF_TEXTS | {"BETWEEN", "IN"}


def is_known(operator: str) -> bool:
    """Whether an operation of several rows is computed during the match, by engine or Python."""
    return operator in OF_ALL_ROWS or operator in NAMES or operator in functions()


def all_of(steps: list[Step], span: Span) -> Step:
    """True where every step is."""
    return steps[0] if len(steps) == 1 else Combined("AND", tuple(steps), span)


def joined(parts: tuple[Nearby, ...], span: Span) -> Nearby:
    """All that the worker computes of a condition."""
    column = conjunction(tuple(part.column for part in parts))
    return Nearby(column, all_of([part.step for part in parts], span))


def by_classifier(scalar: Scalar, position: Navigation, variables: Sequence[str]) -> VariableAt:
    """The condition for each variable that the row may be mapped to, then for none."""
    names = (*map(string_literal, variables), "CAST(NULL AS STRING)")
    texts = [render(scalar, partial(_instead, name)) for name in names]
    return VariableAt(position, tuple(map(row_column, texts)), scalar.span)


def _instead(text: str, _: Reference) -> str:
    return text


def one_position(scalar: Scalar) -> Navigation | None:
    """The position that all references read, if it is one and they are of one sort.

    None where a variable of a lambda function is read too.
    """
    found = references(scalar)
    if lambda_variables(scalar) or (
        not all(isinstance(reference, ColumnReference) for reference in found)
        and not all(isinstance(reference, Classifier) for reference in found)
    ):
        return None
    positions = {
        reference.navigation
        for reference in found
        if isinstance(reference, ColumnReference | Classifier)
    }
    return positions.pop() if len(positions) == 1 else None


def is_truth(scalar: Scalar) -> bool:
    """Whether the value is a truth value, by its form."""
    return isinstance(scalar, Operation) and (
        scalar.operator in TRUTH_VALUED or scalar.operator.startswith(("IS ", "NOT "))
    )


def is_bare(scalar: Scalar) -> bool:
    """Whether the expression is nothing but one reference, perhaps in parentheses."""
    return len(references(scalar)) == 1 and all(
        not piece.strip(" \t\r\n()") for piece in scalar.pieces if isinstance(piece, str)
    )


def is_name(term: Term) -> bool:
    """Whether a term is nothing but the name of a lambda's variable, perhaps in parentheses."""
    text = "".join(map(str, term.pieces)).strip(" \t\r\n()")
    return any(text == variable.name for variable in term.variables)


def cannot_cross(operation: Operation) -> bool:
    """Whether it is a struct that Spark would name otherwise, or Arrow has none of.

    Spark names a field after the column that LAST reads; Arrow has no two fields of one name.
    """
    if operation.operator != "STRUCT":
        return False
    names = operation.words
    named = zip(operation.operands, names, range(1, len(names) + 1), strict=True)
    return len(set(names)) < len(names) or any(
        is_bare(one) and name == f"col{place}" for one, name, place in named
    )


def is_null_on_null(scalar: Scalar) -> bool:
    """Whether the value is NULL wherever any reference in it is; False where that is not known."""
    if isinstance(scalar, Operation):
        return scalar.operator in NULL_IN_NULL_OUT and any(
            references(operand) and is_null_on_null(operand) for operand in scalar.operands
        )
    return is_bare(scalar)


def writing(scalar: Scalar) -> Write:
    """How to write what the column references of an expression read, in their places."""

    def as_part(reference: Reference) -> str:
        return as_operand(argument_of(reference))

    return argument_of if is_bare(scalar) else as_part


def lambda_variables(scalar: Scalar) -> frozenset[LambdaVariable]:
    """What an expression names of lambda functions around it."""
    if not isinstance(scalar, Operation):
        return frozenset(scalar.variables)
    found = [lambda_variables(operand) for operand in scalar.operands]
    own = found[:-1] if scalar.operator == LAMBDA else []
    return frozenset().union(*found).difference(*own)


def is_there(plan: MatchPlan, variable: str, position: Navigation) -> bool:
    """Whether there is such a row whenever the condition of a variable is asked."""
    members, own = plan.members(position.variable), plan.ids[variable]
    if position.logical_offset or position.physical_offset or plan.staging is not None:
        return False
    if own in members:
        return True
    names = frozenset(plan.variables[member] for member in members)
    is_mapped = own in plan.members(None)
    return is_mapped and always_precedes(plan.pattern, names, variable)


def variables_of_rows(plan: MatchPlan, aggregate: Aggregate) -> tuple[str, ...]:
    """By primary variable, itself; one of the aggregate's for those that it is not over."""
    members, names = plan.members(aggregate.variable), plan.variables
    return tuple(name if plan.ids[name] in members else names[min(members)] for name in names)


def null_of_the_same_type(reference: Reference) -> str:
    return f"IF(FALSE, {argument_of(reference)}, NULL)"


def named(scalar: Scalar) -> str:
    """What to call an expression in a message."""
    if isinstance(scalar, Operation):
        return scalar.operator
    text = show_scalar(scalar)
    return (text.split("(")[0].split() or text.split())[0] if " " in text else text


def not_computed(scalar: Scalar) -> MatchRecognizeError:
    """Why an expression of several rows is refused."""
    if isinstance(scalar, Operation) and scalar.operator == LONG_CHAIN:
        return operations_nested_too_deep(DEEPEST, scalar.span)
    has_lambda = any("->" in one for one in scalar.pieces if isinstance(one, str))
    is_misread = has_lambda and named(scalar).upper() in functions()
    refused = lambda_not_read if is_misread else not_known_during_the_match
    return refused(named(scalar), scalar.span)


def formula(scalar: Scalar, position: Navigation | None) -> Combined | None:
    """Arithmetic of columns, all read at one position, and of constants; None of anything else."""
    found = part_of_formula(scalar, position)
    return found if isinstance(found, Combined) else None


def part_of_formula(scalar: Scalar, position: Navigation | None) -> Step | None:
    """The same of a part of it."""
    if is_bare(scalar) and isinstance(references(scalar)[0], ColumnReference):
        return Value(row_column(render(scalar, argument_of)), position, None, scalar.span)
    if not references(scalar) and amount(render(scalar, str)) is not None:
        return Value(row_column(render(scalar, str)), None, None, scalar.span)
    if not isinstance(scalar, Operation) or scalar.operator not in FORMULAS:
        return None
    parts = [part_of_formula(part, position) for part in scalar.operands]
    known = tuple(part for part in parts if part is not None)
    return Combined(scalar.operator, known, scalar.span) if len(known) == len(parts) else None
