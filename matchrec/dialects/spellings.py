"""Rewrite the spellings of one product in the grammar that all products share.

sqlglot and the reader of clauses do not know these spellings. On the left is the text of a product,
on the right the edited text:

    OPTIONS (use_longest_match = TRUE)    BigQuery    see `spellings_bigquery`
    FROM input TIMESTAMP BY time          Azure       see `spellings_azure`
    ORDER BY $rowtime                     Flink SQL   ORDER BY `$rowtime`
    // a comment                          Snowflake   -- a comment
    # a comment                           BigQuery    -- a comment
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from matchrec.dialects.comments import edit_comments
from matchrec.dialects.edits import Edit, remove_part
from matchrec.dialects.product_options import ProductOption
from matchrec.dialects.products import AZURE, BIGQUERY, FLINK, Product
from matchrec.dialects.spellings_azure import (
    find_timestamp_by,
    move_timestamp_by,
    name_any_rows,
    read_duration,
    reject_other_timestamp_by,
    unbracket_names,
)
from matchrec.dialects.spellings_bigquery import fill_empty_alternatives, read_longest_match
from matchrec.source import Span
from matchrec.syntax.clause_locations import ClauseLocation
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.clause_tokens import ClauseTokens, cut_out_tokens, make_clause_tokens
from matchrec.syntax.parameter_values import ParameterValues
from matchrec.syntax.sections import find_sections
from matchrec.syntax.tokens import TokenKind, TokenSequence, pair_brackets


def edit_spellings(
    tokens: TokenSequence,
    locations: Iterable[ClauseLocation] | None,
    product: Product,
    parameter_values: ParameterValues,
) -> Iterator[Edit]:
    """Yield the edits that write a text of one product in the grammar of all.

    Args:
        tokens: the tokens of the text.
        locations: the clauses of a query; None if the text is a clause.
        product: the product whose SQL it is.
        parameter_values: the values of the query's parameters; empty if they are not known.

    Raises:
        MatchRecognizeError: a spelling is wrong.
    """
    if product is FLINK:
        yield from _quote_dollar_names(tokens)
    if product.comment_prefix:
        yield from edit_comments(tokens, product.comment_prefix)
    if product is not AZURE and product is not BIGQUERY:  # only these have spellings in clauses
        return
    if locations is None:
        clause = _take_out_options(make_clause_tokens(tokens), product, parameter_values)
        yield from _edit_clause_spellings(clause, product)
        locations = ()
    # For Azure, the indices of the TIMESTAMP BYs that belong to clauses.
    moved_timestamps = set()
    for location in locations:
        clause_tokens = cut_out_tokens(tokens, location.opening, location.closing)
        clause = _take_out_options(clause_tokens, product, parameter_values)
        yield from _edit_clause_spellings(clause, product)
        timestamp_by = find_timestamp_by(tokens, location) if product is AZURE else None
        if timestamp_by is not None:
            moved_timestamps.add(timestamp_by)
            yield from move_timestamp_by(tokens, timestamp_by, location, clause.tokens)
    if product is AZURE:
        reject_other_timestamp_by(tokens, moved_timestamps)


class _ClauseOfProduct(NamedTuple):
    """A clause, divided into the options that only one product reads, and all other tokens."""

    # The clause without the options.
    tokens: ClauseTokens
    # The options, in the order of the text.
    options: Sequence[ProductOption]


def _take_out_options(
    clause: ClauseTokens, product: Product, parameter_values: ParameterValues
) -> _ClauseOfProduct:
    """Divide a clause into the options that only one product reads, and all other tokens.

    Raises:
        MatchRecognizeError: an option is wrong.
    """
    options = []
    for index in clause.walk_level(0, len(clause)):
        if product is BIGQUERY and clause.has_keys(index, "OPTIONS", "("):
            options.append(read_longest_match(clause, index, parameter_values))
        if product is AZURE and clause.has_keys(index, "LIMIT", "DURATION"):
            options.append(read_duration(clause, index))
    other_tokens = [
        token
        for token in clause.tokens
        if not any(option.span.contains(token.span) for option in options)
    ]
    pairs = pair_brackets(other_tokens)
    return _ClauseOfProduct(replace(clause, tokens=tuple(other_tokens), pairs=pairs), options)


def _edit_clause_spellings(clause: _ClauseOfProduct, product: Product) -> Iterator[Edit]:
    """Yield the edits of the options of a clause, and of the spellings in its PATTERN.

    An option is written right after the parentheses of PATTERN.
    """
    tokens = clause.tokens
    opening = find_sections(tokens)[ClausePart.PATTERN].start
    closing = tokens.pairs[opening]
    end = tokens[closing].span.end
    for option in clause.options:
        yield remove_part(tokens.text, option.span)
        if option.words:
            yield Edit(Span(end, end), f" {option.words}", option.span)
    if product is BIGQUERY:
        yield from fill_empty_alternatives(tokens, opening, closing, product.comment_prefix)
    else:
        yield from name_any_rows(tokens, opening + 1, closing)
        yield from unbracket_names(tokens, opening + 1, closing)


def _quote_dollar_names(tokens: TokenSequence) -> Iterator[Edit]:
    """Yield the edits that quote names such as `$rowtime`, which begin with a dollar sign."""
    for index, token in enumerate(tokens.tokens[1:], 1):
        sign = tokens[index - 1]
        is_adjacent = sign.key == "$" and sign.span.end == token.span.start
        if is_adjacent and token.kind is TokenKind.WORD:
            yield Edit(Span(sign.span.start, token.span.end), f"`${token.text}`")
