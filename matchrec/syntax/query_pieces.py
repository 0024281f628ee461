"""Cut the text of a query up: holes for DataFrames replace relations and clauses.

    FROM t q MATCH_RECOGNIZE (...) m JOIN d    →    FROM □ m JOIN d

All other text stays as the user wrote it. The pieces are templates: texts, and the views whose rows
fill the holes.

- `write_outer_query` and `write_relation_query` keep the line and column of all text, because Spark
  may report errors about this text. A replacement is as large as the text that it replaces: see
  `text_layout`.
- `write_relation` and `write_with_clauses` do not keep lines and columns: they drop blanks that
  only pad a replacement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from matchrec.plan.parameters import name_parameter
from matchrec.plan.templates import (
    Replacement,
    Template,
    View,
    join_texts,
    replace_spans,
    separate_words,
)
from matchrec.plan.text import quote_name
from matchrec.source import Source, Span
from matchrec.syntax.locate import QueryNode
from matchrec.syntax.nodes import Site
from matchrec.syntax.text_layout import blank_out, make_hole, replace_select_list, write_at_end
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import find_data_frames

if TYPE_CHECKING:
    from matchrec.syntax.window_blocks import WindowBlock


# A piece of a query that is cut up: text that stays, a hole, or text that replaces other text.
QueryPiece = str | View | Replacement


class ReplacedSpan(NamedTuple):
    """Characters of a query, and the pieces that replace them."""

    span: Span
    pieces: Template


def write_outer_query(query: QueryNode) -> Template:
    """Return the query with a hole for each clause that is not inside the relation of another.

    All other text keeps its line and column. The alias of a clause and its column list also stay,
    because they name the rows of the hole.
    """
    whole_text = Span(0, len(query.source.text))
    return join_texts(_replace_with_layout(query, whole_text, len(query.sites)))


def write_relation_query(query: QueryNode, site: Site) -> Template:
    """Return the query that computes all rows of a site's relation.

    The user's text keeps its line and column, so that Spark's errors point to the right place:
    `SELECT ... FROM t MATCH_RECOGNIZE (...)` becomes `   SELECT*FROM t`. A query that begins with
    its FROM has no room for SELECT, so it becomes `FROM t SELECT *`. Spark reads this, and other
    engines do not accept queries that begin with FROM.
    """
    text = query.source.text
    pieces: list[QueryPiece] = []
    end = 0  # the end of the text that is written so far
    for depth, visible in enumerate(site.with_clauses):
        opening = "(" if depth else ""
        pieces.append(write_at_end(text[end : visible.start], opening))
        pieces.extend(_replace_with_layout(query, visible, site.index))
        end = visible.end
    closing = ")" * (len(site.with_clauses) - 1)
    rows = tuple(_replace_with_layout(query, site.relation, site.index))
    is_window = site.calls is not None
    if is_window:
        select = _write_select_all(query, site, end)
        return join_texts((*pieces, select, *rows, closing))
    before = text[end : site.relation.start]
    try:
        select = write_at_end(before, "SELECT", "*", "FROM")
    except ValueError:  # The query begins with its FROM, so there is no room before the relation.
        from_ = write_at_end(before, "FROM")
        return join_texts((*pieces, from_, *rows, " SELECT *", closing))
    return join_texts((*pieces, select, *rows, closing))


def _write_select_all(query: QueryNode, site: Site, start: int) -> str:
    """Return `SELECT * FROM ` with the layout of a SELECT with windows, up to its relation.

    `SELECT x, low OVER w FROM ` becomes `SELECT             * FROM `.

    Args:
        query: the query.
        site: a window of the SELECT.
        start: the position after the text that is already written. Blanks replace the text from
            there up to SELECT.
    """
    text = query.source.text
    head = _find_block(query, site).head
    select = replace_select_list(query.source.text_at(head))
    from_ = text[head.end : site.relation.start]
    return f"{blank_out(text[start : head.start])}{select}{from_}"


def _find_replacements(query: QueryNode, evaluated_count: int) -> Iterator[ReplacedSpan]:
    """Yield the spans to replace in a query, with pieces that are as large as the replaced text.

    These spans are evaluated clauses, parts of SELECTs whose windows are evaluated, `{name}` of
    DataFrames, spellings and positional parameters.

    Args:
        query: the query.
        evaluated_count: how many sites are evaluated so far. The text of later sites stays.
    """
    for block in query.blocks:
        last_window = _find_last_window(query, block)
        if last_window.index < evaluated_count:
            yield from _find_block_replacements(query, block, last_window)
    for site in query.sites:
        is_clause = site.calls is None
        if is_clause and site.index < evaluated_count:
            hole = make_hole(query.source.text_at(site.replaced), site.view)
            yield ReplacedSpan(site.replaced, hole)
    for frame in query.frames:
        yield ReplacedSpan(frame.span, (View(frame.name, frame.span.end - frame.span.start),))
    for spelling in query.spellings:
        yield _replace_by_text(spelling.span, spelling.text)
    for parameter in query.positional_parameters:
        yield _replace_by_text(parameter, f":{name_parameter(parameter)}")


def _find_block_replacements(
    query: QueryNode, block: WindowBlock, last_window: Site
) -> Iterator[ReplacedSpan]:
    """Yield the spans to replace in a SELECT whose windows have been evaluated.

    These spans are its relation, the calls over its windows, the windows, and each `*`.

    Args:
        query: the query.
        block: the SELECT.
        last_window: the site of its last window, whose result has the columns of all windows.
    """
    hole = make_hole(query.source.text_at(block.rows), last_window.view)
    if block.alias:
        hole = (*hole, Replacement(_write_alias(block), 0))
    yield ReplacedSpan(block.rows, hole)
    for edit in block.walk_edits():
        yield _replace_by_text(edit.span, edit.text)
    qualifier = "" if block.alias is None else f"{quote_name(block.alias)}."
    all_columns = ", ".join(f"{qualifier}{quote_name(name)}" for name in block.columns)
    for star in block.stars:
        yield _replace_by_text(star, all_columns)


def _replace_by_text(span: Span, text: str) -> ReplacedSpan:
    """Return the replacement of some characters by a text."""
    return ReplacedSpan(span, (Replacement(text, span.end - span.start),))


def _find_last_window(query: QueryNode, block: WindowBlock) -> Site:
    """Return the window of a SELECT that is evaluated last."""
    windows = [site for site in query.sites if site.replaced == block.rows]
    return windows[-1]


def _find_block(query: QueryNode, window: Site) -> WindowBlock:
    """Return the SELECT of a window."""
    return next(block for block in query.blocks if block.rows == window.relation)


def _write_alias(block: WindowBlock) -> str:
    """Return ` AS alias` for the rows of a SELECT with windows; "" if its relation has no name."""
    return "" if block.alias is None else f" AS {quote_name(block.alias)}"


def write_relation(query: QueryNode, site: Site) -> Template:
    """Return the relation of a site, to be written after FROM in a query of our own."""
    if site.reads_previous_window:
        previous_view = query.sites[site.index - 1].view
        return previous_view, _write_alias(_find_block(query, site))
    return _replace_compactly(query, site.relation, site.index)


def write_with_clauses(query: QueryNode, site: Site) -> tuple[Template, ...]:
    """Return the WITH clauses that are visible at a site, outermost first."""
    return tuple(_replace_compactly(query, visible, site.index) for visible in site.with_clauses)


def fill_frames(text: str, frames: Collection[str]) -> Template:
    """Return an expression with a hole for each `{name}` for which a DataFrame was passed.

    >>> fill_frames("x > (SELECT max(y) FROM {d}) AND s = '{d}'", ["d"])
    ('x > (SELECT max(y) FROM ', View(name='d'), ") AND s = '{d}'")
    """
    if not frames:
        return (text,)
    replacements = [
        ReplacedSpan(frame.span, (View(frame.name),))
        for frame in find_data_frames(read_tokens(text).tokens)
        if frame.name in frames
    ]
    return join_texts(_replace_in_text(text, Span(0, len(text)), replacements))


def _replace_compactly(query: QueryNode, span: Span, evaluated_count: int) -> Template:
    """Return the text at a span with its replacements, without the blanks that pad them.

    `evaluated_count` is as for `_find_replacements`.
    """
    replacements = [
        ReplacedSpan(replaced.span, _drop_layout(replaced.pieces))
        for replaced in _find_replacements(query, evaluated_count)
    ]
    return join_texts(_replace_in_text(query.source.text, span, replacements))


def _drop_layout(pieces: Template) -> Template:
    """Return the pieces of a replacement without the pieces that only pad it."""
    contents: list[str | View] = []
    for piece in pieces:
        content = piece.text if isinstance(piece, Replacement) else piece
        is_blank = isinstance(content, str) and not content.strip()
        if not is_blank:
            contents.append(content)
    return tuple(contents) or ("",)


def _replace_with_layout(
    query: QueryNode, span: Span, evaluated_count: int
) -> Iterator[QueryPiece]:
    """Yield the text at a span, with replacements as large as the text that they replace.

    `evaluated_count` is as for `_find_replacements`.
    """
    replacements = _find_replacements(query, evaluated_count)
    return _replace_in_text(query.source.text, span, replacements)


def _replace_in_text(
    text: str, span: Span, replacements: Iterable[ReplacedSpan]
) -> Iterator[QueryPiece]:
    """Yield the text at a span, with the replacements inside it.

    If one of the replaced spans is inside another one, only the outer span is replaced.
    """
    inside = [replaced for replaced in replacements if span.contains(replaced.span)]
    return separate_words(replace_spans(Source(text).text_at, span, inside))
