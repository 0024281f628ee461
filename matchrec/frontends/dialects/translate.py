"""Translates a query of one product for another: edits of its text, and notes on what differs.

The query is divided into fragments: the query around the clauses, the relation before each, and
every expression in a clause. Each is translated by itself, so all else stays as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot.errors import TokenError

from matchrec.errors.kinds import shown_in
from matchrec.errors.sql import dialects as errors
from matchrec.errors.sql.syntax import unreadable_text
from matchrec.frontends.dialects.additions import find_timestamp_by
from matchrec.frontends.dialects.clause import clause_edits
from matchrec.frontends.dialects.edits import Edit, Edited, edited
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Addition, Product
from matchrec.frontends.dialects.sqlglot_translation import tokens_in
from matchrec.frontends.lexing.sqlglot_tokens import find_frames
from matchrec.frontends.lexing.token_sequence import TokenSequence, sequence_of
from matchrec.frontends.sql.clause.sections import all_tokens, cut_out_tokens
from matchrec.frontends.sql.query.cuts import Cut, find_clauses
from matchrec.frontends.sql.query.relation import find_relation
from matchrec.source import Source, Span


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated text. notes: what is lost or differs, each with its place in the original."""

    edited: Edited
    notes: tuple[Note, ...] = ()

    @property
    def text(self) -> str:
        """The text in the other product's SQL."""
        return self.edited.text


def translate_query(text: str, read: Product, write: Product) -> Translation:
    """A query with clauses anywhere, or without any."""
    if read is write:
        return Translation(edited(text, ()))
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        if not write.is_written:
            raise errors.not_written(write.title, tokens.whole)
        fragments = _fragments(tokens, read, write)
        found = edited(text, _query_edits(tokens, fragments))
        return Translation(found, tuple(fragments.notes))


def translate_clause(text: str, read: Product, write: Product) -> Translation:
    """What stands between the parentheses of a clause."""
    if read is write:
        return Translation(edited(text, ()))
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        fragments = _fragments(tokens, read, write)
        found = edited(text, clause_edits(all_tokens(tokens), fragments))
        return Translation(found, tuple(fragments.notes))


def product_tokens(text: str, product: Product) -> TokenSequence:
    """The tokens of a text as a product reads it."""
    try:
        return sequence_of(tokens_in(text, product), text)
    except TokenError as error:
        raise unreadable_text(Span(0, len(text))) from error


def _fragments(tokens: TokenSequence, read: Product, write: Product) -> Fragments:
    frames = tuple(span for _, span in find_frames(tokens.sqlglot))
    return Fragments(tokens.text, read, write, frames)


def _query_edits(tokens: TokenSequence, fragments: Fragments) -> Iterator[Edit]:
    found = find_clauses(tokens)
    wholes = {cut: _whole(tokens, cut) for cut in found}
    yield from fragments.query(tokens.whole, tuple(wholes.values()))
    for cut, whole in wholes.items():
        relation = Span(whole.start, tokens[cut.word].span.start)
        time = None
        if Addition.TIMESTAMP_BY in fragments.read.additions:
            found_by = find_timestamp_by(tokens, tokens.index_at[whole.start], cut.word)
            if found_by is not None:
                said, place = (tokens.span(*one) for one in found_by)
                yield Edit(said, "")
                relation, time = Span(whole.start, said.start), place
        inner = [other for other in wholes.values() if relation.holds(other)]
        yield from fragments.relation(relation, inner)
        clause = cut_out_tokens(tokens, cut.opening, cut.closing)
        yield from clause_edits(clause, fragments, time)


def _whole(tokens: TokenSequence, cut: Cut) -> Span:
    """The characters of a clause and of the relation before it."""
    return tokens.span(find_relation(tokens, cut).start, cut.closing + 1)
