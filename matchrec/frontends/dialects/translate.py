"""Translates a query of one product for another: edits of its text, and notes on what differs.

The query is divided into fragments: the query around the clauses, the relation before each, and
every expression in a clause. Each is translated by itself, so all else stays as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import Token as SqlglotToken
from sqlglot import TokenType
from sqlglot.errors import TokenError

from matchrec.errors.kinds import shown_in
from matchrec.errors.sql import dialects as errors
from matchrec.errors.sql.syntax import unreadable_text
from matchrec.frontends.dialects.clause.clause_edits import clause_edits
from matchrec.frontends.dialects.clause.event_time import EventTime, find_event_time
from matchrec.frontends.dialects.edits import Edit, Edited, edited
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Addition, Product
from matchrec.frontends.dialects.rules.columns import ClauseKinds, Kinds
from matchrec.frontends.dialects.sqlglot_translation import tokens_in
from matchrec.frontends.dialects.windows_of_time import check_windows
from matchrec.frontends.lexing.sqlglot_tokens import find_frames, renamed
from matchrec.frontends.lexing.token_sequence import TokenSequence, sequence_of
from matchrec.frontends.sql.clause.sections import all_tokens, cut_out_tokens
from matchrec.frontends.sql.query.cuts import Cut, find_clauses
from matchrec.frontends.sql.query.relation import find_relation
from matchrec.source import Source, Span


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated text. notes: what is lost or differs, each with its place in the original.

    missed: columns whose types are not known and would tell what some expressions mean.
    """

    edited: Edited
    notes: tuple[Note, ...] = ()
    missed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The text in the other product's SQL."""
        return self.edited.text


def translate_query(
    text: str,
    read: Product,
    write: Product,
    kinds: Sequence[ClauseKinds] = (),
    values: Mapping[str, object] | None = None,
) -> Translation:
    """A query with clauses anywhere, or without any.

    kinds: of clauses in order of evaluation. values: of the query's parameters, if they are known.
    """
    if read is write:
        return Translation(edited(text, ()))
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        if not write.is_written:
            raise errors.not_written(write.title, tokens[0].span)
        check_windows(tokens, read)
        fragments = replace(_fragments(tokens, read, write), values=values or {})
        return _translation(fragments, _query_edits(tokens, fragments, kinds))


def translate_clause(
    text: str, read: Product, write: Product, columns: Kinds | None = None
) -> Translation:
    """What stands between the parentheses of a clause. columns: of its input, if they are known."""
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        fragments = _fragments(tokens, read, write)
        return _translation(fragments, clause_edits(all_tokens(tokens), fragments, columns))


def _translation(fragments: Fragments, edits: Iterator[Edit]) -> Translation:
    found = edited(fragments.text, edits)
    return Translation(found, tuple(dict.fromkeys(fragments.notes)), frozenset(fragments.missed))


def product_tokens(text: str, product: Product) -> TokenSequence:
    """The tokens of a text as a product reads it."""
    try:
        return sequence_of(list(map(_unusual_name, tokens_in(text, product))), text)
    except TokenError as error:
        raise unreadable_text(Span(0, len(text))) from error


def _unusual_name(token: SqlglotToken) -> SqlglotToken:
    """Oracle's `page#` as if it stood in quotes, which the names of others would need."""
    is_unusual = token.token_type is TokenType.VAR and "#" in token.text
    return renamed(token, TokenType.IDENTIFIER, token.text) if is_unusual else token


def _fragments(tokens: TokenSequence, read: Product, write: Product) -> Fragments:
    frames = tuple(span for _, span in find_frames(tokens.sqlglot))
    return Fragments(tokens.text, read, write, frames)


def _query_edits(
    tokens: TokenSequence, fragments: Fragments, kinds: Sequence[ClauseKinds]
) -> Iterator[Edit]:
    found = find_clauses(tokens)
    known = dict(zip(found, kinds, strict=False))
    wholes = {cut: _whole(tokens, cut) for cut in found}
    rows = {wholes[cut]: one.outputs for cut, one in known.items() if one.outputs is not None}
    fragments = replace(fragments, rows=rows)
    yield from fragments.query(tokens.whole, tuple(wholes.values()))
    for cut, whole in wholes.items():
        relation = Span(whole.start, tokens[cut.word].span.start)
        time = _event_time(tokens, fragments.read, cut, whole)
        if time is not None:
            yield Edit(time.span, "")
            relation = Span(whole.start, time.span.start)
        inner = [other for other in wholes.values() if relation.holds(other)]
        yield from fragments.relation(relation, inner)
        clause = cut_out_tokens(tokens, cut.opening, cut.closing)
        columns = known.get(cut, ClauseKinds()).inputs
        yield from clause_edits(clause, fragments, columns, time)


def _event_time(tokens: TokenSequence, read: Product, cut: Cut, whole: Span) -> EventTime | None:
    if Addition.TIMESTAMP_BY not in read.additions:
        return None
    return find_event_time(tokens, tokens.index_at[whole.start], cut.word)


def _whole(tokens: TokenSequence, cut: Cut) -> Span:
    """The characters of a clause and of the relation before it."""
    return tokens.span(find_relation(tokens, cut).start, cut.closing + 1)
