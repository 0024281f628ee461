"""Conditions of stages as expressions: what reads the candidate, and what reads events before it.

The candidate is not mapped yet when its condition is evaluated: a plain column is read through the
test's own name, and a stage is the events accepted for it so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from matchrec.errors import stages as errors
from matchrec.plan.combined import comparison, complement
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Ending,
    MatchNumber,
    Navigation,
    Operation,
    Piece,
    Reference,
    RowNumber,
    Scalar,
    Term,
    inner_references,
    with_references,
)
from matchrec.source import Span

CALLED = {Classifier: "CLASSIFIER", MatchNumber: "MATCH_NUMBER", RowNumber: "MATCH_ROW_NUMBER"}

CANDIDATE = "candidate"
"""Stands for the test's own name until that is known; no stage is called so with a colon."""

_CANDIDATE = f":{CANDIDATE}"
NOWHERE = Span(0, 0)


def refuse_other_rows(scalar: Scalar, names: Mapping[str, str]) -> Scalar:
    """The expression over the candidate and the stages. names: how stages may be written.

    Raises MatchRecognizeError for what reads rows in any other way.
    """
    pieces = tuple(_read(piece, names) for piece in scalar.pieces)
    if isinstance(scalar, Operation):
        operands = tuple(refuse_other_rows(operand, names) for operand in scalar.operands)
        return replace(scalar, operands=operands, pieces=pieces)
    return _zero_of_none(replace(scalar, pieces=pieces))


def _zero_of_none(term: Term) -> Scalar:
    """A sum of no events is 0."""
    sums = [one for one in term.pieces if isinstance(one, Aggregate) and one.function == "sum"]
    bare = all(not one.strip(" ()\t\r\n") for one in term.pieces if isinstance(one, str))
    if len(sums) != 1 or not bare:
        return term
    zero = Term(("0",), term.span)
    return Operation("COALESCE", (term, zero), ("coalesce(", *term.pieces, ", 0)"), term.span)


def _read(piece: Piece, names: Mapping[str, str]) -> Piece:
    match piece:
        case str():
            return piece
        case ColumnReference(navigation=navigation):
            return replace(piece, navigation=_navigation(navigation, names, piece.span))
        case Aggregate():
            return _aggregate(piece, names)
        case Ending():
            raise AssertionError(piece)  # refused where it is read
        case Classifier() | MatchNumber() | RowNumber():
            raise errors.not_of_an_event(CALLED[type(piece)], piece.span)


def _navigation(navigation: Navigation, names: Mapping[str, str], span: Span | None) -> Navigation:
    if navigation.physical_offset:
        raise errors.reads_neighbour(span)
    if navigation.variable is not None:
        return replace(navigation, variable=names[navigation.variable])
    if navigation.end is End.FIRST or navigation.logical_offset:
        raise errors.of_no_stage(navigation.end.value.lower(), span)
    return replace(navigation, variable=_CANDIDATE)


def _aggregate(aggregate: Aggregate, names: Mapping[str, str]) -> Aggregate:
    for one in inner_references(aggregate):
        if isinstance(one, MatchNumber):
            raise errors.not_of_an_event(CALLED[MatchNumber], one.span)
    if aggregate.variable is not None:
        stage = names[aggregate.variable]
        arguments = tuple(_of_stage(one, stage) for one in aggregate.arguments)
        return replace(aggregate, variable=stage, arguments=arguments)
    counted = _text(aggregate.arguments[0]) if len(aggregate.arguments) == 1 else ""
    found = names.get(counted.replace("`", "")) or names.get(counted.upper())
    if aggregate.function != "count" or found is None:
        raise errors.of_no_stage(aggregate.function, aggregate.span)
    return replace(aggregate, variable=found, arguments=())


def _of_stage(term: Scalar, stage: str) -> Scalar:
    """An argument whose columns are those of a stage's events."""
    pieces = (
        replace(one, navigation=replace(one.navigation, variable=stage))
        if isinstance(one, ColumnReference)
        else one
        for one in term.pieces
    )
    return replace(term, pieces=tuple(pieces))


def _text(term: Scalar) -> str:
    piece = term.pieces[0]
    return piece.argument if isinstance(piece, ColumnReference) and len(term.pieces) == 1 else ""


def with_candidate(scalar: Scalar, test: str) -> Scalar:
    """The condition of a test, which reads the candidate by its name."""
    return with_references(scalar, lambda one: _named(one, test))


def _named(reference: Reference, test: str) -> Reference:
    if not isinstance(reference, ColumnReference) or reference.navigation.variable != _CANDIDATE:
        return reference
    return replace(reference, navigation=replace(reference.navigation, variable=test))


def too_far(order: str, window: str) -> Operation:
    """That the candidate does not lie less than `window` after the event accepted last."""
    here = Term((ColumnReference(Navigation(_CANDIDATE), order),), NOWHERE)
    end = Term((ColumnReference(Navigation(), later(order, window)),), NOWHERE)
    return complement(comparison("<", here, end))


def later(order: str, window: str) -> str:
    """The time `window` after that of a row; a number does not overflow an int."""
    return f"({order}) + ({window}L)" if window.isdigit() else f"({order}) + ({window})"
