"""Trace a location in written SQL to the part of a SASE+ query or of a Pattern that it is from.

The marked parts belong together:

    PATTERN SEQ(Up a, Down b) WHERE strict_contiguity { soundex(b.x) > a.x }
                                                        ^^^^^^^^^^^^^^^^^^
    DEFINE B AS (B.event_type = 'Down') AND (soundex(B.x) > A.x)
                                             ^^^^^^^^^^^^^^^^^^
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from matchrec.dialects.writing.clause_text import write_scalar
from matchrec.dialects.writing.read_queries import START, LoweredQuery
from matchrec.plan.expression import Operation, Scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source, Span

# A word in the text of an expression.
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PartOrigin:
    """A part of written SQL, and the part of the user's query from which it was written."""

    # Where the part is in the written SQL.
    written_span: Span
    # Where the part is in the user's query.
    user_span: Span


def find_origins(query: LoweredQuery, plan: MatchPlan, text: str) -> list[PartOrigin]:
    """Return the parts of a written text whose origin is known, a larger part before its parts.

    Args:
        query: the query that the user wrote.
        plan: the plan that was written.
        text: the SQL that `write_sql` has written for the plan.
    """
    measures = [measure.value for measure in plan.measures]
    origins = list(_locate_in_order(measures, text, 0))
    measures_end = max((origin.written_span.end for origin in origins), default=0)
    pattern_start = text.index("PATTERN (", measures_end)
    pattern_end = text.find("\n", pattern_start)
    if query.pattern_span != START:
        origins.append(PartOrigin(Span(pattern_start, pattern_end), query.pattern_span))
        origins += _locate_window(query, plan, text, pattern_end)
    conditions = [definition.condition for definition in plan.definitions]
    origins += _locate_in_order(conditions, text, text.find("\n  DEFINE ", pattern_start))
    return origins


def _locate_in_order(scalars: Iterable[Scalar], text: str, start: int) -> Iterator[PartOrigin]:
    """Yield the origins of expressions that are written one after another, and of their operands.

    An expression that is not found in the text is left out.

    Args:
        scalars: the expressions, in the order of the text.
        text: the text that contains them.
        start: the index in the text from which the first expression is searched.
    """
    for scalar in scalars:
        written_span = _find_written(write_scalar(scalar), text, start)
        if written_span is None:
            continue
        yield PartOrigin(written_span, scalar.span)
        if isinstance(scalar, Operation):
            yield from _locate_in_order(scalar.operands, text, written_span.start)
        start = written_span.end


def _locate_window(
    query: LoweredQuery, plan: MatchPlan, text: str, start: int
) -> Iterator[PartOrigin]:
    """Yield the origin of WITHIN of a SASE+ query, if it has a window.

    Args:
        query: the query that the user wrote.
        plan: the plan that was written.
        text: the text that was written.
        start: the index of the line before WITHIN.
    """
    within = re.compile(r"\n  (WITHIN .*)").match(text, start)
    if within is None:
        return
    user_span = None if plan.within is None else plan.within.interval.span
    if user_span is None:  # a number of events
        user_span = query.source.find_name("WITHIN", Span(0, len(query.source.text)))
    yield PartOrigin(Span(*within.span(1)), user_span)


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
    match = re.compile(f"{before}{re.escape(expression)}{after}").search(text, start)
    return None if match is None else Span(*match.span())


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
    enclosing = [origin for origin in origins if origin.written_span.contains(span)]
    if not enclosing:
        return None
    user_span = enclosing[-1].user_span
    written_text = text[span.start : span.end]
    if span == enclosing[-1].written_span:
        return user_span
    for part in (written_text, *_WORD.findall(written_text)[:1]):
        part_span = source.find_name(part, user_span)
        if part_span != user_span:
            return part_span
    return user_span
