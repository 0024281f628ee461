"""What is converted: its plan, its text, and the place of its row pattern."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import SASE
from matchrec.frontends.pattern.builder import Pattern
from matchrec.frontends.pattern.lower import PatternQuery
from matchrec.frontends.sase import compile_sase
from matchrec.plan.clauses import MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source, Span
from matchrec.writing.forms import starts_one
from matchrec.writing.stages import as_clause

START = Span(0, 1)


@dataclass(frozen=True, slots=True)
class Streams:
    """What SQL says of its events, and SASE+ and a Pattern leave to the call."""

    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    type_column: str
    output: MatchOutput


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query that was read. pattern: where its row pattern stands."""

    plan: MatchPlan
    source: Source
    pattern: Span = START


def read_sase(text: str, streams: Streams) -> ReadQuery:
    """A SASE+ query."""
    from matchrec.frontends.sase.parser import parse  # it loads lark

    with shown_in(Source(text), SASE):
        plan = compile_sase(
            text, streams.order_by, streams.partition_by, streams.type_column, streams.output
        )
        return ReadQuery(plan, Source(text), parse(text).sequence_span)


def read_pattern(pattern: Pattern, streams: Streams) -> ReadQuery:
    """A Pattern. Raises for a call of the whole pattern that SQL does not have."""
    query = PatternQuery(pattern, streams.order_by, streams.partition_by, ("*",))
    plan, source = as_clause(query)
    if pattern.most_matches is not None:  # numbered in another order
        raise errors.unconverted_option(option=f"first_matches({pattern.most_matches})")
    if pattern.skip.to is SkipTo.PAST_LAST_ROW and starts_one(plan):
        plan = replace(plan, output=MatchOutput.NON_OVERLAPPING)
    elif pattern.skip.to is not None:
        raise errors.unconverted_option(option=f"after_match({pattern.skip!r})")
    return ReadQuery(plan, source)
