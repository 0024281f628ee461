"""Cut the text of a query up: holes for DataFrames replace relations and clauses.

    FROM t q MATCH_RECOGNIZE (...) m JOIN d    →    FROM □ m JOIN d

All other text stays as the user wrote it. The pieces are templates: texts, and the views whose rows
fill the holes.

- `write_outer_query` and `write_relation_query` keep the line and column of all text, because Spark
  may report errors about it. A replacement is as large as the text that it replaces.
- `write_relation` and `write_with_clauses` do not: blanks that only pad a replacement are dropped.
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
from matchrec.syntax.tokens import find_data_frames

if TYPE_CHECKING:
    from matchrec.syntax.window_blocks import Block


def make_hole(text: str, view: View) -> Template:
    """Return a hole for `view` and blanks, which take as many lines and columns as `text`.

    If `text` has three lines or more, the hole goes into the longest line between the first and the
    last one. So it is not in the lines that Spark prints of the text before or after it, and a name
    that is too long for its line moves nothing else.

    >>> make_hole("t MATCH_RECOGNIZE (\\n  PATTERN (A)\\n)", View("m"))
    ('                   \\n', View(name='m'), '\\n ')
    """
    blank_lines = [" " * len(line) for line in text.split("\n")]
    inner_lines = range(1, len(blank_lines) - 1)
    if inner_lines:
        longest = max(inner_lines, key=lambda index: len(blank_lines[index]))
        before = "".join(f"{line}\n" for line in blank_lines[:longest])
        after = "".join(f"\n{line}" for line in blank_lines[longest + 1 :])
        return before, View(view.name, len(blank_lines[longest])), after
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
    end = 0  # the end of the text that is written so far
    pieces: list[QueryPiece] = []
    for depth, visible in enumerate(site.with_clauses):
        pieces.append(write_at_end(text[end : visible.start], "(" if depth else ""))
        pieces.extend(_replace_with_layout(query, visible, site.index))
        end = visible.end
    closing = ")" * (len(site.with_clauses) - 1)
    rows = tuple(_replace_with_layout(query, site.relation, site.index))
    is_window = site.calls is not None
    if is_window:
        select_all = _write_select_all(query, site, end)
        return join_texts((*pieces, *select_all, *rows, closing))
    before = text[end : site.relation.start]
    try:
        select = write_at_end(before, "SELECT", "*", "FROM")
    except ValueError:  # no room: the query begins with its FROM
        from_ = write_at_end(before, "FROM")
        return join_texts((*pieces, from_, *rows, " SELECT *", closing))
    return join_texts((*pieces, select, *rows, closing))


def _write_select_all(query: QueryNode, site: Site, start: int) -> Iterator[QueryPiece]:
    """Yield `SELECT * FROM` with the layout of a SELECT with windows.

    `SELECT x, low OVER w FROM ` becomes `SELECT             * FROM `.

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
    blank_items = "".join("\n" if character == "\n" else " " for character in items)
    yield f"SELECT {blank_items[:-1]}*"
    yield text[head.start + len(head_text) : site.relation.start]


def _find_replacements(query: QueryNode, evaluated: int) -> Iterator[tuple[Span, Template]]:
    """Yield the spans that are replaced, each with pieces that are as large as its text.

    These are evaluated clauses, what is replaced in SELECTs whose windows are evaluated, `{name}`
    of DataFrames, spellings and positional parameters.

    Args:
        query: the query.
        evaluated: how many sites are evaluated so far. The text of later ones stays.
    """
    for block in query.blocks:
        last = [site for site in query.sites if site.replaced == block.rows][-1]
        if last.index < evaluated:
            yield from _find_block_replacements(query, block, last)
    for site in query.sites:
        is_clause = site.calls is None
        if is_clause and site.index < evaluated:
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
    """Yield the spans to replace in a SELECT whose windows have been evaluated.

    They are its relation, the calls over its windows, the windows, and each `*`. `last` is the
    site of its last window, whose rows have the columns of all windows.
    """
    hole = make_hole(query.source.text_at(block.rows), last.view)
    if block.alias:
        hole = (*hole, Replacement(_write_alias(block), 0))
    yield block.rows, hole
    qualifier = "" if block.alias is None else f"{quote_name(block.alias)}."
    all_columns = ", ".join(f"{qualifier}{quote_name(name)}" for name in block.columns)
    for span, text in block.walk_edits():
        yield span, (Replacement(text, span.end - span.start),)
    for star in block.stars:
        yield star, (Replacement(all_columns, star.end - star.start),)


def _find_block(query: QueryNode, site: Site) -> Block:
    """Return the SELECT of a window, which is the site."""
    return next(block for block in query.blocks if block.rows == site.relation)


def _write_alias(block: Block) -> str:
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
    holes = tuple(
        (span, (View(name),))
        for name, span in find_data_frames(read_tokens(text).tokens)
        if name in frames
    )
    return join_texts(_replace_in_text(text, Span(0, len(text)), holes))


def _replace_compactly(query: QueryNode, span: Span, evaluated: int) -> Template:
    """Return the text at `span` with its replacements, without the blanks that pad them.

    `evaluated` is as for `_find_replacements`.
    """
    replacements = tuple(
        (hole, _drop_layout(pieces)) for hole, pieces in _find_replacements(query, evaluated)
    )
    return join_texts(_replace_in_text(query.source.text, span, replacements))


def _drop_layout(pieces: Template) -> Template:
    """Return the pieces of a replacement without those that only pad it."""
    contents: list[str | View] = []
    for piece in pieces:
        content = piece.text if isinstance(piece, Replacement) else piece
        is_blank = isinstance(content, str) and not content.strip()
        if not is_blank:
            contents.append(content)
    return tuple(contents) or ("",)


def _replace_with_layout(query: QueryNode, span: Span, evaluated: int) -> Iterator[QueryPiece]:
    """Yield the text at `span` with replacements as large as the text that was there.

    `evaluated` is as for `_find_replacements`.
    """
    return _replace_in_text(query.source.text, span, tuple(_find_replacements(query, evaluated)))


def _replace_in_text(text: str, span: Span, replacements: Replacements) -> Iterator[QueryPiece]:
    """Yield the text at `span` with the replacements of the outermost spans in it."""
    inside = ((hole, pieces) for hole, pieces in replacements if span.contains(hole))
    return separate_words(replace_spans(Source(text).text_at, span, inside))
