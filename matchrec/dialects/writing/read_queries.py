"""Read the queries that are to be written as SQL, SASE+ queries and Patterns, and plan them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.dialects.writing.preferred import starts_one_match
from matchrec.dialects.writing.stages import lower_to_clause
from matchrec.errors import calls as errors
from matchrec.patterns.sase import StreamOptions, compile_sase
from matchrec.patterns.sase.parser import parse_once
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.plan.clauses import MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source, Span

# The span of notes and errors about the whole query.
START = Span(0, 1)


@dataclass(frozen=True, slots=True)
class LoweredQuery:
    """A query to convert: its plan, and what the user wrote."""

    # What the query means.
    plan: MatchPlan
    # What the user wrote.
    source: Source
    # The row pattern in `source`; `START` for a Pattern, whose source has only its conditions.
    pattern_span: Span = START


def read_sase(text: str, stream_options: StreamOptions) -> LoweredQuery:
    """Read a SASE+ query.

    Raises:
        MatchRecognizeError: the query is wrong.
    """
    plan = compile_sase(text, stream_options)
    return LoweredQuery(plan, Source(text), parse_once(text, None).sequence_span)


def read_pattern(pattern: Pattern, stream_options: StreamOptions) -> LoweredQuery:
    """Read a Pattern.

    Raises:
        MatchRecognizeUnsupportedError: SQL cannot express a part of it.
    """
    query = PatternQuery(pattern, stream_options.order_by, stream_options.partition_by, ())
    plan, source = lower_to_clause(query)
    if pattern._most_matches is not None:  # a clause numbers its matches in another order
        raise errors.option_not_convertible(option=f"first_matches({pattern._most_matches})")
    if pattern._skip_strategy._to is SkipTo.PAST_LAST_ROW and starts_one_match(plan):
        plan = replace(plan, output=MatchOutput.NON_OVERLAPPING)
    elif pattern._skip_strategy._to is not None:
        raise errors.option_not_convertible(option=f"after_match({pattern._skip_strategy!r})")
    return LoweredQuery(plan, source)
