"""Row pattern windows → sites: each is evaluated over the rows of its SELECT, one after the other.

SELECT id, low OVER w FROM t WHERE x > 0 WINDOW w AS (...)
clause: of w; relation: `t WHERE x > 0`; in the query stands SELECT id, `low OVER w` FROM □ AS t
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.query import clause_in_clause
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.sql.clause.nodes import ExpressionText
from matchrec.frontends.sql.query.cuts import Cut
from matchrec.frontends.sql.query.nodes import Site, view_name
from matchrec.frontends.sql.query.statement import refuse_stored_text
from matchrec.frontends.sql.query.use import Words, all_names
from matchrec.frontends.sql.query.with_clauses import WithClause, find_visible
from matchrec.frontends.sql.windows.blocks import Select, find_alias
from matchrec.frontends.sql.windows.edits import call_edit, find_stars, window_edits
from matchrec.frontends.sql.windows.find import Call, FoundWindow
from matchrec.frontends.sql.windows.nodes import Block, RowPatternWindow, WindowCall, uncalled
from matchrec.frontends.sql.windows.read import ReadWindow, read_window
from matchrec.plan.text.template import View
from matchrec.plan.use import Use
from matchrec.source import Span


@dataclass(frozen=True)
class ReadBlock:
    """A SELECT with its row pattern windows, each with the calls over it, by their columns."""

    tokens: TokenSequence
    select: Select
    windows: tuple[tuple[FoundWindow, ReadWindow, tuple[tuple[Call, WindowCall], ...]], ...]

    @property
    def alias(self) -> str | None:
        """The name that qualifies the columns of its rows."""
        return find_alias(self.tokens, self.select.relation)

    @property
    def rows(self) -> Span:
        """The relation and its WHERE."""
        return self.tokens.span(self.select.relation[0], self.select.rows_end)

    def sites(self, index: int, withs: tuple[WithClause, ...], words: Words) -> Iterator[Site]:
        """A site for each window, the first with number `index`."""
        names = all_names(words)
        own = frozenset(known.column.lower() for *_, calls in self.windows for _, known in calls)
        for number, (_, read, calls) in enumerate(self.windows, index):
            columns = {known.column: known for _, known in calls}
            before = View(view_name(number - 1)) if number > index else None
            unread = frozenset(uncalled(one.name).lower() for one in read.clause.measures)
            yield Site(
                number,
                read.clause,
                self.alias,
                View(view_name(number)),
                self.rows,
                self.rows,
                find_visible(self.tokens, withs, self.select.relation[0]),
                Use(None if names is None else names | own, unread=unread),
                RowPatternWindow(read.frame, tuple(columns.values()), before),
            )

    def block(self, last: int) -> Block:
        """What the query becomes once the windows are evaluated, the last of which is `last`."""
        edits = [
            call_edit(self.tokens, call, known, self.select)
            for *_, calls in self.windows
            for call, known in calls
        ]
        for window, read, _ in self.windows:
            edits.extend(window_edits(window, read, self.tokens))
        return Block(
            View(view_name(last)),
            last,
            self.tokens.span(self.select.select, self.select.from_),
            self.rows,
            self.alias,
            tuple(edits),
            tuple(find_stars(self.tokens, self.select, self.alias)),
        )

    def hidden(self) -> Iterator[Span]:
        """What no other parser of SQL can read: OVER of a call, and the pattern of a window."""
        for _, read, calls in self.windows:
            yield read.rest
            for call, _ in calls:
                yield self.tokens.span(call.over, call.end)


def read_blocks(
    tokens: TokenSequence, windows: Sequence[FoundWindow], clauses: Sequence[Cut]
) -> tuple[ReadBlock, ...]:
    """The SELECTs of a query with row pattern windows, inner ones before those around them."""
    grouped: dict[int, list[FoundWindow]] = defaultdict(list)
    for window in windows:
        for cut in clauses:
            if window.opening < cut.word < window.closing:
                raise clause_in_clause(tokens[cut.word].span)
            if cut.opening < window.opening < cut.closing:
                raise clause_in_clause(tokens[window.opening].span)
        refuse_stored_text(tokens, Cut(window.opening, window.opening, window.closing))
        grouped[window.select.select].append(window)
    blocks = [_read_block(tokens, found) for found in grouped.values()]
    return tuple(sorted(blocks, key=lambda block: block.rows.end))


def _read_block(tokens: TokenSequence, windows: Sequence[FoundWindow]) -> ReadBlock:
    taken: dict[str, tuple[str, int]] = {}
    found = []
    for number, window in enumerate(windows, 1):
        read = read_window(tokens, window)
        label = window.name or f"(window {number})"
        calls = tuple(
            (call, _called(tokens, call, read, label))
            for call in window.calls
            if not call.is_of_partition(tokens)
        )
        distinct = tuple((call, _unlike(known, taken)) for call, known in calls)
        found.append((window, read, distinct))
    return ReadBlock(tokens, windows[0].select, tuple(found))


def _called(tokens: TokenSequence, call: Call, read: ReadWindow, label: str) -> WindowCall:
    """A measure or a function over a window."""
    span = tokens.span(call.start, call.over)
    written = ExpressionText(tokens.text_at(span), span)
    text = " ".join(written.text.split())
    if tokens.key(call.over - 1) == ")" or (call.over - call.start > 1 and ")" in text):
        return WindowCall(f"{text} OVER {label}", written, None)
    name = tokens[call.start].name
    if call.over - call.start > 1:
        raise errors.qualified_measure(text, span)
    known = [measure.name for measure in read.clause.measures]
    own = next((one for one in known if one.lower() == name.lower()), None)
    if own is None:
        raise errors.unknown_measure(name, known, label, span)
    return WindowCall(f"{own} OVER {label}", written, name)


def _unlike(call: WindowCall, taken: dict[str, tuple[str, int]]) -> WindowCall:
    """The call with a column whose name differs by more than case from those of other texts."""
    column, number = call.column, 1
    while taken.setdefault(column.lower(), (call.column, 0))[0] != call.column:
        number += 1
        column = f"{call.column} ({number})"
    return replace(call, column=column)
