"""WITHIN → how far the rows of a match may lie apart: the ends, neighbours, two variables.

WITHIN INTERVAL 1 HOUR, INTERVAL 5 MINUTES BETWEEN ROWS, INTERVAL 10 MINUTES FROM A TO C
"""

from __future__ import annotations

from matchrec.errors.sql import clause as errors
from matchrec.frontends.sql.clause.items import expression_at, items_of
from matchrec.frontends.sql.clause.misplaced import is_time
from matchrec.frontends.sql.clause.nodes import WindowNode
from matchrec.frontends.sql.clause.sections import ClauseTokens, Section


def read_windows(clause: ClauseTokens, section: Section | None) -> tuple[WindowNode, ...]:
    """The windows of a section, each of another kind or between other variables."""
    if section is None:
        return ()
    found = tuple(_window(clause, *item) for item in items_of(clause, section))
    first: dict[tuple[bool, str | None, str | None], WindowNode] = {}
    for one in found:
        other = first.setdefault((one.between_rows, one.after, one.to), one)
        if other is not one:
            raise errors.second_window((other.span, one.span))
    return found


def _window(clause: ClauseTokens, start: int, end: int) -> WindowNode:
    """`interval`, `interval BETWEEN ROWS` or `interval FROM variable TO variable`."""
    span = clause.span(start, end)
    between = [clause.key(index) for index in range(start, end)][-2:] == ["BETWEEN", "ROWS"]
    pair = end - start > 4 and (clause.key(end - 4), clause.key(end - 2)) == ("FROM", "TO")
    stop = end - 2 if between else end - 4 if pair else end
    if stop == start:
        raise errors.nothing_in("WITHIN", span)
    written = expression_at(clause, start, stop)
    if is_time(clause, start):
        raise errors.distance_without_interval(written.text, written.span)
    if not pair:
        return WindowNode(written, span, between)
    after, to = clause[end - 3], clause[end - 1]
    return WindowNode(written, span, False, after.variable, to.variable)
