"""Translates a query of one product for another: edits of its text, and notes on what differs.

The query is divided into fragments: the query around the clauses, the relation before each, and
every expression in a clause. Each is translated by itself, so all else stays as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot.errors import TokenError

from matchrec.errors.kinds import shown_in
from matchrec.errors.sql.syntax import unreadable_text
from matchrec.frontends.dialects.clause import clause_edits
from matchrec.frontends.dialects.edits import Edit, Edited, edited
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.sqlglot_translation import tokens_in
from matchrec.frontends.lexing.sqlglot_tokens import frame_at, tokens_of
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.lexing.tokens import pair_brackets
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
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        fragments = Fragments(text, read, write, tuple(_frames(tokens)))
        found = edited(text, _query_edits(tokens, fragments))
        return Translation(found, tuple(fragments.notes))


def translate_clause(text: str, read: Product, write: Product) -> Translation:
    """What stands between the parentheses of a clause."""
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        fragments = Fragments(text, read, write, tuple(_frames(tokens)))
        found = edited(text, clause_edits(all_tokens(tokens), fragments))
        return Translation(found, tuple(fragments.notes))


def product_tokens(text: str, product: Product) -> TokenSequence:
    """The tokens of a text as a product reads it."""
    try:
        found = tuple(tokens_in(text, product))
    except TokenError as error:
        raise unreadable_text(Span(0, len(text))) from error
    own = tokens_of(found, text)
    return TokenSequence(text, own, pair_brackets(own), found)


def _frames(tokens: TokenSequence) -> Iterator[Span]:
    """Where `{name}` stands."""
    for index, token in enumerate(tokens.sqlglot):
        if frame_at(tokens.sqlglot, index):
            yield Span(token.start, tokens.sqlglot[index + 2].end + 1)


def _query_edits(tokens: TokenSequence, fragments: Fragments) -> Iterator[Edit]:
    found = find_clauses(tokens)
    wholes = {cut: _whole(tokens, cut) for cut in found}
    yield from fragments.query(tokens.whole, tuple(wholes.values()))
    for cut, whole in wholes.items():
        relation = Span(whole.start, tokens[cut.word].span.start)
        inner = [other for other in wholes.values() if relation.holds(other)]
        yield from fragments.relation(relation, inner)
        yield from clause_edits(cut_out_tokens(tokens, cut.opening, cut.closing), fragments)


def _whole(tokens: TokenSequence, cut: Cut) -> Span:
    """The characters of a clause and of the relation before it."""
    return tokens.span(find_relation(tokens, cut).start, cut.closing + 1)
