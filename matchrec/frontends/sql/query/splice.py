"""Puts holes for DataFrames where relations and clauses stood; all other text is the user's.

FROM t q MATCH_RECOGNIZE (...) m JOIN d    →    FROM □ m JOIN d
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from matchrec.frontends.lexing.sqlglot_tokens import find_frames, sqlglot_tokens
from matchrec.frontends.sql.query.layout import hole_in, written_into
from matchrec.frontends.sql.query.nodes import Query, Site
from matchrec.plan.text.parameters import parameter_name
from matchrec.plan.text.sql_text import run_together
from matchrec.plan.text.template import Template, View, template
from matchrec.source import Span

Replaced = tuple[tuple[Span, Template], ...]


def outer(query: Query) -> Template:
    """The query with a hole for each clause that stands in no other one's relation.

    All else keeps its line and column. The clause's alias and column list stay, because they
    follow the hole.
    """
    return _joined(tuple(_written(query, Span(0, len(query.source.text)))))


def rows_of(query: Query, site: Site) -> Template:
    """The query of all rows of one clause's relation, in which the user's text keeps its place.

    `SELECT ... FROM t MATCH_RECOGNIZE (...)` becomes `           FROM t SELECT *`: in place of
    FROM, JOIN or a comma there is always room for FROM, and not for SELECT.
    """
    text, end = query.source.text, 0
    pieces: list[str | View] = []
    for depth, visible in enumerate(site.with_clauses):
        pieces.append(written_into(text[end : visible.start], "(" if depth else ""))
        pieces.extend(_written(query, visible))
        end = visible.end
    pieces.append(written_into(text[end : site.relation.start], "FROM"))
    pieces.extend(_written(query, site.relation))
    return _joined((*pieces, " SELECT *", ")" * (len(site.with_clauses) - 1)))


def markers_of_outer(query: Query) -> tuple[Span, ...]:
    """The `?` that `outer` keeps, left to right."""
    return _markers(query, Span(0, len(query.source.text)))


def markers_of_rows(query: Query, site: Site) -> tuple[Span, ...]:
    """The `?` that `rows_of` keeps, left to right."""
    return _markers(query, *site.with_clauses, site.relation)


def _markers(query: Query, *spans: Span) -> tuple[Span, ...]:
    """The `?` in these spans that are not in a hole there."""
    return tuple(
        marker
        for span in spans
        for marker in query.markers
        if span.holds(marker)
        and not any(span.holds(site.whole) and site.whole.holds(marker) for site in query.sites)
    )


def select_from(query: Query, site: Site, select_list: Template) -> Template:
    """`[WITH ...] SELECT select_list FROM relation`, for the relation of one clause.

    WITH clauses keep their nesting, `WITH a AS (...) (WITH b AS (...) SELECT ...)`, so that a name
    defined twice means at this place what it means in the query.
    """
    text = template("SELECT ", select_list, " FROM ", _cut_out(query, site.relation))
    return in_scope(query, site, text)


def in_scope(query: Query, site: Site, text: Template) -> Template:
    """A query text of ours after the WITH clauses that are visible at one clause."""
    for depth, visible in reversed(tuple(enumerate(site.with_clauses))):
        text = template(_cut_out(query, visible), " ", text)
        text = template("(", text, ")") if depth else text
    return _joined(text)


def fill_frames(text: str, frames: Collection[str]) -> Template:
    """An expression's text with a hole for each `{name}` that was passed.

    >>> fill_frames("x > (SELECT max(y) FROM {d}) AND s = '{d}'", ["d"])
    ('x > (SELECT max(y) FROM ', View(name='d'), ") AND s = '{d}'")
    """
    found = find_frames(sqlglot_tokens(text))
    holes = tuple((span, (View(name),)) for name, span in found if name in frames)
    return _joined(tuple(_pieces(text, Span(0, len(text)), holes)))


def _cut_out(query: Query, span: Span) -> Template:
    """The text at `span` with holes: the outermost clauses in it, frames, and names for `?`."""
    names = tuple((mark, (f":{parameter_name(mark)}",)) for mark in query.markers)
    sites = tuple((site.whole, (site.view,)) for site in query.sites)
    frames = tuple((frame.span, (frame.view,)) for frame in query.frames)
    return _joined(tuple(_pieces(query.source.text, span, (*sites, *frames, *names))))


def _written(query: Query, span: Span) -> Iterator[str | View]:
    """The text at `span` with holes as large as what stood there, and `?` as they are."""
    text = query.source.text
    sites = tuple(
        (site.whole, hole_in(query.source.at(site.whole), site.view)) for site in query.sites
    )
    frames = tuple(
        (one.span, (View(one.view.name, one.span.end - one.span.start),)) for one in query.frames
    )
    return _pieces(text, span, (*sites, *frames))


def _pieces(text: str, span: Span, replaced: Replaced) -> Iterator[str | View]:
    """The text at `span` with other pieces in the place of the outermost spans in it.

    They are set apart from the words around them: `)AS m` and `FROM(SELECT` need no blank, a
    view's name in the place of the parentheses does.
    """
    inside = sorted(
        ((hole, pieces) for hole, pieces in replaced if span.holds(hole)),
        key=lambda item: (item[0].start, -item[0].end),
    )
    position = span.start
    for hole, pieces in inside:
        if hole.start < position:
            continue
        before = text[position : hole.start]
        yield f"{before} " if run_together(before, _edge(pieces[0])) else before
        yield from pieces
        position = hole.end
        if run_together(_edge(pieces[-1]), text[position : span.end]):
            yield " "
    yield text[position : span.end]


def _edge(piece: str | View) -> str:
    """What stands at the edge of a hole; the name of a view is a word."""
    return piece if isinstance(piece, str) else "_"


def _joined(pieces: Template) -> Template:
    """The same text in as few pieces as there can be."""
    joined: list[str | View] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return tuple(joined)
