"""What stands in a SELECT once its row pattern windows are evaluated.

A call becomes the column that stands for it, `low OVER w` AS `low`; a window keeps PARTITION BY and
ORDER BY, for the functions that look at the partition; `*` becomes the columns of the input.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors.sql import window as errors
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.sql.windows.blocks import Select
from matchrec.frontends.sql.windows.find import Call, FoundWindow
from matchrec.frontends.sql.windows.nodes import WindowCall
from matchrec.frontends.sql.windows.read import ReadWindow
from matchrec.plan.text.sql_text import quoted
from matchrec.source import Span

Edit = tuple[Span, str]
_BEFORE_STAR = ("SELECT", "DISTINCT", "ALL", ",", "(", ".")
_CHANGES = ("EXCEPT", "EXCLUDE", "REPLACE", "RENAME")


def call_edit(tokens: TokenSequence, call: Call, known: WindowCall, select: Select) -> Edit:
    """The column in the place of a call, with the name of a measure if it has no other."""
    text = quoted(known.column)
    if known.measure is not None and _is_unnamed_item(tokens, call, select):
        text = f"{text} AS {quoted(known.measure)}"
    return tokens.span(call.start, call.end), text


def _is_unnamed_item(tokens: TokenSequence, call: Call, select: Select) -> bool:
    """Whether a call is all of an item of the select list."""
    first, end = select.items
    starts = call.start == first or tokens.key(call.start - 1) in (",", "DISTINCT", "ALL")
    inside = first <= call.start < end and call.start in tokens.level(first, end)
    return inside and starts and (call.end == end or tokens.key(call.end) == ",")


def window_edits(window: FoundWindow, read: ReadWindow, tokens: TokenSequence) -> Iterator[Edit]:
    """The window without its pattern, where something else may name it."""
    in_query = window.name is not None or any(call.is_of_partition(tokens) for call in window.calls)
    if in_query:
        yield tokens.span(window.opening + 1, window.closing), read.plain


def find_stars(tokens: TokenSequence, select: Select, alias: str | None) -> Iterator[Span]:
    """Where the select list asks for all columns of the input."""
    index, end = select.items
    while index < end:
        if tokens.is_subquery(index):
            index = tokens.pairs[index]
        elif tokens.key(index) == "*":
            yield from _star_at(tokens, index, alias)
        index += 1


def _star_at(tokens: TokenSequence, index: int, alias: str | None) -> Iterator[Span]:
    """`*` or `t.*`; nothing where it multiplies, counts rows or is of a struct."""
    before = tokens.key(index - 1)
    counts = (tokens.key(index - 2), before, tokens.key(index + 1)) == ("COUNT", "(", ")")
    if before not in _BEFORE_STAR or counts:
        return
    if tokens.key(index + 1) in _CHANGES:
        word = tokens.key(index + 1)
        raise errors.star_with_changes(word, tokens.span(index, index + 2))
    if before != ".":
        yield tokens[index].span
    elif _qualifies(tokens, index - 2, alias):
        yield tokens.span(index - 2, index + 1)


def _qualifies(tokens: TokenSequence, index: int, alias: str | None) -> bool:
    same = alias is not None and tokens[index].name.lower() == alias.lower()
    return same and tokens.key(index - 1) != "."
