"""Parts of the clause that a product lacks, so that a translation to it is an error or gets a note.

The table is `limits.txt`: each part of the clause, by the name that `find_features` has for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import Product
from matchrec.errors.sql.window import product_without_within, unsupported_by_product
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
from matchrec.syntax.nodes import MatchRecognize, NamedExpression
from matchrec.syntax.row_pattern import list_parameters
from matchrec.syntax.tokens import PHYSICAL, TokenSequence

# A part of a clause: its name in the table, and where it is.
Feature = tuple[str, Span]

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


class LimitedPart(NamedTuple):
    """A part of the clause that some products lack."""

    # How messages call it.
    words: str
    # The names of the products that lack it. A name in parentheses is a product whose documentation
    # rejects the part: the query is written, with a note.
    lacking: list[str]
    # What to write instead; None if there is nothing.
    replacement: str | None = None

    @property
    def hint(self) -> str | None:
        """The sentence that says what to write instead; None if there is nothing."""
        return f"write {self.replacement}" if self.replacement else None


@cache
def read_limits() -> dict[str, LimitedPart]:
    """Return the table, by the names of the parts."""
    rows = read_table("matchrec.dialects", "limits.txt")
    return {
        name: LimitedPart(words, lacking.split(), *replacement)
        for name, words, lacking, *replacement in rows
    }


def is_noted(feature: str, write: Product) -> bool:
    """Return whether a part of the clause is written for a product, but with a note."""
    return f"({write.name})" in read_limits()[feature].lacking


def lacks(feature: str, write: Product) -> bool:
    """Return whether a product does not have a part of the clause."""
    return write.name in read_limits()[feature].lacking


def check_limits(
    clause: MatchRecognize, read: Product, write: Product
) -> Iterator[TranslationNote]:
    """Yield a note on each kind of part that the documentation of a product rejects.

    Args:
        clause: the clause.
        read: the product whose SQL it is.
        write: the product that is written.

    Raises:
        MatchRecognizeUnsupportedError: the product that is written lacks a part of the clause.
    """
    notes: dict[str, TranslationNote] = {}
    for feature, span in find_features(clause, read):
        part = read_limits()[feature]
        if is_noted(feature, write):
            hint = f": {part.hint}" if part.hint else ""
            notes.setdefault(
                feature, TranslationNote(f"{write.title} rejects {part.words}{hint}", span)
            )
        if feature == "SHARED" and lacks(feature, read):
            raise unsupported_by_product(span, product=read.title, what=part.words, hint=part.hint)
        if not lacks(feature, write):
            continue
        if feature == "WITHIN" and clause.order_by and not is_noted("FIRST", write):
            condition = write_within_as_condition(clause)
            raise product_without_within(span, product=write.title, condition=condition)
        raise unsupported_by_product(span, product=write.title, what=part.words, hint=part.hint)
    yield from notes.values()


def write_within_as_condition(clause: MatchRecognize) -> str:
    """Return the condition that each variable would need instead of WITHIN."""
    if rows := clause.window_of_rows:
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
    after_pattern = Span(pattern.end, pattern.end + 1)
    if clause.output is MatchOutput.LONGEST:
        yield "LONGEST", after_pattern
        yield "LONGEST_BY_OPTION", after_pattern
    elif clause.output or clause.selection:
        yield "SELECTION", after_pattern
    if clause.first_matches is not None:
        yield "FIRST_MATCHES", clause.first_matches.span or pattern
    for window in clause.windows:
        yield "GAPS" if window.is_gap else "WITHIN", window.span
        if not window.is_gap and not _INTERVAL.fullmatch(window.interval.text):
            yield "NUMBERS", window.span
    yield from _find_features_of_keys(clause)
    for subset in clause.subsets:
        yield "SUBSET", subset.span or pattern
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    for feature in _FEATURES_OF_ROWS_PER_MATCH.get(rows_per_match, ()):
        yield feature, clause.span
    if clause.partial:
        yield "PARTIAL", clause.partial.span or pattern
    yield from _find_features_of_definitions(clause, product)
    for measure in clause.measures:
        yield from _find_features_of_calls(measure.expression, product)
    skip = clause.after_match
    if skip and skip.to is not SkipTo.PAST_LAST_ROW:
        target = "VARIABLE" if skip.variable else skip.to.name
        yield f"SKIP_TO_{target}", skip.span or pattern
    yield from _find_features_of_pattern(clause)


def _find_features_of_keys(clause: MatchRecognize) -> Iterator[Feature]:
    """Yield names of keys, and keys that are more than a column."""
    for key in clause.partition_by:
        if key.name is not None:
            yield "KEY_NAMES", key.span
    expressions = [key.expression for key in clause.partition_by]
    expressions += [item.expression for item in clause.order_by]
    for expression in expressions:
        if not _COLUMN.fullmatch(expression.text):
            yield "KEY_EXPRESSIONS", expression.full_span


def _find_features_of_definitions(clause: MatchRecognize, product: Product) -> Iterator[Feature]:
    """Yield the features that conditions of DEFINE use, and those that DEFINE leaves out."""
    variables = list_variable_names(clause.pattern)
    definitions = clause.definitions
    if not definitions:
        yield "NO_DEFINE", clause.pattern_span
    # In `A, B AS price > 1` both definitions have the same span.
    if len({definition.expression.full_span for definition in definitions}) < len(definitions):
        yield "SHARED", definitions[0].span
    if not {definition.name for definition in definitions}.issuperset(variables):
        yield "UNDEFINED", clause.pattern_span
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
            yield token.key, token.span
        elif tokens.key(index + 1) == "." and token.variable in other_variables:
            yield "OTHER_VARIABLES", token.span


def _find_features_of_calls(tokens: TokenSequence, product: Product) -> Iterator[Feature]:
    """Yield calls that some products lack. A function may have another name in a product."""
    for index in range(len(tokens)):
        if not tokens.is_call(index):
            continue
        token = tokens[index]
        if token.key == "MATCHED_ROWS":
            yield "MATCHED_ROWS", token.span
        elif product.functions.get(token.key, token.key) in PHYSICAL:
            yield "NEIGHBOURS", token.span


def _find_features_of_pattern(clause: MatchRecognize) -> Iterator[Feature]:
    """Yield the operators of a row pattern, its repeated variables and its parameters."""
    whole_span = clause.pattern_span
    for node in walk_pattern(clause.pattern):
        span = node.span or whole_span
        operator = type(node).__name__.upper()
        if operator in read_limits():
            yield operator, span
        if not isinstance(node, Quantified):
            continue
        if not isinstance(node.part, Variable):
            yield "GROUPS", span
        if node.most == 0 and not node.has_parameters:
            yield "NO_TIMES", span
        if not node.greedy:
            yield "RELUCTANT", span
    for span in find_repeated_variables(clause.pattern):
        yield "REPEATED", span
    for bound in list_parameters(clause.pattern):
        yield "BOUND", bound.span or whole_span
    last = list_top_level_parts(clause.pattern)[-1]
    if isinstance(last, Quantified) and _may_go_on(last):
        yield "OPEN_END", last.span or whole_span


def _may_go_on(last: Quantified) -> bool:
    """Return whether the last part of a pattern may take another row: it is greedy, or `??`."""
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
