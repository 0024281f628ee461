"""The time of events, `FROM input TIMESTAMP BY time OVER key`, by which the clause will order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize, SortKey
from matchrec.frontends.sql.clause.sections import ClauseTokens, Part, find_sections
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class EventTime:
    """What stands after a relation. span: all of it. keys: each has a time of its own."""

    span: Span
    time: ExpressionText
    keys: tuple[ExpressionText, ...] = ()


def find_event_time(tokens: TokenSequence, start: int, end: int) -> EventTime | None:
    """TIMESTAMP BY among the tokens of a relation."""

    def expression(first: int, after: int) -> ExpressionText:
        span = tokens.span(first, after)
        return ExpressionText(tokens.text_at(span), span)

    for index in tokens.level(start, end):
        if tokens.says(index, "PARTITION", "BY"):
            raise errors.divided_input(tokens.span(index, index + 2))
    for index in tokens.level(start, end):
        if tokens.says(index, "TIMESTAMP", "BY"):
            first = index + 2
            over = (at for at in tokens.level(first, end) if tokens.key(at) == "OVER")
            last = next(over, end)
            if first < last:
                keys = tokens.separated(last + 1, end) if last < end else ()
                parts = tuple(expression(*key) for key in keys if key[0] < key[1])
                return EventTime(tokens.span(index, end), expression(first, last), parts)
    return None


def before_keys(tokens: TokenSequence, start: int) -> int:
    """Where a relation starts that was taken for one after the comma of `OVER x, y`."""
    before = tuple(tokens.level(tokens.around[start] + 1, start))
    words = [index for index in before if tokens.key(index) in ("FROM", "JOIN", "OVER")]
    if tokens.key(start - 1) != "," or not words or tokens.key(words[-1]) != "OVER":
        return start
    ends = [at + 1 for at in before if at < words[-1] and tokens.key(at) in ("FROM", "JOIN", ",")]
    return ends[-1] if ends else start


def ordered_by(clause: MatchRecognize, time: EventTime) -> MatchRecognize:
    """The clause as it will be: its order is that of the time."""
    return replace(clause, order_by=(SortKey(time.time, span=time.time.span),))


def check_keys(clause: MatchRecognize, time: EventTime) -> None:
    """Raises an error for a key of OVER that does not divide the rows."""
    partitions = {key.expression.text.upper() for key in clause.partition_by}
    for key in time.keys:
        if key.text.upper() not in partitions:
            raise errors.own_time(key.text, key.span)


def order_edit(tokens: ClauseTokens, time: str) -> Edit:
    """ORDER BY the time, after PARTITION BY. time: in the other product's SQL."""
    sections = find_sections(tokens).values()
    later = [one.keyword.start for one in sections if one.part is not Part.PARTITION_BY]
    return Edit(Span(min(later), min(later)), f"ORDER BY {time}\n")


def check_times(tokens: TokenSequence, wholes: Collection[Span]) -> None:
    """Raises an error for TIMESTAMP BY that no clause follows. wholes: relations with clauses."""
    for index in range(len(tokens)):
        if not tokens.says(index, "TIMESTAMP", "BY"):
            continue
        span = tokens.span(index, index + 2)
        holding = (one for one in wholes if one.holds(span))
        levels = {tokens.around[tokens.index_at[one.start]] for one in holding}
        if tokens.around[index] not in levels:
            raise errors.time_of_step(span)
