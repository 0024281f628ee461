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
    if clause.after_match is None and read.skip is not write.skip:
        start = tokens[tokens.index_at[clause.pattern_span.start] - 1].span.start
        yield Edit(Span(start, start), f"AFTER MATCH SKIP {read.skip.value}\n")


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
    all_rows = clause.rows_per_match not in (None, RowsPerMatch.ONE_ROW)
    if all_rows and read.columns is not write.columns:
        orders = (f"{one.title}: {one.columns.value}" for one in (read, write))
        message = f"`*` has its columns in another order: {'; '.join(orders)}"
        yield Note(message, clause.pattern_span, is_met=True)
