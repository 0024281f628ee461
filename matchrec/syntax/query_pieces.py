"""Cut the text of a query up: holes for DataFrames replace relations and clauses.

    FROM t q MATCH_RECOGNIZE (...) m JOIN d    →    FROM □ m JOIN d

All other text stays as the user wrote it. In the queries that Spark may report errors about, it
also keeps its line and column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

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
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import find_frames

if TYPE_CHECKING:
    from matchrec.syntax.window_blocks import Block


def make_hole(text: str, view: View) -> Template:
    """Return a hole for `view` that takes as many lines and columns as `text`.

    If `text` has three lines or more, the hole goes into the longest inner one. So it is not in
    the lines that Spark prints of the text before or after it, and a name that is too long for its
    line moves nothing else.

    >>> make_hole("t MATCH_RECOGNIZE (\\n  PATTERN (A)\\n)", View("m"))
    ('                   \\n', View(name='m'), '\\n ')
    """
    blank_lines = [" " * len(line) for line in text.split("\n")]
    inner = range(1, len(blank_lines) - 1)
    if inner:
        chosen = max(inner, key=lambda index: len(blank_lines[index]))
        before = "".join(f"{line}\n" for line in blank_lines[:chosen])
        after = "".join(f"\n{line}" for line in blank_lines[chosen + 1 :])
        return before, View(view.name, len(blank_lines[chosen])), after
    first_line, *other_lines = blank_lines
    # Blanks around the hole keep its name apart from the words beside it.
    after = "".join(f"\n{line}" for line in other_lines) or " "
    blanks = len(" ") if other_lines else len("  ")
    return " ", View(view.name, max(0, len(first_line) - blanks)), after


def write_at_end(text: str, *words: str) -> str:
    """Blank out a text, and write words at its end without changing the length of a line.

    A blank stays after the last word if there is room for it. Words that do not fit into the last
    line are written into the lines before it.

    Raises:
        ValueError: the text has no room for the words.

    >>> write_at_end("SELECT x FROM ", "FROM"), write_at_end("FROM\\n", "FROM")
    ('         FROM ', 'FROM\\n')
    >>> write_at_end("SELECT\\n  x\\nFROM ", "SELECT", "*", "FROM")
    'SELECT\\n  *\\nFROM '
    """
    lines = [" " * len(line) for line in text.split("\n")]
    index = len(lines) - 1
    end = len(lines[-1])
    for word in reversed(words):
        while end < len(word):
            if index == 0:
                raise ValueError(f"no room for {word}")
            index -= 1
            end = len(lines[index])
        is_at_end_of_text = index == len(lines) - 1 and end == len(lines[-1])
        start = end - len(word)
        if is_at_end_of_text and start > 0:
            start -= 1  # for the blank after the last word
        line = lines[index]
        lines[index] = f"{line[:start]}{word}{line[start + len(word) :]}"
        end = start
    return "\n".join(lines)


# Spans of the query, each with the pieces that replace it.
Replacements = tuple[tuple[Span, Template], ...]

QueryPiece = str | View | Replacement


def write_outer_query(query: QueryNode) -> Template:
    """Return the query with a hole for each clause that is not part of another one's relation.

    Everything else keeps its line and column. The alias of a clause and its column list stay,
    because they follow the hole.
    """
    whole_text = Span(0, len(query.source.text))
    return join_texts(_replace_with_layout(query, whole_text, len(query.sites)))


def write_relation_query(query: QueryNode, site: Site) -> Template:
    """Return the query that computes all rows of a site's relation.

    The user's text keeps its line and column, so that Spark's errors point at it:
    `SELECT ... FROM t MATCH_RECOGNIZE (...)` becomes `   SELECT*FROM t`. A query that begins with
    its FROM has no room for SELECT. It becomes `FROM t SELECT *`, which Spark reads; no other
    engine reads a query that begins with its FROM anyway.
    """
    text = query.source.text
    end = 0  # up to here, the text is written
    pieces: list[QueryPiece] = []
    for depth, visible in enumerate(site.with_clauses):
        pieces.append(write_at_end(text[end : visible.start], "(" if depth else ""))
        pieces.extend(_replace_with_layout(query, visible, site.index))
        end = visible.end
    closing = ")" * (len(site.with_clauses) - 1)
    rows = tuple(_replace_with_layout(query, site.relation, site.index))
    is_window = site.calls is not None
    if is_window:
        return join_texts((*pieces, *_write_select_all(query, site, end), *rows, closing))
    before = text[end : site.relation.start]
    try:
        select = write_at_end(before, "SELECT", "*", "FROM")
    except ValueError:
        from_ = write_at_end(before, "FROM")
        return join_texts((*pieces, from_, *rows, " SELECT *", closing))
    return join_texts((*pieces, select, *rows, closing))


def _write_select_all(query: QueryNode, site: Site, start: int) -> Iterator[QueryPiece]:
    """Yield `SELECT * FROM` with the layout of a SELECT with windows.

    Args:
        query: the query.
        site: a window of the SELECT.
        start: where the text begins that was not written yet.
    """
    text = query.source.text
    head = _find_block(query, site).head
    yield write_at_end(text[start : head.start], "")
    head_text = text[head.start : head.end].rstrip()
    items = head_text[len("SELECT ") :]
    blank = "".join("\n" if character == "\n" else " " for character in items)
    yield f"{'SELECT'.ljust(len('SELECT '))}{blank[:-1]}*"
    yield text[head.start + len(head_text) : site.relation.start]


def _find_replacements(query: QueryNode, before: int) -> Iterator[tuple[Span, Template]]:
    """Yield the spans that are replaced, each with pieces that are as large as its text.

    These are evaluated sites, calls over windows, windows, stars in a SELECT with windows, frames,
    spellings and positional parameters.

    Args:
        query: the query.
        before: sites with this index and later ones are not evaluated yet, and stay.
    """
    for block in query.blocks:
        last = [site for site in query.sites if site.replaced == block.rows][-1]
        if last.index < before:
            yield from _find_block_replacements(query, block, last)
    for site in query.sites:
        is_clause = site.calls is None
        if is_clause and site.index < before:
            yield site.replaced, make_hole(query.source.text_at(site.replaced), site.view)
    for name, span in query.frames:
        yield span, (View(name, span.end - span.start),)
    for span, text in query.spellings:
        yield span, (Replacement(text, span.end - span.start),)
    for parameter in query.positional_parameters:
        yield parameter, (Replacement(f":{name_parameter(parameter)}", len("?")),)


def _find_block_replacements(
    query: QueryNode, block: Block, last: Site
) -> Iterator[tuple[Span, Template]]:
    """Yield the spans to replace in a SELECT after the last of its windows has been evaluated."""
    hole = make_hole(query.source.text_at(block.rows), last.view)
    if block.alias:
        hole = (*hole, Replacement(_write_alias(block), 0))
    yield block.rows, hole
    qualifier = "" if block.alias is None else f"{quote_name(block.alias)}."
    all_columns = ", ".join(f"{qualifier}{quote_name(name)}" for name in block.columns)
    for span, text in block.list_edits():
        yield span, (Replacement(text, span.end - span.start),)
    for star in block.stars:
        yield star, (Replacement(all_columns, star.end - star.start),)


def _find_block(query: QueryNode, site: Site) -> Block:
    """Return the SELECT of a window."""
    return next(block for block in query.blocks if block.rows == site.relation)


def _write_alias(block: Block) -> str:
    """Return ` AS alias` for the rows of a SELECT with windows; "" if its relation has no name."""
    return "" if block.alias is None else f" AS {quote_name(block.alias)}"


def write_relation(query: QueryNode, site: Site) -> Template:
    """Return the relation of a site, as it follows FROM in queries of ours."""
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
    holes = tuple(
        (span, (View(name),))
        for name, span in find_frames(read_tokens(text).tokens)
        if name in frames
    )
    return join_texts(_replace_in_text(text, Span(0, len(text)), holes))


def _replace_compactly(query: QueryNode, span: Span, before: int) -> Template:
    """Return the text at `span` with its replacements, without the blanks that pad them.

    `before` is as for `_find_replacements`.
    """
    replacements = tuple(
        (hole, _drop_layout(pieces)) for hole, pieces in _find_replacements(query, before)
    )
    return join_texts(_replace_in_text(query.source.text, span, replacements))


def _drop_layout(pieces: Template) -> Template:
    """Return the pieces of a replacement without those that only pad it."""
    kept: list[str | View] = []
    for piece in pieces:
        content = piece.text if isinstance(piece, Replacement) else piece
        if not isinstance(content, str) or content.strip():
            kept.append(content)
    return tuple(kept) or ("",)


def _replace_with_layout(query: QueryNode, span: Span, before: int) -> Iterator[QueryPiece]:
    """Yield the text at `span` with replacements as large as the text that was there.

    `before` is as for `_find_replacements`.
    """
    return _replace_in_text(query.source.text, span, tuple(_find_replacements(query, before)))


def _replace_in_text(text: str, span: Span, replaced: Replacements) -> Iterator[QueryPiece]:
    """Yield the text at `span` with the replacements of the outermost spans in it."""
    inside = ((hole, pieces) for hole, pieces in replaced if span.contains(hole))
    return separate_words(replace_spans(Source(text).text_at, span, inside))
