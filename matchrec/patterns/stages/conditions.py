"""Bind the conditions of stages: find the event that each reference reads.

The event that a condition tests is called the candidate. It is not mapped to a stage while the
condition is evaluated. So a column without a stage is bound to a separate variable, `CANDIDATE`. A
column after the name of a stage is bound to the events that the stage has accepted so far:

    stage a, where price > 10              :candidate.price > 10
    stage b, where price > last(a.price)   :candidate.price > LAST(a.price)

When `definitions.TestDefinitions` defines a test with the condition, it replaces `CANDIDATE` by the
name of the test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from string import whitespace

from matchrec.errors import stages as errors
from matchrec.plan.build_expressions import make_number
from matchrec.plan.change_expressions import map_column_references, map_inputs
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    MatchValue,
    Operation,
    Reference,
    Scalar,
    Term,
    list_inner_references,
    write_row_sql,
)
from matchrec.source import Span

# The variable of the candidate until the test has a name. No stage has a colon in its name.
CANDIDATE = ":candidate"

# The span of an expression that the user did not write.
NOWHERE = Span(0, 0)


def bind_condition(scalar: Scalar, names_by_spelling: Mapping[str, str]) -> Scalar:
    """Return a condition as an expression over the candidate and over stages.

    A sum over no events is 0, as in Flink: `sum(a.price)` becomes `coalesce(sum(a.price), 0)`.

    Args:
        scalar: the condition, or an operand of it, as parsed.
        names_by_spelling: the names of stages, by the spellings with which conditions may refer to
            them.

    Raises:
        MatchRecognizeError: the condition reads anything else, such as a neighbouring event.
    """
    if isinstance(scalar, Operation):
        return scalar.map_operands(lambda operand: bind_condition(operand, names_by_spelling))
    pieces = tuple(
        piece if isinstance(piece, str) else _bind_reference(piece, names_by_spelling)
        for piece in scalar.pieces
    )
    term = replace(scalar, pieces=pieces)
    if not _is_sum(term):
        return term
    zero = make_number(0, term.span)
    return Operation("COALESCE", ("coalesce(", term, ", ", zero, ")"), term.span)


def _is_sum(term: Term) -> bool:
    """Return whether a term is a sum over events and nothing else, perhaps in parentheses."""
    texts = [piece for piece in term.pieces if isinstance(piece, str)]
    if any(text.strip(f"{whitespace}()") for text in texts):
        return False
    match term.references:
        case (Aggregate(function="sum"),):
            return True
        case _:
            return False


def _bind_reference(reference: Reference, names_by_spelling: Mapping[str, str]) -> Reference:
    """Return a reference that reads the candidate, or an event or the events of a stage.

    Raises:
        MatchRecognizeError: the reference reads anything else, such as `first(price)` without a
            stage.
    """
    match reference:
        case ColumnReference(navigation=navigation):
            if navigation.physical_offset:
                raise errors.navigation_in_stage(
                    reference.span,
                    stage=next(iter(names_by_spelling.values())),
                    column=reference.argument,
                )
            if navigation.variable is not None:
                return set_variable(reference, names_by_spelling[navigation.variable])
            if not navigation.is_last:
                function = navigation.end.value.lower()
                raise errors.aggregate_without_stage(reference.span, function=function)
            return set_variable(reference, CANDIDATE)
        case Aggregate():
            return _bind_aggregate(reference, names_by_spelling)
        case Classifier():
            raise errors.match_function_in_stage(reference.span, function="CLASSIFIER")
        case MatchValue(function):
            raise errors.match_function_in_stage(reference.span, function=function.value)


def _bind_aggregate(aggregate: Aggregate, names_by_spelling: Mapping[str, str]) -> Aggregate:
    """Return an aggregate over the events of a stage: `sum(a.x)`, `count(a)`.

    Raises:
        MatchRecognizeError: the aggregate reads MATCH_NUMBER, or is not over the events of one
            stage of the pattern.
    """
    for reference in list_inner_references(aggregate):
        if reference == MATCH_NUMBER:
            raise errors.match_function_in_stage(reference.span, function="MATCH_NUMBER")
    if aggregate.variable is not None:
        stage = names_by_spelling[aggregate.variable]
        return map_inputs(
            replace(aggregate, variable=stage),
            lambda term: map_column_references(term, lambda column: set_variable(column, stage)),
        )
    counted_stage = _find_counted_stage(aggregate, names_by_spelling)
    if counted_stage is None:
        for reference in list_inner_references(aggregate):
            if isinstance(reference, ColumnReference) and len(reference.column_path) > 1:
                # The qualifier is not a stage, or the parser would have found the variable.
                raise errors.unknown_stage_in_aggregate(
                    reference.span,
                    name=reference.column_path[0],
                    function=aggregate.function,
                    stages=tuple(dict.fromkeys(names_by_spelling.values())),
                )
        raise errors.aggregate_without_stage(aggregate.span, function=aggregate.function)
    return replace(aggregate, variable=counted_stage, arguments=())


def _find_counted_stage(aggregate: Aggregate, names_by_spelling: Mapping[str, str]) -> str | None:
    """Return the stage whose events `count(a)` counts; None if an aggregate is not of this form.

    The parser has read the name of the stage as a column.
    """
    if aggregate.function != "count" or not aggregate.arguments:
        return None
    pieces = [piece for argument in aggregate.arguments for piece in argument.pieces]
    if len(pieces) != 1 or not isinstance(pieces[0], ColumnReference):
        return None
    column = write_row_sql(aggregate.arguments[0])
    # A name in backticks is looked up as it is written, any other name also in upper case.
    name = column.replace("`", "")
    return names_by_spelling.get(name) or names_by_spelling.get(column.upper())


def set_variable(column: ColumnReference, variable: str) -> ColumnReference:
    """Return a reference to the same column, but on the rows of `variable`."""
    return replace(column, navigation=replace(column.navigation, variable=variable))
