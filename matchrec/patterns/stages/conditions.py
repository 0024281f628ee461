"""Bind the conditions of stages: which event does each reference read?

While a condition is evaluated, the event that it tests, the candidate, is not mapped yet. So a
plain column is read through the name of the test, which stands for the candidate; the name of a
stage stands for the events that the stage has accepted so far.

    stage a, where price > 10              :candidate.price > 10
    stage b, where price > last(a.price)   :candidate.price > LAST(a.price)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from matchrec.errors import stages as errors
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchValue,
    Operation,
    Reference,
    Scalar,
    Term,
    list_inner_references,
    make_number,
    map_column_references,
    map_terms,
    write_row_sql,
)
from matchrec.source import Span

# Stands for the name of the test until the test is defined. No stage has a colon in its name.
CANDIDATE = ":candidate"

NOWHERE = Span(0, 0)


def bind_condition(scalar: Scalar, stage_names: Mapping[str, str]) -> Scalar:
    """Return a condition as an expression over the candidate and over stages.

    A sum over no events is 0, as in Flink.

    Args:
        scalar: the condition as SQL over variables.
        stage_names: each spelling of a stage, and its name.

    Raises:
        MatchRecognizeError: the condition reads anything else, such as a neighbouring event.
    """
    if isinstance(scalar, Operation):
        return scalar.map_operands(lambda operand: bind_condition(operand, stage_names))
    pieces = tuple(
        piece if isinstance(piece, str) else _bind_reference(piece, stage_names)
        for piece in scalar.pieces
    )
    term = replace(scalar, pieces=pieces)
    if not _is_single_sum(term):
        return term
    zero = make_number(0, term.span)
    return Operation("COALESCE", ("coalesce(", term, ", ", zero, ")"), term.span)


def _is_single_sum(term: Term) -> bool:
    """Return whether a term is nothing but one sum over events, perhaps in parentheses."""
    texts = [piece for piece in term.pieces if isinstance(piece, str)]
    if any(text.strip(" ()\t\r\n") for text in texts):
        return False
    sums = [
        reference
        for reference in term.references
        if isinstance(reference, Aggregate) and reference.function == "sum"
    ]
    return len(sums) == 1


def _bind_reference(reference: Reference, stage_names: Mapping[str, str]) -> Reference:
    """Return a reference that reads the candidate, or an event or the events of a stage.

    Raises:
        MatchRecognizeError: it reads anything else.
    """
    match reference:
        case ColumnReference(navigation=navigation):
            if navigation.physical_offset:
                raise errors.neighbour_in_stage(reference.span)
            if navigation.variable is not None:
                return read_from(reference, stage_names[navigation.variable])
            if navigation.end is End.FIRST or navigation.logical_offset:
                function = navigation.end.value.lower()
                raise errors.aggregate_over_no_stage(reference.span, function=function)
            return read_from(reference, CANDIDATE)
        case Aggregate():
            return _bind_aggregate(reference, stage_names)
        case Classifier():
            raise errors.match_function_in_stage(reference.span, function="CLASSIFIER")
        case MatchValue(function):
            raise errors.match_function_in_stage(reference.span, function=function.value)


def _bind_aggregate(aggregate: Aggregate, stage_names: Mapping[str, str]) -> Aggregate:
    """Return an aggregate over the events of a stage: `sum(a.x)`, `count(a)`.

    Raises:
        MatchRecognizeError: it reads MATCH_NUMBER, or is not over the events of one stage.
    """
    for reference in list_inner_references(aggregate):
        if reference == MATCH_NUMBER:
            raise errors.match_function_in_stage(reference.span, function="MATCH_NUMBER")
    if aggregate.variable is not None:
        stage = stage_names[aggregate.variable]
        return map_terms(
            replace(aggregate, variable=stage),
            lambda term: map_column_references(term, lambda column: read_from(column, stage)),
        )
    # In `count(a)`, the stage has been read as a column.
    pieces = [piece for argument in aggregate.arguments for piece in argument.pieces]
    is_column = len(pieces) == 1 and isinstance(pieces[0], ColumnReference)
    column = write_row_sql(aggregate.arguments[0]) if is_column else ""
    counted_stage = stage_names.get(column.replace("`", "")) or stage_names.get(column.upper())
    if aggregate.function != "count" or counted_stage is None:
        raise errors.aggregate_over_no_stage(aggregate.span, function=aggregate.function)
    return replace(aggregate, variable=counted_stage, arguments=())


def read_from(column: ColumnReference, name: str) -> ColumnReference:
    """Return the column, read on a row of a stage or of a test."""
    return replace(column, navigation=replace(column.navigation, variable=name))
