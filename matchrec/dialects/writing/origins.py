"""Trace a location in written SQL to the part of a SASE+ query or of a Pattern that it is from.

PATTERN SEQ(Up a, Down b) WHERE strict_contiguity { soundex(b.x) > a.x }
                                                    ^^^^^^^^^^^^^^^^^^
DEFINE B AS (B.event_type = 'Down') AND (soundex(B.x) > A.x)
                                         ^^^^^^^^^^^^^^^^^^
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.dialects.writing.clause_text import write_scalar
from matchrec.dialects.writing.read_queries import START, ReadQuery
from matchrec.plan.expression import Operation, Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source, Span

# A word in the text of an expression.
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PartOrigin:
    """A part of written SQL, and the part of the user's query from which it was written."""

    written: Span
    user: Span


def find_origins(query: ReadQuery, plan: MatchPlan, text: str) -> list[PartOrigin]:
    """Return the parts of a written text whose origin is known, a larger part before its parts.

    Args:
        query: the query that the user wrote.
        plan: the plan that was written.
        text: the SQL that `write_sql` has written for the plan.
    """
    origins = []
    position = 0
    for measure in plan.measures:
        located = list(_locate_scalar(measure.value, text, position))
        origins += located
        position = located[0].written.end if located else position
    pattern_start = text.index("PATTERN (", position)
    pattern_end = text.find("\n", pattern_start)
    if query.pattern_span != START:
        origins.append(PartOrigin(Span(pattern_start, pattern_end), query.pattern_span))
        origins += _locate_window(query, plan, text, pattern_end)
    position = text.find("\n  DEFINE ", pattern_start)
    for definition in plan.definitions:
        located = list(_locate_scalar(definition.condition, text, position))
        origins += located
        position = located[0].written.end if located else position
    return origins


def _locate_window(
    query: ReadQuery, plan: MatchPlan, text: str, start: int
) -> Iterator[PartOrigin]:
    """Yield the origin of WITHIN of a SASE+ query, if it has a window.

    Args:
        query: the query that the user wrote.
        plan: the plan that was written.
        text: the text that was written.
        start: the index of the line before WITHIN.
    """
    written = re.compile(r"\n  (WITHIN .*)").match(text, start)
    if written is None:
        return
    users_span = None if plan.within is None else plan.within.interval.span
    if users_span is None:  # a number of events
        users_span = query.source.find_name("WITHIN", Span(0, len(query.source.text)))
    yield PartOrigin(Span(*written.span(1)), users_span)


def _locate_scalar(scalar: Scalar, text: str, start: int) -> Iterator[PartOrigin]:
    """Yield the origin of an expression, then the origins of its operands.

    Args:
        scalar: the expression.
        text: the text that contains it.
        start: the index in the text from which it is searched.
    """
    written = _find_written(write_scalar(scalar), text, start)
    if written is None:
        return
    yield PartOrigin(written, scalar.span)
    if isinstance(scalar, Operation):
        position = written.start
        for operand in scalar.operands:
            located = list(_locate_scalar(operand, text, position))
            yield from located
            position = located[0].written.end if located else position


def _find_written(expression: str, text: str, start: int) -> Span | None:
    """Return where an expression is first written in a text from index `start` on, or None.

    A part of a longer word does not count.

    >>> _find_written("a", "abs(a) > 1", 0), _find_written("(a)", "abs(a) > 1", 0)
    (Span(start=4, end=5), Span(start=3, end=6))
    """
    if not expression:
        return None
    before = r"(?<!\w)" if _WORD.match(expression[0]) else ""
    after = r"(?!\w)" if _WORD.match(expression[-1]) else ""
    written = re.compile(f"{before}{re.escape(expression)}{after}").search(text, start)
    return None if written is None else Span(*written.span())


def trace_to_user(origins: list[PartOrigin], text: str, span: Span, source: Source) -> Span | None:
    """Return the part of the user's query that a part of written SQL comes from.

    Args:
        origins: what `find_origins` has returned.
        text: the written SQL.
        span: the part of the SQL.
        source: the user's query.

    Returns:
        The innermost expression that contains the part, narrowed to the part itself or else to its
        first word if the user wrote it there. None if the part comes from no expression of the
        user, such as a keyword of SQL.
    """
    enclosing = [origin for origin in origins if origin.written.contains(span)]
    if not enclosing:
        return None
    user_span = enclosing[-1].user
    written = text[span.start : span.end]
    if span == enclosing[-1].written:
        return user_span
    for part in (written, *_WORD.findall(written)[:1]):
        part_span = source.find_name(part, user_span)
        if part_span != user_span:
            return part_span
    return user_span
