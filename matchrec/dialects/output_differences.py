"""Notes on what differs in the output of a clause, although its text is the same in both products.

The matches, the names that CLASSIFIER returns, and the columns of ALL ROWS PER MATCH may differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import Product
from matchrec.plan import pattern
from matchrec.plan.clauses import RowsPerMatch
from matchrec.source import Span
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.nodes import MatchRecognize


def note_output_differences(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[TranslationNote]:
    """Yield notes on what differs in the output, although the text of the clause is the same.

    Args:
        tokens: the tokens of the clause.
        clause: the clause.
        read: the product whose SQL it is.
        write: the product that is written.
    """
    calls_classifier = any(token.key == "CLASSIFIER" for token in tokens.tokens)
    if calls_classifier and write.classifier_keeps_case and not read.classifier_keeps_case:
        yield TranslationNote(
            f"CLASSIFIER() keeps the case of a variable in {write.title}, and is in upper case in "
            f"{read.title}",
            clause.pattern_span,
        )
    if clause.within and write.within_includes_end and not read.within_includes_end:
        yield TranslationNote(
            f"WITHIN includes its end in {write.title}", clause.within.interval_span
        )
    differ_in_empty_matches = read.finds_empty_matches is not write.finds_empty_matches
    if differ_in_empty_matches and pattern.can_be_empty(clause.pattern):
        finding, missing = (read, write) if read.finds_empty_matches else (write, read)
        message = f"{finding.title} finds empty matches, and {missing.title} does not"
        yield TranslationNote(message, clause.pattern_span)
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    if not rows_per_match.summarizes_matches:
        yield from _note_column_differences(clause, read, write)


def _note_column_differences(
    clause: MatchRecognize, read: Product, write: Product
) -> Iterator[TranslationNote]:
    """Yield notes on what differs in the columns of ALL ROWS PER MATCH."""
    if read.column_order is not write.column_order:
        orders = (f"{product.title}: {product.column_order.value}" for product in (read, write))
        message = f"the columns of `*` have another order: {'; '.join(orders)}"
        yield TranslationNote(message, clause.pattern_span, is_compensated=True)
    if read.repeats_keys is not write.repeats_keys:
        repeating, other = (read, write) if read.repeats_keys else (write, read)
        message = f"a repeated key gives two columns in {repeating.title}, and one in {other.title}"
        for span in _find_repeated_keys(clause):
            yield TranslationNote(message, span)


def _find_repeated_keys(clause: MatchRecognize) -> Iterator[Span]:
    """Yield the spans of keys of PARTITION BY and ORDER BY that are written a second time."""
    keys = [key.expression for key in clause.partition_by]
    keys += [item.expression for item in clause.order_by]
    texts = set()
    for key in keys:
        text = key.text.upper()
        if text in texts:
            yield key.full_span
        texts.add(text)
