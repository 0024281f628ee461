"""Translates a query of one product for another: edits of its text, and notes on what differs.

The query is divided into fragments: the query around the clauses, the relation before each, and
every expression in a clause. Each is translated by itself, so all else stays as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from sqlglot import Token as SqlglotToken
from sqlglot import TokenType
from sqlglot.errors import TokenError

from matchrec.dataclass import dataclass
from matchrec.errors.kinds import shown_in
from matchrec.errors.sql import dialects as errors
from matchrec.errors.sql.syntax import unreadable_text
from matchrec.frontends.dialects.clause.clause_edits import clause_edits
from matchrec.frontends.dialects.clause.event_time import (
    EventTime,
    before_keys,
    check_times,
    find_event_time,
)
from matchrec.frontends.dialects.clause.row_pattern_windows import (
    calls_over,
    in_order,
    inside,
    window_edits,
    windows_between,
)
from matchrec.frontends.dialects.clause.short_forms import clauses_of, written_out
from matchrec.frontends.dialects.edits import Edit, Edited, EditedTwice, edited
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.pipes import pipe_edits
from matchrec.frontends.dialects.product import Addition, Product
from matchrec.frontends.dialects.rules.columns import ClauseKinds, Kinds, Tables, no_tables
from matchrec.frontends.dialects.sqlglot_translation import tokens_in
from matchrec.frontends.dialects.windows_of_time import window_edits as time_edits
from matchrec.frontends.lexing.sqlglot_tokens import find_frames, renamed
from matchrec.frontends.lexing.token_sequence import TokenSequence, sequence_of
from matchrec.frontends.sql.clause.sections import all_tokens, cut_out_tokens
from matchrec.frontends.sql.query.brackets import refuse_unbalanced
from matchrec.frontends.sql.query.cuts import Cut, find_clauses
from matchrec.frontends.sql.query.relation import find_relation
from matchrec.source import Origin, Source, Span

Edits = Callable[[TokenSequence, Fragments], Iterator[Edit]]


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated text. notes: what is lost or differs, each with its place in the original.

    missed: columns whose types are not known and would tell what some expressions mean.
    """

    edited: Edited | EditedTwice
    notes: tuple[Note, ...] = ()
    missed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The text in the other product's SQL."""
        return self.edited.text


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of a query beside its text.

    kinds: of clauses in order of evaluation. values: of the query's parameters. tables: the columns
    of tables. shows_utc: whether the clock of the session shows UTC.
    """

    kinds: Sequence[ClauseKinds] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    tables: Tables = no_tables
    shows_utc: bool = False


def translate_query(
    text: str, read: Product, write: Product, known: Knowledge | None = None
) -> Translation:
    """A query with clauses anywhere, or without any."""
    if read is write:
        return Translation(edited(text, ()))
    own = known or Knowledge()
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        if not write.is_written:
            raise errors.not_written(write.title, tokens[0].span)
        refuse_unbalanced(tokens)
        times = _times(tokens, read, write, own)
        pipes = pipe_edits(tokens) if Addition.PIPES in read.additions else ()
        forms = written_out(tokens, clauses_of(tokens), read.additions)
        others = (one for one in forms if not any(time.span.holds(one.span) for time in times))
        written = edited(text, (*pipes, *times, *others))

    def edits(tokens: TokenSequence, fragments: Fragments) -> Iterator[Edit]:
        fragments = replace(fragments, values=own.values, tables=own.tables)
        return _query_edits(tokens, fragments, own.kinds)

    return _of_written_out(written, tokens, (read, write), edits)


def _times(
    tokens: TokenSequence, read: Product, write: Product, known: Knowledge
) -> tuple[Edit, ...]:
    if not read.has_windows_of_time:
        return ()
    return tuple(time_edits(tokens, write, shows_utc=known.shows_utc))


def translate_clause(
    text: str, read: Product, write: Product, columns: Kinds | None = None
) -> Translation:
    """What stands between the parentheses of a clause. columns: of its input, if they are known."""
    with shown_in(Source(text)):
        tokens = product_tokens(text, read)
        written = edited(text, written_out(tokens, ((0, len(tokens)),), read.additions))

    def edits(tokens: TokenSequence, fragments: Fragments) -> Iterator[Edit]:
        return clause_edits(all_tokens(tokens), fragments, columns)

    return _of_written_out(written, tokens, (read, write), edits)


def _of_written_out(
    written: Edited, tokens: TokenSequence, products: tuple[Product, Product], edits: Edits
) -> Translation:
    """The translation of a text with its short forms written out. tokens: of it before that."""
    read, write = products
    origin = Origin(Source(written.original), written.before) if written.edits else None
    with shown_in(Source(written.text, origin)):
        if written.edits:
            tokens = product_tokens(written.text, read)
        fragments = _fragments(tokens, read, write)
        found = _translation(fragments, edits(tokens, fragments))
    if not written.edits or isinstance(found.edited, EditedTwice):
        return found
    notes = tuple(replace(one, span=written.before(one.span)) for one in found.notes)
    return replace(found, edited=EditedTwice(written, found.edited), notes=notes)


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
    found, windows = find_clauses(tokens), windows_between(tokens, fragments)
    known = dict(zip(in_order(found, windows), kinds, strict=False))
    wholes = {cut: _whole(tokens, cut, fragments.read) for cut in found}
    if Addition.TIMESTAMP_BY in fragments.read.additions:
        check_times(tokens, wholes.values())
    outputs = {cut: known[cut].outputs for cut in found if cut in known}
    rows = {wholes[cut]: one for cut, one in outputs.items() if one is not None}
    fragments = replace(fragments, rows=rows)
    insides = frozenset(inside(tokens, one) for one in windows)
    holes = (*wholes.values(), *insides, *calls_over(tokens, windows))
    yield from replace(fragments, windows=insides).query(tokens.whole, holes)
    for window in windows:
        columns = known.get(window, ClauseKinds()).inputs
        yield from window_edits(tokens, window, fragments, columns)
    for cut, whole in wholes.items():
        relation = Span(whole.start, tokens[cut.word].span.start)
        time = _event_time(tokens, fragments.read, cut, whole)
        if time is not None:
            yield Edit(time.span, "")
            relation = Span(whole.start, time.span.start)
        inner = [other for other in wholes.values() if relation.holds(other)]
        query = _query_in(tokens, relation)
        if query is None:
            yield from fragments.relation(relation, inner)
        else:
            yield from fragments.query(query, inner)
        clause = cut_out_tokens(tokens, cut.opening, cut.closing)
        columns = known.get(cut, ClauseKinds()).inputs
        yield from clause_edits(clause, fragments, columns, time)


def _query_in(tokens: TokenSequence, relation: Span) -> Span | None:
    """The query in a relation's parentheses, if that is all: it may get a WITH of its own."""
    start = tokens.index_at[relation.start]
    closing = tokens.pairs.get(start, len(tokens) - 1)
    rest = tokens.text[tokens[closing].span.end : relation.end]
    is_query = tokens.key(start) == "(" and tokens.key(start + 1) in ("SELECT", "FROM", "WITH")
    return tokens.span(start + 1, closing) if is_query and not rest.strip() else None


def _event_time(tokens: TokenSequence, read: Product, cut: Cut, whole: Span) -> EventTime | None:
    if Addition.TIMESTAMP_BY not in read.additions:
        return None
    return find_event_time(tokens, tokens.index_at[whole.start], cut.word)


def _whole(tokens: TokenSequence, cut: Cut, read: Product) -> Span:
    """The characters of a clause and of the relation before it."""
    start = find_relation(tokens, cut).start
    if Addition.TIMESTAMP_BY in read.additions:
        start = before_keys(tokens, start)
    return tokens.span(start, cut.closing + 1)
