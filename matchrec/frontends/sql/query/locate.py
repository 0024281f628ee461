"""Query text → Query: where its clauses stand and what each applies to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sqlglot import Token as StockToken

from matchrec.errors.kinds import shown_in
from matchrec.errors.sql import query as errors
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.frontends.lexing.sqlglot_columns import frame_at
from matchrec.frontends.lexing.tokens import closings, own_tokens, stock_tokens
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.sections import clause_tokens
from matchrec.frontends.sql.query.aliases import Placed, aliases
from matchrec.frontends.sql.query.brackets import part_at, refuse_unbalanced
from matchrec.frontends.sql.query.nodes import Frame, Query, Site
from matchrec.frontends.sql.query.outline import (
    Cut,
    Outline,
    cuts,
    keeps_text,
    refuse_stored_text,
    refuse_window_patterns,
)
from matchrec.frontends.sql.query.relation import relation_before
from matchrec.frontends.sql.query.use import Words, use_of, words_of
from matchrec.frontends.sql.query.with_clauses import WithClause, visible, with_clauses
from matchrec.plan.text.template import View
from matchrec.source import Source, Span

_WORD = re.compile(r"\bMATCH_RECOGNIZE\b", re.IGNORECASE)
_MISSPELT = re.compile(r"\bMATCH(?!_RECOGNIZE\b)[_\s]*RE[A-Z0-9_]*\b", re.IGNORECASE)
_WINDOW = re.compile(r"\b(OVER|WINDOW)\b.*\bPATTERN\s*\(", re.IGNORECASE | re.DOTALL)


def _outline(text: str, stock: Sequence[StockToken], dialect: Dialect = SPARK) -> Outline:
    found = own_tokens(stock, text)
    return Outline(found, closings(found), dialect)


def parse(text: str, frames: Collection[str] = (), dialect: Dialect = SPARK) -> Query:
    """The clauses of a query; frames: the names that `{name}` may have.

    >>> query = parse("SELECT * FROM t q MATCH_RECOGNIZE (PATTERN (A B)) AS m WHERE m.x > 1")
    >>> [(site.relation_alias, query.source.at(site.relation)) for site in query.sites]
    [('q', 't q')]
    """
    source = Source(text)
    with shown_in(source):
        if _MISSPELT.search(text):
            _refuse_misspelt(text)
        if not (frames or _WORD.search(text) or _WINDOW.search(text)):
            return Query(source)
        stock = stock_tokens(text, dialect=dialect)
        outline = _outline(text, stock, dialect)
        refuse_window_patterns(outline)
        refuse_unbalanced(outline)
        clauses = cuts(outline)
        inside = tuple(outline.span(cut.opening, cut.closing + 1) for cut in clauses)
        passed = tuple(_frames(stock, frames, inside, bool(clauses)))
        if not clauses:
            return Query(source, (), passed, keeps_text=keeps_text(outline))
        sites = tuple(_sites(text, stock, outline, clauses))
        return Query(source, sites, passed, _marks(outline, sites), keeps_text(outline))


def _refuse_misspelt(text: str) -> None:
    """The clause's name as two words or with another letter, before parentheses with PATTERN."""
    outline = _outline(text, stock_tokens(text))
    for opening, closing in outline.pairs.items():
        first = opening - 1 - (outline.key(opening - 2) == "MATCH")
        written = text[outline.tokens[first].span.start : outline.tokens[opening].span.start]
        parts = (part_at(outline, index) for index in outline.level(opening + 1, closing))
        if _MISSPELT.fullmatch(written.strip()) and "PATTERN" in parts:
            raise errors.misspelt_clause(written.strip(), outline.span(first, opening))


def _marks(outline: Outline, sites: tuple[Site, ...]) -> tuple[Span, ...]:
    """The parameter markers; a `?` in PATTERN is a quantifier."""
    patterns = [site.clause.pattern.span for site in sites]
    return tuple(
        token.span
        for token in outline.tokens
        if token.key == "?"
        and not any(span and span.start <= token.span.start < span.end for span in patterns)
    )


def _frames(
    stock: Sequence[StockToken], names: Collection[str], inside: Sequence[Span], strict: bool
) -> Iterator[Frame]:
    """The frames outside clauses; with `strict`, each must have been passed."""
    for index, token in enumerate(stock):
        name = frame_at(stock, index)
        if not name or any(span.start <= token.start < span.end for span in inside):
            continue
        span = Span(token.start, stock[index + 2].end + 1)
        if name in names:
            yield Frame(View(name), span)
        elif strict:
            raise errors.unknown_frame(name, names, span)


def _sites(
    text: str, stock: Sequence[StockToken], outline: Outline, clauses: Sequence[Cut]
) -> Iterator[Site]:
    withs = with_clauses(outline)
    for cut in clauses:
        refuse_stored_text(outline, cut)
        _refuse_alias_in_double_quotes(outline, cut)
    placed = tuple(Placed(cut, relation_before(outline, cut)) for cut in clauses)
    names = aliases(text, stock, outline, placed)
    around = withs, words_of(outline)
    for index, (at, alias) in enumerate(zip(placed, names, strict=True)):
        yield _site(text, outline, around, (index, at, alias))


def _refuse_alias_in_double_quotes(outline: Outline, cut: Cut) -> None:
    after = cut.closing + 1 + (outline.key(cut.closing + 1) == "AS")
    if after < len(outline.tokens) and outline.tokens[after].in_double_quotes:
        token = outline.tokens[after]
        raise errors.alias_in_double_quotes(token.text, token.span)


def _site(
    text: str,
    outline: Outline,
    around: tuple[tuple[WithClause, ...], Words],
    found: tuple[int, Placed, str | None],
) -> Site:
    withs, words = around
    index, at, alias = found
    cut, start = at.cut, at.relation.start
    relation = outline.span(start, cut.word)
    inside = Span(outline.tokens[cut.opening].span.end, outline.tokens[cut.closing].span.start)
    tokens = outline.tokens[cut.opening + 1 : cut.closing]
    whole = relation.to(outline.tokens[cut.closing].span)
    return Site(
        index,
        read_clause(clause_tokens(text, tokens, inside, outline.dialect)),
        alias,
        View(f"match_recognize_{index}"),
        relation,
        whole,
        visible(outline, withs, start),
        use_of(outline, start, cut.closing, words),
    )
