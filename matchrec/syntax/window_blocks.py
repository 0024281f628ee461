"""Read the SELECTs with row pattern windows, and find the texts to replace in them.

    SELECT id, low OVER w, * FROM t WINDOW w AS (... PATTERN (...) ...)

`read_blocks` groups the windows of a query by their SELECT, reads each window as a clause, and
returns a `WindowBlock` for each SELECT. The windows of a block are evaluated one after the other:
see `walk_sites`. Then columns replace the calls over the windows: see `walk_edits`.

    SELECT id, `low OVER w` AS `low`, * FROM □ WINDOW w AS (...)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.query import clause_in_clause
from matchrec.errors.sql.token_advice import TokenInText
from matchrec.errors.sql.tokens import unexpected_token
from matchrec.plan.match_plan import ResultUse
from matchrec.plan.text import quote_name
from matchrec.source import Span
from matchrec.syntax.clause_locations import ClauseLocation
from matchrec.syntax.from_relations import read_relation
from matchrec.syntax.nodes import MatchRecognize, Site, WindowCall, name_uncalled_measure
from matchrec.syntax.pattern_windows import (
    CallTokens,
    ParsedWindow,
    PatternWindow,
    is_unnamed_item,
    read_window,
)
from matchrec.syntax.result_use import list_names_outside
from matchrec.syntax.stored_text import reject_stored_text
from matchrec.syntax.text_edits import TextEdit
from matchrec.syntax.tokens import TokenSequence
from matchrec.syntax.window_selects import Select
from matchrec.syntax.with_clauses import WithClause, find_visible_definitions


class LocatedCall(NamedTuple):
    """A call over a window, and where it is in the query."""

    tokens: CallTokens
    call: WindowCall


@dataclass(frozen=True)
class BlockWindow:
    """A row pattern window of a SELECT, with the calls over it."""

    # Where the window is in the query.
    location: PatternWindow
    # The window, read as a clause.
    clause: MatchRecognize
    # The text of PARTITION BY and ORDER BY, also of the base window.
    keys_text: str
    # The calls over the window that read the rows of its matches.
    calls: tuple[LocatedCall, ...]


@dataclass(frozen=True)
class WindowBlock:
    """A SELECT with row pattern windows, and the texts that are replaced after their evaluation."""

    # The tokens of the query.
    tokens: TokenSequence
    # The locations of the parts of the SELECT.
    select: Select
    # The windows, in the order of evaluation.
    windows: tuple[BlockWindow, ...]
    # The name of the relation, by which columns may be qualified; None if it has no name.
    alias: str | None
    # Where the select list has a `*` or `t.*` for all columns of the input.
    stars: tuple[Span, ...]
    # The columns of the input; empty until they are known.
    columns: tuple[str, ...] = ()

    @property
    def rows(self) -> Span:
        """Return where the rows of the windows are written: relation and WHERE."""
        return self.tokens.span(self.select.relation[0], self.select.rows_end)

    @property
    def head(self) -> Span:
        """Return where SELECT and its list are written, up to FROM."""
        return self.tokens.span(self.select.select, self.select.from_)

    def walk_sites(self, with_clauses: tuple[WithClause, ...]) -> Iterator[Site]:
        """Yield the site of each window, in the order of evaluation.

        Args:
            with_clauses: the WITH clauses of the query.
        """
        names = list_names_outside(self.tokens)
        used_names = None
        if names is not None:
            used_names = names | {
                call.column.lower() for window in self.windows for _, call in window.calls
            }
        visible = find_visible_definitions(self.tokens, with_clauses, self.select.relation[0])
        for position, window in enumerate(self.windows):
            uncalled_measures = frozenset(
                name_uncalled_measure(measure.name).lower() for measure in window.clause.measures
            )
            yield Site(
                index=0,  # the caller numbers the sites of all blocks and clauses
                clause=window.clause,
                relation_alias=self.alias,
                relation=self.rows,
                replaced=self.rows,
                with_clauses=visible,
                result_use=ResultUse(used_names, unread=uncalled_measures),
                calls=_drop_repeated_columns(call for _, call in window.calls),
                reads_previous_window=position > 0,
            )

    def walk_edits(self) -> Iterator[TextEdit]:
        """Yield the edits of the SELECT once its windows are evaluated.

        - A column with an alias replaces each call: `"low OVER w" AS low`. The edit has no alias if
          the item has one already, or if the call is only a part of the item.
        - A window that stays in the query keeps only PARTITION BY and ORDER BY.
        """
        tokens = self.tokens
        for window in self.windows:
            for call_tokens, call in window.calls:
                text = quote_name(call.column)
                if call.measure is not None and is_unnamed_item(tokens, call_tokens, self.select):
                    text = f"{text} AS {quote_name(call.measure)}"
                yield TextEdit(tokens.span(call_tokens.start, call_tokens.end), text)
            location = window.location
            if location.keeps_keys:
                inside = tokens.span(location.opening + 1, location.closing)
                yield TextEdit(inside, window.keys_text)


def _drop_repeated_columns(calls: Iterable[WindowCall]) -> tuple[WindowCall, ...]:
    """Return one call for each column: calls with the same text share a column."""
    return tuple({call.column: call for call in calls}.values())


def read_blocks(
    tokens: TokenSequence, windows: Sequence[PatternWindow], clauses: Sequence[ClauseLocation]
) -> tuple[WindowBlock, ...]:
    """Return the SELECTs of a query with row pattern windows, in the order of evaluation.

    An inner SELECT comes before the SELECT around it.

    Args:
        tokens: the tokens of the query.
        windows: the row pattern windows of the query.
        clauses: the MATCH_RECOGNIZE clauses of the query.

    Raises:
        MatchRecognizeError: a window is malformed, a clause is inside a window, or a window is
            inside a clause.
    """
    windows_by_select: dict[int, list[PatternWindow]] = defaultdict(list)
    for window in windows:
        for clause in clauses:
            if window.opening < clause.word < window.closing:
                raise clause_in_clause(tokens[clause.word].span)
            if clause.opening < window.opening < clause.closing:
                raise clause_in_clause(tokens[window.opening].span)
        reject_stored_text(tokens, ClauseLocation(window.opening, window.opening, window.closing))
        windows_by_select[window.select.select].append(window)
    blocks = [_read_block(tokens, group) for group in windows_by_select.values()]
    return tuple(sorted(blocks, key=lambda block: block.rows.end))


def _read_block(tokens: TokenSequence, windows: Sequence[PatternWindow]) -> WindowBlock:
    """Read one SELECT with all of its row pattern windows."""
    calls_by_column: dict[str, str] = {}
    block_windows = []
    for number, location in enumerate(windows, 1):
        window = read_window(tokens, location)
        label = location.name or f"(window {number})"
        calls = []
        for call_tokens in location.calls:
            call = _read_call(tokens, call_tokens, window, label)
            column = _choose_column(call, calls_by_column)
            calls.append(LocatedCall(call_tokens, replace(call, column=column)))
        block_windows.append(BlockWindow(location, window.clause, window.keys_text, tuple(calls)))
    select = windows[0].select
    alias = read_relation(tokens, *select.relation).name
    stars = tuple(_find_stars(tokens, select, alias))
    return WindowBlock(tokens, select, tuple(block_windows), alias, stars)


def _read_call(
    tokens: TokenSequence, call: CallTokens, window: ParsedWindow, label: str
) -> WindowCall:
    """Return a call of a function or of a measure.

    The name of its column is the text of the call with the label of the window: `low OVER w`.

    Args:
        tokens: the tokens of the query.
        call: the tokens of the call.
        window: the window.
        label: the name of the window in messages and columns.

    Raises:
        MatchRecognizeError: the window has no measure of this name, or the name has a qualifier.
    """
    sequence = tokens.cut_out(call.start, call.over)
    span = sequence.full_span
    text = " ".join(sequence.text.split())
    has_several_tokens = call.over - call.start > 1
    has_arguments = tokens.key(call.over - 1) == ")" or (has_several_tokens and ")" in text)
    if has_arguments:
        return WindowCall(f"{text} OVER {label}", sequence, None)
    if has_several_tokens:
        raise errors.qualified_measure(span, name=text, measure=text.rpartition(".")[2])
    name = tokens[call.start].name
    measures = [measure.name for measure in window.clause.measures]
    for measure in measures:
        if measure.lower() == name.lower():
            return WindowCall(f"{measure} OVER {label}", sequence, name)
    if not measures:
        _reject_misspelt_measures(tokens, window.location)
    raise errors.unknown_window_measure(span, name=name, window=label, measures=measures)


def _reject_misspelt_measures(tokens: TokenSequence, window: PatternWindow) -> None:
    """Raise an error if MEASURES is misspelt, and so was read as a word of the part before it."""
    for index in tokens.walk_level(window.opening + 1, window.closing):
        token = tokens[index]
        is_column = tokens.key(index - 1) in ("BY", ",", ".")
        if not is_column and find_nearest(token.key, ["MEASURES"]):
            raise unexpected_token(TokenInText(token.text, "a row pattern window"), token.span)


def _choose_column(call: WindowCall, calls_by_column: dict[str, str]) -> str:
    """Return the name of a column for a call, and add it to `calls_by_column`.

    Calls with the same text share a column. No other two calls do, even if their texts differ only
    in case: `sum(X) OVER w` after `sum(x) OVER w` gets the column `sum(X) OVER w (2)`.

    Args:
        call: the call. The result is its column, if no other call has taken this name.
        calls_by_column: for each column that is in use, in lower case, the text of its calls.
    """
    column = call.column
    number = 1
    while calls_by_column.setdefault(column.lower(), call.column) != call.column:
        number += 1
        column = f"{call.column} ({number})"
    return column


# Tokens before a `*` that stands for columns. After other tokens, a `*` multiplies.
_KEYS_BEFORE_STAR = ("SELECT", "DISTINCT", "ALL", ",", "(", ".")
# Words after a `*` that change which columns it stands for.
_CHANGES_OF_STAR = ("EXCEPT", "EXCLUDE", "REPLACE", "RENAME")


def _find_stars(tokens: TokenSequence, select: Select, alias: str | None) -> Iterator[Span]:
    """Yield each `*` and `t.*` that stands for all columns of the input in the select list.

    Args:
        tokens: the tokens of the query.
        select: the SELECT.
        alias: the name of its relation; None if the relation has no name.

    Raises:
        MatchRecognizeError: the columns are changed, as with `* EXCEPT (x)`.
    """
    index, end = select.items
    while index < end:
        star = _find_star(tokens, index, alias) if tokens.key(index) == "*" else None
        if star is not None:
            yield star
        # A `*` in a subquery stands for columns of the subquery's relations.
        index = tokens.index_after(index) if tokens.is_subquery(index) else index + 1


def _find_star(tokens: TokenSequence, index: int, alias: str | None) -> Span | None:
    """Return the span of the `*` at `index` with its qualifier.

    The result is None if the `*` does not stand for all columns of the input: if it multiplies,
    counts rows, or follows a struct or the name of another relation.

    Raises:
        MatchRecognizeError: the columns are changed, as with `* EXCEPT (x)`.
    """
    before = tokens.key(index - 1)
    counts_rows = (tokens.key(index - 2), before, tokens.key(index + 1)) == ("COUNT", "(", ")")
    if before not in _KEYS_BEFORE_STAR or counts_rows:
        return None
    if tokens.key(index + 1) in _CHANGES_OF_STAR:
        word = tokens.key(index + 1)
        raise errors.star_with_pattern_window(tokens.span(index, index + 2), word=word)
    if before != ".":
        return tokens[index].span
    qualifier = tokens[index - 2].name.lower()
    if alias and qualifier == alias.lower() and tokens.key(index - 3) != ".":
        return tokens.span(index - 2, index + 1)
    return None
