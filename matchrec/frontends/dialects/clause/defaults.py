"""What is not written in a clause and means something else in the other product."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.frontends.dialects.clause.variables import calls_classifier
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Nulls, Product
from matchrec.frontends.sql.clause.nodes import MatchRecognize
from matchrec.frontends.sql.clause.sections import ClauseTokens
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.pattern import may_be_empty
from matchrec.source import Span

_LEAST_TIME = "INTERVAL '0.000001' SECOND"


def default_edits(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[Edit]:
    """What is not written and would mean something else in the other product."""
    for key in clause.order_by:
        here, there = (_nulls_first(one, descends=bool(key.descending)) for one in (read, write))
        if key.nulls_first is None and here is not there:
            yield Edit(Span(key.span.end, key.span.end), f" NULLS {'FIRST' if here else 'LAST'}")
    if clause.within and read.within_includes is not write.within_includes:
        sign = "+" if read.within_includes else "-"
        end = clause.within.span.end
        yield Edit(Span(end, end), f" {sign} {_LEAST_TIME}")
    if read.has_bare_rows and not write.has_bare_rows:
        yield from _least_measure(tokens, clause)
    if clause.after_match is None and read.skip is not write.skip:
        start = tokens[tokens.index_at[clause.pattern_span.start] - 1].span.start
        yield Edit(Span(start, start), f"AFTER MATCH SKIP {read.skip.value}\n")
    if write.names_with_as:
        starts = (one.span.start for one in clause.measures)
        names = (at for at in starts if tokens[tokens.index_at[at] - 1].key != "AS")
        yield from (Edit(Span(at, at), "AS ") for at in names)


def _least_measure(tokens: ClauseTokens, clause: MatchRecognize) -> Iterator[Edit]:
    """A measure where rows would have no column, which COUNT(*) around the clause needs not."""
    is_one_row = clause.rows_per_match in (None, RowsPerMatch.ONE_ROW)
    if clause.measures or clause.partition_by or not is_one_row:
        return
    end = max((key.span.end for key in clause.order_by), default=tokens.inside.start)
    start = next(one.span.start for one in tokens.tokens if one.span.start >= end)
    yield Edit(Span(start, start), "MEASURES MATCH_NUMBER() AS match_number ")


def _nulls_first(product: Product, *, descends: bool) -> bool:
    """Whether NULL comes before all values where nothing is said."""
    return {Nulls.SMALL: not descends, Nulls.LARGE: descends, Nulls.LAST: False}[product.nulls]


def output_notes(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[Note]:
    """What of the rows that come out differs in the other product."""
    if write.keeps_case and not read.keeps_case and calls_classifier(tokens):
        case = f"CLASSIFIER() names a variable as it is written in {write.title}, in upper case in "
        yield Note(case + read.title, clause.pattern_span)
    if read.finds_empty is not write.finds_empty and may_be_empty(clause.pattern):
        with_them, without = (read, write) if read.finds_empty else (write, read)
        empty = f"{with_them.title} finds empty matches, {without.title} does not"
        yield Note(empty, clause.pattern_span)
    if clause.rows_per_match not in (None, RowsPerMatch.ONE_ROW):
        yield from _column_notes(clause, read, write)


def _column_notes(clause: MatchRecognize, read: Product, write: Product) -> Iterator[Note]:
    """What differs in the columns of ALL ROWS PER MATCH."""
    if read.columns is not write.columns:
        orders = (f"{one.title}: {one.columns.value}" for one in (read, write))
        message = f"`*` has its columns in another order: {'; '.join(orders)}"
        yield Note(message, clause.pattern_span, is_met=True)
    if read.repeats_keys is not write.repeats_keys:
        twice, once = (read, write) if read.repeats_keys else (write, read)
        message = f"a key that is written twice comes out twice in {twice.title}, once in "
        yield from (Note(message + once.title, span) for span in _repeated_keys(clause))


def _repeated_keys(clause: MatchRecognize) -> Iterator[Span]:
    """Where a key of PARTITION BY or ORDER BY stands that has been written before."""
    seen = set()
    keys = (key.expression for key in clause.partition_by)
    for key in (*keys, *(one.expression for one in clause.order_by)):
        name = key.text.upper()
        if name in seen:
            yield key.span
        seen.add(name)
