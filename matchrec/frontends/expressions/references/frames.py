"""`avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)` in DEFINE: the rows of its frame.

The frame is cut from the partition, in the clause's own order, whatever is mapped; so Spark
computes it for every row before the match.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors.sql import frames as errors
from matchrec.errors.sql.expression import match_number_inside
from matchrec.frontends.expressions.analysis import Analysis, Clause
from matchrec.frontends.lexing.function_names import AGGREGATES
from matchrec.frontends.lexing.numbers import whole_number
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.plan.expression import Aggregate, Frame, MatchNumber, inner_references

_ENDLESS = {"PRECEDING": -1, "FOLLOWING": 1}


def is_frame(analysis: Analysis, index: int) -> bool:
    """Whether OVER at `index` gives an aggregate of a condition its frame."""
    closing = index - (3 if analysis.key(index - 1) == "NULLS" else 1)  # IGNORE NULLS
    opening = analysis.openings.get(closing, 0)
    return (
        analysis.key(index) == "OVER"
        and analysis.scope.clause is Clause.DEFINE
        and analysis.is_call(opening - 1)
        and analysis.key(opening - 1) in AGGREGATES
    )


def read_frame(analysis: Analysis, aggregate: Aggregate, index: int) -> tuple[Aggregate, int]:
    """The aggregate over the frame whose OVER stands at `index`, and the token after it."""
    opening = index + 1
    closing = analysis.pairs.get(opening)
    if analysis.key(opening) != "(" or closing is None:
        raise errors.no_frame(analysis.tokens[index].span)
    span = analysis.span(opening, closing + 1)
    if aggregate.variable is not None:
        raise errors.frame_of_variable(aggregate.variable, aggregate.span or span)
    if aggregate.distinct:
        raise errors.distinct_with_frame(aggregate.span or span)
    for reference in inner_references(aggregate):
        if isinstance(reference, MatchNumber) and reference.span is not None:
            name = aggregate.function
            raise match_number_inside(name, analysis.clause, reference.span)
    frame = _frame(analysis, opening + 1, closing)
    if frame is None:
        raise errors.no_frame(span)
    if None not in (frame.start, frame.end) and (frame.start or 0) > (frame.end or 0):
        raise errors.frame_without_rows(span)
    whole = analysis.span(analysis.index_at[(aggregate.span or span).start], closing + 1)
    return replace(aggregate, frame=frame, span=whole), closing + 1


def _frame(tokens: TokenSequence, start: int, end: int) -> Frame | None:
    """The frame of tokens `start .. end`; None where they are none of ROWS."""
    if tokens.key(start) != "ROWS":
        return None
    if tokens.key(start + 1) != "BETWEEN":
        first = _bound(tokens, start + 1, end)
        return Frame(first[0], 0) if first else None
    middle = next((at for at in range(start, end) if tokens.key(at) == "AND"), end)
    first, last = _bound(tokens, start + 2, middle), _bound(tokens, middle + 1, end)
    return Frame(first[0], last[0]) if first and last else None


def _bound(tokens: TokenSequence, start: int, end: int) -> tuple[int | None] | None:
    """How many rows after the current one a bound lies, None for all; None where it is no bound."""
    written, side = tokens.key(start), _ENDLESS.get(tokens.key(start + 1))
    if end - start != 2:
        return None
    if (written, tokens.key(start + 1)) == ("CURRENT", "ROW"):
        return (0,)
    if side is None or written == "UNBOUNDED":
        return (None,) if side else None
    rows = whole_number(tokens[start].text) if tokens[start].text.isdigit() else None
    return None if rows is None else (side * rows,)
