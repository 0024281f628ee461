"""Query text → Query: where its clauses stand and what each applies to."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.errors.kinds import shown_in
from matchrec.errors.sql import clause as errors
from matchrec.frontends.lexing.token_sequence import TokenSequence, find_frames, read_tokens
from matchrec.frontends.lexing.tokens import SPARK, Dialect
from matchrec.frontends.row_pattern import parameters_in
from matchrec.frontends.sql.grammar import cut_out_tokens, read_clause
from matchrec.frontends.sql.nodes import Block, FrameHole, Query, Site, view_name
from matchrec.frontends.sql.relation import (
    Cut,
    WithClause,
    Words,
    count_words,
    find_clauses,
    find_relation,
    find_use,
    find_visible,
    find_with_clauses,
    keeps_text,
    part_at,
    refuse_stored_text,
    refuse_unbalanced,
)
from matchrec.plan.text import View
from matchrec.source import Origin, Source, Span

if TYPE_CHECKING:
    from matchrec.frontends.sql.pattern_windows import FoundWindow, ReadBlock

_WORD = re.compile(r"\bMATCH_RECOGNIZE\b", re.IGNORECASE)
_MISSPELT = re.compile(r"\bMATCH(?!_RECOGNIZE\b)[_\s]*RE[A-Z0-9_]*\b", re.IGNORECASE)
_WINDOW = re.compile(r"\b(OVER|WINDOW)\b.*\bPATTERN\s*\(", re.IGNORECASE | re.DOTALL)


def parse(
    text: str,
    frames: Collection[str] = (),
    dialect: Dialect = SPARK,
    origin: Origin | None = None,
) -> Query:
    """The clauses of a query; frames: the names that `{name}` may have.

    origin: what the text was translated from, if it was.

    >>> query = parse("SELECT * FROM t q MATCH_RECOGNIZE (PATTERN (A B)) AS m WHERE m.x > 1")
    >>> [(site.relation_alias, query.source.at(site.relation)) for site in query.sites]
    [('q', 't q')]
    """
    source = Source(text, origin)
    with shown_in(source):
        if _MISSPELT.search(text):
            _refuse_misspelt(text)
        if not frames and not may_have_clause(text):
            return Query(source)
        tokens = read_tokens(text, dialect)
        refuse_unbalanced(tokens)
        clauses = find_clauses(tokens)
        windows = _windows(tokens)
        inside = (
            *(tokens.span(cut.opening, cut.closing + 1) for cut in clauses),
            *(tokens.span(one.opening, one.closing + 1) for one in windows),
        )
        passed = tuple(_frames(tokens, frames, inside, bool(clauses or windows)))
        if not clauses and not windows:
            return Query(source, (), passed, keeps_text=keeps_text(tokens))
        read: tuple[ReadBlock, ...] = ()
        if windows:
            from matchrec.frontends.sql.pattern_windows import read_blocks

            read = read_blocks(tokens, windows, clauses)
        sites, blocks = _all_sites(tokens, clauses, read)
        return Query(source, sites, passed, _marks(tokens, sites), keeps_text(tokens), blocks)


def _windows(tokens: TokenSequence) -> tuple[FoundWindow, ...]:
    """The row pattern windows, whose reader most queries do not load."""
    if not _WINDOW.search(tokens.text):
        return ()
    from matchrec.frontends.sql.pattern_windows import find_pattern_windows

    return find_pattern_windows(tokens)


def may_have_clause(text: str) -> bool:
    """Whether a text has the words of a clause; most texts have none."""
    return bool(_WORD.search(text) or _WINDOW.search(text))


def _refuse_misspelt(text: str) -> None:
    """The clause's name as two words or with another letter, before parentheses with PATTERN."""
    tokens = read_tokens(text)
    for opening, closing in tokens.pairs.items():
        first = opening - 1 - (tokens.key(opening - 2) == "MATCH")
        written = text[tokens[first].span.start : tokens[opening].span.start]
        parts = (part_at(tokens, index) for index in tokens.level(opening + 1, closing))
        if _MISSPELT.fullmatch(written.strip()) and "PATTERN" in parts:
            raise errors.misspelt_clause(written.strip(), tokens.span(first, opening))


def _marks(tokens: TokenSequence, sites: tuple[Site, ...]) -> tuple[Span, ...]:
    """The parameter markers; a `?` in PATTERN is a quantifier, unless it is one's bound."""
    patterns = [site.clause.pattern.span for site in sites]
    bounds = {one.span for site in sites for one in parameters_in(site.clause.pattern)}
    return tuple(
        token.span
        for token in tokens.tokens
        if token.key == "?"
        and (token.span in bounds or not any(span and span.holds(token.span) for span in patterns))
    )


def _frames(
    tokens: TokenSequence, names: Collection[str], inside: Sequence[Span], strict: bool
) -> Iterator[FrameHole]:
    """The frames outside clauses; with `strict`, each must have been passed."""
    for name, span in find_frames(tokens.sqlglot):
        if any(clause.holds(span) for clause in inside):
            continue
        if name in names:
            yield FrameHole(View(name), span)
        elif strict:
            raise errors.unknown_frame(name, names, span)


def _all_sites(
    tokens: TokenSequence, clauses: Sequence[Cut], read: Sequence[ReadBlock]
) -> tuple[tuple[Site, ...], tuple[Block, ...]]:
    """Clauses and windows in the order of evaluation: of those that end together, clauses first."""
    withs, words = find_with_clauses(tokens), count_words(tokens)
    sites: list[Site] = []
    blocks: list[Block] = []
    found = deque(_sites(tokens, clauses, (withs, words)))
    for block in read:
        while found and found[0].whole.end <= block.rows.end:
            sites.append(_numbered(found.popleft(), len(sites)))
        sites.extend(block.sites(len(sites), withs, words))
        blocks.append(block.block(len(sites) - 1))
    sites.extend(_numbered(site, number) for number, site in enumerate(found, len(sites)))
    return tuple(sites), tuple(blocks)


def _numbered(site: Site, index: int) -> Site:
    return replace(site, index=index, view=View(view_name(index)))


def _sites(
    tokens: TokenSequence,
    clauses: Sequence[Cut],
    known: tuple[tuple[WithClause, ...], Words],
) -> Iterator[Site]:
    withs, words = known
    for cut in clauses:
        refuse_stored_text(tokens, cut)
        _refuse_alias_in_double_quotes(tokens, cut)
    relations = tuple(find_relation(tokens, cut) for cut in clauses)
    for index, relation in enumerate(relations):
        cut = relation.cut
        input_span = tokens.span(relation.start, cut.word)
        yield Site(
            index,
            read_clause(cut_out_tokens(tokens, cut.opening, cut.closing)),
            relation.name,
            View(view_name(index)),
            input_span,
            input_span.to(tokens[cut.closing].span),
            find_visible(tokens, withs, relation.start),
            find_use(tokens, relation.start, cut.closing, words),
        )


def _refuse_alias_in_double_quotes(tokens: TokenSequence, cut: Cut) -> None:
    after = tokens.past_as(cut.closing + 1)
    if after < len(tokens) and tokens[after].in_double_quotes:
        token = tokens[after]
        raise errors.alias_in_double_quotes(token.text, token.span)
