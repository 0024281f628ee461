"""Remarks on comparisons in conditions, and on PREV where rows may be skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors.warnings.kinds import MatchRecognizeWarning
from matchrec.errors.warnings.wording import (
    compared_with_null,
    false_constants,
    same_value,
    skipped_row,
)
from matchrec.plan.clauses import Definition, EventSelection
from matchrec.plan.combined import conjuncts
from matchrec.plan.expression import (
    ColumnReference,
    End,
    Navigation,
    Operation,
    Piece,
    Scalar,
    references,
    subexpressions,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Permutation,
    RowPattern,
    Variable,
    children,
    may_be_empty,
)
from matchrec.plan.show import show_scalar

COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"})
_NUMBER = re.compile(r"\d{1,15}")


def comparisons(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Comparisons of a value with itself or with NULL, and of constants."""
    for definition in plan.definitions:
        for one in subexpressions(definition.condition):
            if isinstance(one, Operation) and one.operator in COMPARISONS:
                yield from comparison(one, definition, plan)
        for one in conjuncts(definition.condition):
            if isinstance(one, Operation) and is_false(one):
                yield false_constants(one.span)


def comparison(
    one: Operation, definition: Definition, plan: MatchPlan
) -> Iterator[MatchRecognizeWarning]:
    left, right = (values(operand, definition, plan) for operand in one.operands)
    if left == right and references(one.operands[0]):
        yield same_value(one.span)
    others = [operand for operand in one.operands if not is_null(operand)]
    if one.operator != "<=>" and len(others) == 1:
        operator = {"==": "=", "!=": "<>"}.get(one.operator, one.operator)
        written = "x" if plan.staging else without_quotes(show_scalar(others[0]))
        yield compared_with_null(operator, written, one.span)


def values(operand: Scalar, definition: Definition, plan: MatchPlan) -> tuple[Piece, ...]:
    """The text of an operand; a column of the current row is written in one way."""
    return tuple(
        " ".join(piece.split())
        if isinstance(piece, str)
        else replace(piece, navigation=Navigation(definition.variable))
        if isinstance(piece, ColumnReference) and is_of_current_row(piece, definition, plan)
        else piece
        for piece in operand.pieces
    )


def is_of_current_row(reference: ColumnReference, definition: Definition, plan: MatchPlan) -> bool:
    """Whether the row that is tested is read. A test of a stage sees it by its own name only."""
    navigation = reference.navigation
    if (navigation.end, navigation.logical_offset, navigation.physical_offset) != (End.LAST, 0, 0):
        return False
    if plan.staging is not None or definition.variable == plan.closing:
        return navigation.variable == definition.variable
    return plan.ids[definition.variable] in plan.members(navigation.variable)


def is_null(operand: Scalar) -> bool:
    return [str(one).strip().upper() for one in operand.pieces] == ["NULL"]


def without_quotes(text: str) -> str:
    """SQL in which plain names of columns stand without backticks, as one writes them."""
    return re.sub(r"`([A-Za-z_]\w*)`", r"\1", text)


def is_false(one: Operation) -> bool:
    """Whether a comparison of two whole numbers does not hold."""
    texts = [str(operand.pieces[0]).strip() for operand in one.operands if len(operand.pieces) == 1]
    if len(texts) != 2 or not all(map(_NUMBER.fullmatch, texts)):
        return False
    left, right = map(int, texts)
    holds = {
        "=": left == right,
        "<>": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }
    return not holds.get(one.operator, True)


def physical_navigation(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """PREV of the current row, in the condition of a variable that follows another."""
    if plan.selection is EventSelection.STRICT_CONTIGUITY or plan.staging is not None:
        return
    first = first_variables(plan.pattern)
    for definition in plan.definitions:
        if definition.variable in first:
            continue
        for one in references(definition.condition):
            if isinstance(one, ColumnReference) and reads_row_before(one, definition, plan):
                argument = without_quotes(one.argument)
                yield skipped_row(argument, plan.selection.value, one.span)


def reads_row_before(one: ColumnReference, definition: Definition, plan: MatchPlan) -> bool:
    navigation = replace(one.navigation, physical_offset=0)
    moved = one.navigation.physical_offset == -1
    return moved and is_of_current_row(replace(one, navigation=navigation), definition, plan)


def first_variables(pattern: RowPattern) -> frozenset[str]:
    """The variables to which the first row of a match may be mapped."""
    match pattern:
        case Variable(name):
            return frozenset((name,))
        case Concatenation(parts):
            found: frozenset[str] = frozenset()
            for part in parts:
                found |= first_variables(part)
                if not may_be_empty(part):
                    break
            return found
        case Alternation(parts) | Permutation(parts):
            return frozenset().union(*map(first_variables, parts))
        case _:
            return frozenset().union(*map(first_variables, children(pattern)))
