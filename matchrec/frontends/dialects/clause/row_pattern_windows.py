"""Row pattern windows of a query that is translated: sqlglot does not know them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.clause.clause_edits import clause_edits
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.rules.columns import Kinds, KnownColumns
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.sections import Part
from matchrec.frontends.sql.query.cuts import Cut
from matchrec.frontends.sql.windows.find import FoundWindow, find_pattern_windows
from matchrec.frontends.sql.windows.read import clause_of_own
from matchrec.source import Span


def windows_between(tokens: TokenSequence, fragments: Fragments) -> tuple[FoundWindow, ...]:
    """The windows of a query. Raises where one of the two products has none."""
    windows = find_pattern_windows(tokens)
    for product in (fragments.read, fragments.write):
        if windows and not product.has_row_pattern_windows:
            raise errors.no_windows(product.title, tokens[windows[0].opening].span)
    return windows


def in_order(
    clauses: Sequence[Cut], windows: Sequence[FoundWindow]
) -> tuple[Cut | FoundWindow, ...]:
    """Clauses and windows in the order in which they are evaluated."""

    def end(one: Cut | FoundWindow) -> int:
        return one.closing + 1 if isinstance(one, Cut) else one.select.rows_end

    return tuple(sorted((*clauses, *windows), key=end))


def inside(tokens: TokenSequence, window: FoundWindow) -> Span:
    """What stands between the parentheses of a window."""
    return tokens.span(window.opening + 1, window.closing)


def calls_over(tokens: TokenSequence, windows: Sequence[FoundWindow]) -> Iterator[Span]:
    """The calls over the rows of matches, with OVER."""
    for window in windows:
        for call in window.calls:
            if not call.is_of_partition(tokens):
                yield tokens.span(call.start, call.end)


def window_edits(
    tokens: TokenSequence, window: FoundWindow, fragments: Fragments, columns: Kinds | None
) -> Iterator[Edit]:
    """The edits of a window and of the calls over it. columns: of its input."""
    own = clause_of_own(tokens, window)
    yield from clause_edits(own, fragments, columns)
    clause = read_clause(own)
    known = KnownColumns(columns or {})
    place = Place(fragments.read, fragments.write, clause, columns=known)
    for call in window.calls:
        name = tokens[call.start]
        if tokens.key(call.over - 1) != ")" and name.kind is TokenKind.QUOTED:
            quote = fragments.write.quote
            yield Edit(name.span, f"{quote}{name.text.replace(quote, 2 * quote)}{quote}")
        elif tokens.key(call.over - 1) == ")" and not call.is_of_partition(tokens):
            span = tokens.span(call.start, call.over)
            yield from fragments.expression(span, place.within(clause, Part.MEASURES))
