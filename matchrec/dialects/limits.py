"""Parts of the clause that a product lacks, so that a translation to it is an error or gets a note.

The table is `limits.txt`: each part of the clause, by the name that `find_features` has for it, and
the products that lack it. `note_limits` looks up every part that a clause has:

    SUBSET U = (A, B)      written for BigQuery     an error: BigQuery lacks SUBSET
    WITHIN INTERVAL ...    written for Trino        an error that says which condition to write
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import Product
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.sql.products import product_without_within, unsupported_by_product
from matchrec.plan.clauses import MatchOutput, RowsPerMatch, SkipTo
from matchrec.plan.pattern import (
    Quantified,
    RowPattern,
    Variable,
    list_top_level_parts,
    list_variable_names,
    walk_pattern,
)
from matchrec.source import Span, read_table
from matchrec.syntax.function_names import PHYSICAL
from matchrec.syntax.nodes import MatchRecognize, NamedExpression
from matchrec.syntax.parameter_values import walk_parameters
from matchrec.syntax.tokens import TokenSequence

# A name with or without quotes, and a column with its qualifiers.
_NAME = r"""(?:[^\W\d][\w$#]*|"[^"]+"|`[^`]+`|\[[^\]]+\])"""
_COLUMN = re.compile(rf"{_NAME}(?:\.{_NAME})*")

# `INTERVAL '5' MINUTE`, and with several amounts or `DAY TO SECOND`.
_AMOUNT = r"\s+'?\d[\d.:\s]*'?\s*[A-Z]+(?:\s+TO\s+[A-Z]+)?"
_INTERVAL = re.compile(rf"\s*INTERVAL(?:{_AMOUNT})+\s*", re.IGNORECASE)

_FEATURES_OF_ROWS_PER_MATCH = {
    RowsPerMatch.ALL_ROWS_SHOW_EMPTY: ("ALL_ROWS",),
    RowsPerMatch.ALL_ROWS_OMIT_EMPTY: ("ALL_ROWS", "OMIT_EMPTY"),
    RowsPerMatch.ALL_ROWS_WITH_UNMATCHED: ("ALL_ROWS", "UNMATCHED"),
}


class Feature(NamedTuple):
    """A part of a clause that some product lacks."""

    # The name in the table, such as `SUBSET`.
    name: str
    # Where the part is in the text of the clause.
    span: Span


@dataclass(frozen=True, slots=True)
class ProductLimit:
    """A row of the table: a part of the clause that some products lack."""

    # How messages call the part.
    words: str
    # The names of the products that lack the part.
    lacking: frozenset[str]
    # The names of the products whose documentation rejects the part, although the products may have
    # it. A query with the part is translated for them, with a note.
    rejecting: frozenset[str]
    # What to write instead; None if there is nothing.
    replacement: str | None = None

    @property
    def hint(self) -> str | None:
        """The sentence that says what to write instead; None if there is nothing."""
        return f"write {self.replacement}" if self.replacement else None


@cache
def read_limits() -> dict[str, ProductLimit]:
    """Return the rows of the table, by the names of the parts."""
    rows = read_table("matchrec.dialects", "limits.txt")
    return {
        name: _read_limit(words, cell, *other_cells) for name, words, cell, *other_cells in rows
    }


def _read_limit(words: str, products: str, replacement: str | None = None) -> ProductLimit:
    """Return a row of the table, given its cells after the name.

    Args:
        words: how messages call the part.
        products: the products, as in `oracle (azure)`: Oracle lacks it, and Azure rejects it.
        replacement: what to write instead.
    """
    names = products.split()
    lacking = frozenset(name for name in names if not name.startswith("("))
    rejecting = frozenset(name.strip("()") for name in names if name.startswith("("))
    return ProductLimit(words, lacking, rejecting, replacement)


def has_feature(product: Product, name: str) -> bool:
    """Return whether a product has a part of the clause, given its name in the table."""
    return product.name not in read_limits()[name].lacking


def _is_rejected_in_documentation(name: str, product: Product) -> bool:
    """Return whether the documentation of a product rejects a part, which then gets a note."""
    return product.name in read_limits()[name].rejecting


def note_limits(clause: MatchRecognize, read: Product, write: Product) -> Iterator[TranslationNote]:
    """Yield notes on the parts of a clause that the written product may lack.

    The product may lack the parts that its documentation rejects. Each kind of part gets one note.
    A part that the product certainly lacks raises an error.

    Args:
        clause: the clause.
        read: the product whose SQL it is.
        write: the product that is written.

    Raises:
        MatchRecognizeUnsupportedError: the product that is written lacks a part of the clause.
    """
    notes_by_name: dict[str, TranslationNote] = {}
    for feature in find_features(clause, read):
        name = feature.name
        # The grammar of all products has shared conditions, so nothing else rejects them in a
        # clause of a product without them.
        if name == "SHARED" and not has_feature(read, name):
            raise _make_limit_error(feature, read)
        if not has_feature(write, name):
            can_be_condition = clause.order_by and not _is_rejected_in_documentation("FIRST", write)
            if name == "WITHIN" and can_be_condition:
                condition = _write_within_as_condition(clause)
                raise product_without_within(feature.span, product=write.title, condition=condition)
            raise _make_limit_error(feature, write)
        if _is_rejected_in_documentation(name, write) and name not in notes_by_name:
            limit = read_limits()[name]
            hint = f": {limit.hint}" if limit.hint else ""
            message = f"{write.title} rejects {limit.words}{hint}"
            notes_by_name[name] = TranslationNote(message, feature.span)
    yield from notes_by_name.values()


def _make_limit_error(feature: Feature, product: Product) -> MatchRecognizeUnsupportedError:
    """Return the error for a part of a clause that a product lacks."""
    limit = read_limits()[feature.name]
    return unsupported_by_product(
        feature.span, product=product.title, what=limit.words, hint=limit.hint
    )


def _write_within_as_condition(clause: MatchRecognize) -> str:
    """Return the condition that each variable would need instead of WITHIN.

    The clause must have WITHIN and ORDER BY.

        ORDER BY ts ... WITHIN INTERVAL '1' HOUR    ts < FIRST(ts) + INTERVAL '1' HOUR
        WITHIN 5 ROWS                               count(*) <= 5
    """
    rows = clause.window_of_rows
    if rows is not None:
        return f"count(*) <= {rows.interval.text}"
    within = clause.within
    assert within is not None, "the window of a match is one of rows or of time"
    order = clause.order_by[0].expression.text
    return f"{order} < FIRST({order}) + {within.interval.text}"


def find_features(clause: MatchRecognize, product: Product) -> Iterator[Feature]:
    """Yield the parts of a clause that some product lacks.

    Args:
        clause: the clause.
        product: the product whose SQL it is, which may have its own names of functions.
    """
    pattern = clause.pattern_span
    options = clause.options_span or pattern
    if clause.output is MatchOutput.LONGEST:
        yield Feature("LONGEST", options)
        yield Feature("LONGEST_BY_OPTION", options)
    elif clause.output or clause.selection:
        yield Feature("SELECTION", options)
    if clause.first_matches is not None:
        yield Feature("FIRST_MATCHES", clause.first_matches.span or pattern)
    for window in clause.windows:
        yield Feature("GAPS" if window.is_gap else "WITHIN", window.span)
        if not window.is_gap and not _INTERVAL.fullmatch(window.interval.text):
            yield Feature("NUMBERS", window.span)
    yield from _find_features_of_keys(clause)
    if clause.subsets:
        yield Feature("SUBSET", clause.subset_span or pattern)
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    for name in _FEATURES_OF_ROWS_PER_MATCH.get(rows_per_match, ()):
        yield Feature(name, clause.span)
    if clause.partial:
        yield Feature("PARTIAL", clause.partial.span or pattern)
    yield from _find_features_of_definitions(clause, product)
    for measure in clause.measures:
        yield from _find_features_of_calls(measure.expression, product)
    skip = clause.after_match
    if skip and skip.to is not SkipTo.PAST_LAST_ROW:
        target = "VARIABLE" if skip.variable else skip.to.name
        yield Feature(f"SKIP_TO_{target}", skip.span or pattern)
    yield from _find_features_of_pattern(clause)


def _find_features_of_keys(clause: MatchRecognize) -> Iterator[Feature]:
    """Yield the keys of PARTITION BY with names, and all keys that are not just a column."""
    for key in clause.partition_by:
        if key.name is not None:
            yield Feature("KEY_NAMES", key.span)
    expressions = [key.expression for key in clause.partition_by]
    expressions += [item.expression for item in clause.order_by]
    for expression in expressions:
        if not _COLUMN.fullmatch(expression.text):
            yield Feature("KEY_EXPRESSIONS", expression.full_span)


def _find_features_of_definitions(clause: MatchRecognize, product: Product) -> Iterator[Feature]:
    """Yield the features that conditions of DEFINE use, and those that DEFINE leaves out."""
    variables = list_variable_names(clause.pattern)
    definitions = clause.definitions
    if not definitions:
        yield Feature("NO_DEFINE", clause.pattern_span)
    # In `A, B AS price > 1` both definitions have the same span.
    if len({definition.expression.full_span for definition in definitions}) < len(definitions):
        yield Feature("SHARED", definitions[0].span)
    if not {definition.name for definition in definitions}.issuperset(variables):
        yield Feature("UNDEFINED", clause.pattern_span)
    names = frozenset((*variables, *(subset.name for subset in clause.subsets)))
    for definition in definitions:
        yield from _find_features_of_condition(definition, names - {definition.name}, product)


def _find_features_of_condition(
    definition: NamedExpression, other_variables: frozenset[str], product: Product
) -> Iterator[Feature]:
    """Yield the features that a condition uses: calls, and columns of other variables.

    Args:
        definition: the definition with the condition.
        other_variables: all variables except the one that is defined.
        product: the product whose SQL it is.
    """
    tokens = definition.expression
    yield from _find_features_of_calls(tokens, product)
    for index, token in enumerate(tokens.tokens):
        if tokens.is_call(index) and token.key in ("FIRST", "CLASSIFIER", "OVER"):
            yield Feature(token.key, token.span)
        elif tokens.key(index + 1) == "." and token.variable in other_variables:
            yield Feature("OTHER_VARIABLES", token.span)


def _find_features_of_calls(tokens: TokenSequence, product: Product) -> Iterator[Feature]:
    """Yield the calls in an expression that some products lack.

    Args:
        tokens: the tokens of the expression.
        product: the product whose SQL it is, in which PREV and NEXT may have other names.
    """
    for index in range(len(tokens)):
        if not tokens.is_call(index):
            continue
        token = tokens[index]
        if token.key == "MATCHED_ROWS":
            yield Feature("MATCHED_ROWS", token.span)
        elif product.pattern_function_names.get(token.key, token.key) in PHYSICAL:
            yield Feature("NEIGHBOURS", token.span)


def _find_features_of_pattern(clause: MatchRecognize) -> Iterator[Feature]:
    """Yield the operators of a row pattern, its repeated variables and its parameters."""
    whole_span = clause.pattern_span
    for node in walk_pattern(clause.pattern):
        span = node.span or whole_span
        operator = type(node).__name__.upper()
        if operator in read_limits():
            yield Feature(operator, span)
        if not isinstance(node, Quantified):
            continue
        if not isinstance(node.part, Variable):
            yield Feature("GROUPS", span)
        if node.most == 0 and not node.has_parameters:
            yield Feature("NO_TIMES", span)
        if not node.greedy:
            yield Feature("RELUCTANT", span)
    for span in find_repeated_variables(clause.pattern):
        yield Feature("REPEATED", span)
    for bound in walk_parameters(clause.pattern):
        yield Feature("BOUND", bound.span or whole_span)
    last = list_top_level_parts(clause.pattern)[-1]
    if isinstance(last, Quantified) and _may_take_another_row(last):
        yield Feature("OPEN_END", last.span or whole_span)


def _may_take_another_row(last: Quantified) -> bool:
    """Return whether the last part of a pattern is `?`, `??`, or greedy with several counts.

    Flink SQL allows none of these at the end of PATTERN.
    """
    return is_optional(last) or (last.greedy and last.least != last.most)


def find_repeated_variables(row_pattern: RowPattern) -> Iterator[Span]:
    """Yield the spans of variables that the pattern has used before."""
    names = set()
    for node in walk_pattern(row_pattern):
        if isinstance(node, Variable) and node.span is not None:
            if node.name in names:
                yield node.span
            names.add(node.name)


def is_optional(part: Quantified) -> bool:
    """Return whether the quantifier is `?` or `??`."""
    return (part.least, part.most) == (0, 1)
