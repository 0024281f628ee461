"""Puts holes for DataFrames where relations and clauses stood; all other text is the user's.

FROM t q MATCH_RECOGNIZE (...) m JOIN d    →    FROM □ m JOIN d
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from matchrec.frontends.sql.query import Query, Site
from matchrec.frontends.stock import frame_at
from matchrec.frontends.tokens import stock_tokens
from matchrec.plan.parameters import parameter_name
from matchrec.plan.template import Template, View, template
from matchrec.source import Span


def outer(query: Query) -> Template:
    """The query with a hole for each clause that stands in no other one's relation.

    The clause's alias and column list stay, because they follow the hole.
    """
    return _cut_out(query, Span(0, len(query.source.text)))


def select_from(query: Query, site: Site, select_list: Template) -> Template:
    """`[WITH ...] SELECT select_list FROM relation`, for the relation of one clause.

    WITH clauses keep their nesting, `WITH a AS (...) (WITH b AS (...) SELECT ...)`, so that a name
    defined twice means at this place what it means in the query.
    """
    text = template("SELECT ", select_list, " FROM ", _cut_out(query, site.relation))
    return in_scope(query, site, text)


def in_scope(query: Query, site: Site, text: Template) -> Template:
    """A query text of ours behind the WITH clauses that are visible at one clause."""
    for depth, visible in reversed(tuple(enumerate(site.with_clauses))):
        text = template(_cut_out(query, visible), " ", text)
        text = template("(", text, ")") if depth else text
    return _joined(text)


def fill_frames(text: str, frames: Collection[str]) -> Template:
    """An expression's text with a hole for each `{name}` that was passed.

    >>> fill_frames("x > (SELECT max(y) FROM {d}) AND s = '{d}'", ["d"])
    ('x > (SELECT max(y) FROM ', View(name='d'), ") AND s = '{d}'")
    """
    stock = stock_tokens(text)
    holes = (
        (Span(token.start, stock[index + 2].end + 1), View(name))
        for index, token in enumerate(stock)
        if (name := frame_at(stock, index)) in frames and name is not None
    )
    return _joined(tuple(_pieces(text, Span(0, len(text)), holes)))


def _cut_out(query: Query, span: Span) -> Template:
    """The text at `span` with holes: the outermost clauses in it, frames, and names for `?`."""
    replaced: list[tuple[Span, str | View]] = [(site.whole, site.view) for site in query.sites]
    replaced += [(frame.span, frame.view) for frame in query.frames]
    replaced += [(mark, f":{parameter_name(mark)}") for mark in query.markers]
    inside = [(hole, piece) for hole, piece in replaced if span.holds(hole)]
    outermost = (
        (hole, piece)
        for hole, piece in sorted(inside, key=lambda item: item[0].start)
        if not any(other != hole and other.holds(hole) for other, _ in inside)
    )
    return _joined(tuple(_pieces(query.source.text, span, outermost)))


def _pieces(
    text: str, span: Span, holes: Iterator[tuple[Span, View]] | Iterator[tuple[Span, str | View]]
) -> Iterator[str | View]:
    position = span.start
    for hole, piece in holes:
        yield text[position : hole.start]
        yield piece
        position = hole.end
    yield text[position : span.end]


def _joined(pieces: Template) -> Template:
    """The same text in as few pieces as there can be."""
    joined: list[str | View] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return tuple(joined)
