"""Translates a query of one product for another: edits of its text, and notes on what differs.

The query is divided into fragments: the query around the clauses, the relation before each, and
every expression in a clause. Each is translated by itself, so all else stays as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from sqlglot import TokenType
from sqlglot.errors import TokenError

from matchrec.dialects.clause_edits import clause_edits, window_edits
from matchrec.dialects.differences import found_differences
from matchrec.dialects.edits import Edit, Note, edited
from matchrec.dialects.fragments import SELECT_ALL, Fragments, tokens_in
from matchrec.dialects.products import SPARK, Product
from matchrec.dialects.rules.place import ClauseKinds, Kinds, Tables, no_tables
from matchrec.dialects.spellings import written_out
from matchrec.errors.kinds import shown_in
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.clause import unexpected_token, unreadable_text
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import reads_of_earlier_measures
from matchrec.plan.text import words_of
from matchrec.source import Source, Span
from matchrec.syntax.grammar import all_tokens, cut_out_tokens
from matchrec.syntax.locate import parse
from matchrec.syntax.lower import lower
from matchrec.syntax.nodes import Site
from matchrec.syntax.pattern_windows import FoundWindow, find_pattern_windows
from matchrec.syntax.relation import Cut, find_clauses, find_start
from matchrec.syntax.row_pattern import parameter_at
from matchrec.syntax.tokens import TokenSequence, find_frames, renamed, sequence_of


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated text. notes: what is lost or differs, each with its place in the original.

    missed: columns whose types are not known and would tell what some expressions mean.
    """

    source: Source
    notes: tuple[Note, ...] = ()
    missed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        return self.source.text


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of a query: kinds of clauses in order of evaluation, values of parameters."""

    kinds: Sequence[ClauseKinds] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    tables: Tables = no_tables


def translate_query(
    text: str, read: Product, write: Product, known: Knowledge | None = None
) -> Translation:
    """A query with clauses anywhere, or without any."""
    if read is write:
        _check(text, read)
        return Translation(Source(text))
    own, of_measures = known or Knowledge(), list[Note]()

    def forms(tokens: TokenSequence) -> Iterator[Edit]:
        if not write.is_written:
            raise errors.not_written(tokens[0].span, product=write.title)
        if read is SPARK:
            for plan in _check(text, read):
                of_measures.extend(notes_on_measures(plan, write.title))
        yield from written_out(tokens, find_clauses(tokens), read, own.values)

    def edits(tokens: TokenSequence, fragments: Fragments) -> Iterator[Edit]:
        return _query_edits(tokens, replace(fragments, tables=own.tables), own.kinds)

    found = _translated(text, (read, write), forms, edits)
    return replace(found, notes=(*found.notes, *of_measures))


def notes_on_measures(plan: MatchPlan, language: str) -> Iterator[Note]:
    """What may read an earlier measure, for a language in which measures read columns only."""
    earlier = f"it is the earlier measure, which {language} cannot read"
    for measure in reads_of_earlier_measures(plan):
        if measure.span is not None:
            yield Note(f"where no column is called {measure.argument}, {earlier}", measure.span)


def _differences(tokens: TokenSequence, read: Product, write: Product) -> Iterator[Note]:
    """What sqlglot's translation makes something else of. Raises where a note is not enough."""
    for row, span in found_differences(tokens, read, write):
        is_of_written = any(">" in product for product in row.products)
        if row.is_refused and (write.has_functions_of_spark or is_of_written):
            what, why, cure = f"this {row.name}", row.sentence, row.hint
            title = write.title
            raise errors.without_equivalent(span, product=title, what=what, reason=why, cure=cure)
        hint = f": {row.hint}" if row.hint else ""
        yield Note(f"{row.name}: {row.sentence}{hint}", span)


_STATEMENTS = words_of("STATEMENT")


def _check(text: str, product: Product) -> list[MatchPlan]:
    """The plans of the clauses, of Spark SQL alone. Raises for what is no query, or wrong in it."""
    with shown_in(Source(text)):
        tokens = product_tokens(text, product)
        first = next((token for token in tokens.tokens if token.key != ";"), None)
        if first is None or first.key not in _STATEMENTS:
            written = first.text if first else text
            raise unexpected_token(written, "the query", first.span if first else tokens.whole)
        find_clauses(tokens)  # which refuses brackets that do not pair up
    if product is SPARK:
        query = parse(text, [name for name, _ in find_frames(tokens.tokens)])
        with shown_in(query.source):
            pieces = (tokens.tokens[at : at + n] for at in range(len(tokens)) for n in (1, 2))
            values = {found.name: 1 for found in map(parameter_at, pieces) if found}
            return [_plan(site, values) for site in query.sites]
    return []


def _plan(site: Site, parameters: Mapping[str, object]) -> MatchPlan:
    """The plan of a clause or a window; only a window says INITIAL or SEEK. parameters: numbers."""
    clause = site.clause
    if site.calls is not None:
        clause = replace(clause, search=None, search_span=None)
    windows = (one for one in clause.windows if one.rows is None)
    times = {one.parameter.name: timedelta(1) for one in windows if one.parameter}
    return lower(clause, {**parameters, **times})


def translate_clause(
    text: str, read: Product, write: Product, columns: Kinds | None = None
) -> Translation:
    """What stands between the parentheses of a clause. columns: of its input, if they are known."""

    def forms(tokens: TokenSequence) -> Iterator[Edit]:
        return written_out(tokens, None, read, {})

    def edits(tokens: TokenSequence, fragments: Fragments) -> Iterator[Edit]:
        return clause_edits(all_tokens(tokens), fragments, lambda: columns or {})

    return _translated(text, (read, write), forms, edits)


def _translated(
    text: str,
    products: tuple[Product, Product],
    forms: Callable[[TokenSequence], Iterator[Edit]],
    edits: Callable[[TokenSequence, Fragments], Iterator[Edit]],
) -> Translation:
    """The translation of a text. forms: what writes out its short forms. edits: of that text."""
    read, write = products
    source = Source(text)
    with shown_in(source):
        tokens = product_tokens(text, read)
        written = edited(text, forms(tokens))
        noted = list(_differences(tokens, read, write))
    if written.edits:
        source = written.source(source)
    with shown_in(source):
        if written.edits:
            tokens = product_tokens(written.text, read)
        frames = tuple(span for _, span in find_frames(tokens.tokens))
        fragments = Fragments(tokens.text, read, write, frames)
        found = edited(written.text, edits(tokens, fragments)).source(source)
    notes = [replace(note, span=written.before(note.span)) for note in fragments.notes]
    return Translation(found, tuple(dict.fromkeys([*noted, *notes])), frozenset(fragments.missed))


def product_tokens(text: str, product: Product) -> TokenSequence:
    try:
        tokens = tokens_in(text, product)
    except TokenError as error:
        raise unreadable_text(Span(0, len(text))) from error
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.VAR and "#" in token.text:  # Oracle's, as in quotes
            tokens[at] = renamed(token, TokenType.IDENTIFIER, token.text)
    return sequence_of(tokens, text)


def _query_edits(
    tokens: TokenSequence, fragments: Fragments, kinds: Sequence[ClauseKinds]
) -> Iterator[Edit]:
    found, windows = find_clauses(tokens), windows_between(tokens, fragments)
    ends: dict[Cut | FoundWindow, int] = {cut: cut.closing + 1 for cut in found}
    ends |= {window: window.select.rows_end for window in windows}
    known = dict(zip(sorted(ends, key=ends.__getitem__), kinds, strict=False))
    wholes = {cut: tokens.span(find_start(tokens, cut), cut.closing + 1) for cut in found}
    outputs = {cut: known[cut].outputs for cut in found if cut in known}
    rows = {wholes[cut]: output for cut, output in outputs.items() if output is not None}
    fragments = replace(fragments, rows=rows)
    insides = frozenset(tokens.span(one.opening + 1, one.closing) for one in windows)
    calls = (tokens.span(call.start, call.end) for one in windows for call in one.calls)
    holes = (*wholes.values(), *insides, *calls)
    yield from replace(fragments, windows=insides).edits(tokens.whole, holes)
    for window in windows:
        inputs_of = known.get(window, ClauseKinds()).inputs or {}
        yield from window_edits(tokens, window, fragments, partial(dict, inputs_of))
    for cut, whole in wholes.items():
        relation = Span(whole.start, tokens[cut.word].span.start)
        inner = [other for other in wholes.values() if relation.holds(other)]
        if fragments.write is not SPARK and any(one.start == relation.start for one in inner):
            end = tokens[cut.word - 1].span.end  # after a clause others have no second one
            yield Edit(Span(relation.start, relation.start), "(SELECT * FROM ")
            yield Edit(Span(end, end), ")")
        query = _query_in(tokens, relation)
        yield from fragments.edits(query or relation, inner, SELECT_ALL if query is None else "")
        clause = cut_out_tokens(tokens, cut.opening, cut.closing)
        columns = known.get(cut, ClauseKinds()).inputs
        inputs = partial(_kinds_of_table, tokens, relation, fragments)
        kinds_of = inputs if columns is None else partial(dict, columns)
        yield from clause_edits(clause, fragments, kinds_of)


def windows_between(tokens: TokenSequence, fragments: Fragments) -> tuple[FoundWindow, ...]:
    """The windows of a query. Raises where one of the two products has none."""
    windows = find_pattern_windows(tokens)
    for product in (fragments.read, fragments.write):
        if windows and not product.has_row_pattern_windows:
            raise errors.no_windows(tokens[windows[0].opening].span, product=product.title)
    return windows


def _kinds_of_table(tokens: TokenSequence, relation: Span, fragments: Fragments) -> Kinds:
    """The columns of a relation that is a table's name alone; WITH may give it another meaning."""
    start = tokens.index_at[relation.start]
    last = max(index for index in range(len(tokens)) if relation.holds(tokens[index].span))
    parts, dots = range(start, last + 1, 2), range(start + 1, last + 1, 2)
    is_name = all(map(tokens.can_name, parts)) and all(tokens.key(at) == "." for at in dots)
    if not is_name or any(token.key == "WITH" for token in tokens.tokens):
        return {}
    return fragments.tables(".".join(f"`{tokens[at].name}`" for at in parts)) or {}


def _query_in(tokens: TokenSequence, relation: Span) -> Span | None:
    """The query in a relation's parentheses, if that is all: it may get a WITH of its own."""
    start = tokens.index_at[relation.start]
    closing = tokens.pairs.get(start, len(tokens) - 1)
    rest = tokens.text[tokens[closing].span.end : relation.end]
    is_query = tokens.key(start) == "(" and tokens.key(start + 1) in ("SELECT", "FROM", "WITH")
    return tokens.span(start + 1, closing) if is_query and not rest.strip() else None
