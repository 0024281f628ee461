"""Write out the defaults of a clause in which the two products differ.

On the left is the clause that is read, in the middle the clause that is written, and on the right
what differs between the products:

    ORDER BY ts               ORDER BY ts NULLS LAST              where NULLs sort
    WITHIN INTERVAL '1' HOUR  ... + INTERVAL '0.000001' SECOND    whether WITHIN includes its end
    PATTERN (A B)             AFTER MATCH SKIP ... PATTERN (A B)  where the search resumes
    PATTERN (A B)             MEASURES MATCH_NUMBER() ...         whether rows may have no columns
    MEASURES A.x y            MEASURES A.x AS y                   whether a name needs AS
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dialects.edits import Edit, insert_part
from matchrec.dialects.products import NullOrder, Product
from matchrec.plan.clauses import RowsPerMatch
from matchrec.source import Span
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.nodes import MatchRecognize


def edit_defaults(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[Edit]:
    """Yield the edits that write out the defaults in which two products differ.

    Args:
        tokens: the tokens of the clause.
        clause: the clause, as read from the tokens.
        read: the product whose SQL it is.
        write: the product that is written.
    """
    yield from _add_order_of_nulls(clause, read, write)
    if clause.within and read.within_includes_end and not write.within_includes_end:
        end = clause.within.interval_span.end
        yield Edit(Span(end, end), " + INTERVAL '0.000001' SECOND")
    if read.has_rows_without_columns and not write.has_rows_without_columns:
        yield from _add_match_number(tokens, clause)
    if clause.after_match is None and read.default_skip is not write.default_skip:
        pattern_keyword = tokens[tokens.index_at[clause.pattern_span.start] - 1]
        start = pattern_keyword.span.start
        yield insert_part(tokens.text, start, f"AFTER MATCH SKIP {read.default_skip.value}")
    if write.measures_need_as:
        yield from _add_as(tokens, clause)


def _add_order_of_nulls(clause: MatchRecognize, read: Product, write: Product) -> Iterator[Edit]:
    """Yield the edits that add NULLS FIRST or NULLS LAST to keys of ORDER BY that lack both."""
    for key in clause.order_by:
        is_descending = bool(key.is_descending)
        read_puts_first = _puts_nulls_first(read, is_descending=is_descending)
        write_puts_first = _puts_nulls_first(write, is_descending=is_descending)
        if key.nulls_first is None and read_puts_first is not write_puts_first:
            word = "FIRST" if read_puts_first else "LAST"
            yield Edit(Span(key.span.end, key.span.end), f" NULLS {word}")


def _add_as(tokens: ClauseTokens, clause: MatchRecognize) -> Iterator[Edit]:
    """Yield the edits that add AS before the names of measures that lack it."""
    for measure in clause.measures:
        start = measure.span.start
        if tokens[tokens.index_at[start] - 1].key != "AS":
            yield Edit(Span(start, start), "AS ")


def _puts_nulls_first(product: Product, *, is_descending: bool) -> bool:
    """Return whether a product puts NULL before all values by default.

    Args:
        product: the product.
        is_descending: whether the key of ORDER BY has DESC.
    """
    match product.default_nulls:
        case NullOrder.SMALL:
            return not is_descending
        case NullOrder.LARGE:
            return is_descending
        case NullOrder.LAST:
            return False


def _add_match_number(tokens: ClauseTokens, clause: MatchRecognize) -> Iterator[Edit]:
    """Yield an edit that adds the measure MATCH_NUMBER if the rows would have no columns.

    In Oracle, a COUNT(*) around the clause can count rows without columns.
    """
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    if clause.measures or clause.partition_by or not rows_per_match.summarizes_matches:
        return
    end = max((key.span.end for key in clause.order_by), default=tokens.inside.start)
    start = next(token.span.start for token in tokens.tokens if token.span.start >= end)
    yield Edit(Span(start, start), "MEASURES MATCH_NUMBER() AS match_number ")
