"""Find the parts of a clause that some product lacks.

    PATTERN (A {- B -}) SUBSET U = (A, B)      EXCLUSION at `{- B -}`, SUBSET at `SUBSET`

`limits` looks up which products lack a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from matchrec.dialects.products import Product
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import MatchOutput, RowsPerMatch, SkipTo
from matchrec.plan.pattern import Quantified, RowPattern, Variable
from matchrec.source import Span
from matchrec.syntax.function_names import PHYSICAL
from matchrec.syntax.nodes import MatchRecognize, NamedExpression
from matchrec.syntax.parameter_values import walk_parameters
from matchrec.syntax.tokens import TokenSequence


class Feature(Enum):
    """A part of a clause that some product lacks. Its row in `limits.txt` has the same name."""

    # The option LONGEST MATCH, which some products lack.
    LONGEST = auto()
    # The same option after PATTERN: BigQuery writes it at the end of the clause, in OPTIONS (...).
    LONGEST_BY_OPTION = auto()
    # After PATTERN: an event selection strategy, or ALL or NON-OVERLAPPING MATCHES.
    SELECTION = auto()
    FIRST_MATCHES = auto()
    # WITHIN from the first row to the last, and, in addition, if its length is not an INTERVAL.
    WITHIN = auto()
    NUMBERS = auto()
    # WITHIN between neighbouring rows, or between the rows of two variables.
    GAPS = auto()
    # In PARTITION BY and ORDER BY: `key AS name`, and keys that are not just a column.
    KEY_NAMES = auto()
    KEY_EXPRESSIONS = auto()
    SUBSET = auto()
    # The choices of ROWS PER MATCH.
    ALL_ROWS = auto()
    OMIT_EMPTY = auto()
    UNMATCHED = auto()
    # The options SHOW TIMEOUT MATCHES and SHOW UNFINISHED MATCHES.
    PARTIAL = auto()
    SKIP_TO_NEXT_ROW = auto()
    SKIP_TO_VARIABLE = auto()
    # Operators of the row pattern.
    ALTERNATION = auto()
    EXCLUSION = auto()
    NEGATION = auto()
    PARTITION_END = auto()
    PARTITION_START = auto()
    PERMUTATION = auto()
    # A quantifier after something other than a variable.
    GROUPS = auto()
    # The quantifier `{0}` or `{0,0}`.
    NO_TIMES = auto()
    RELUCTANT = auto()
    # A last part to which the row after the match could be added, see `_may_take_another_row`.
    OPEN_END = auto()
    # A variable that is used twice.
    REPEATED = auto()
    # A parameter as the bound of a quantifier.
    BOUND = auto()
    # In conditions and measures: PREV or NEXT, and MATCHED_ROWS.
    NEIGHBOURS = auto()
    MATCHED_ROWS = auto()
    # In conditions of DEFINE only.
    FIRST = auto()
    CLASSIFIER = auto()
    OVER = auto()
    OTHER_VARIABLES = auto()
    # A clause without DEFINE, a variable without a condition, and `A, B AS condition`.
    NO_DEFINE = auto()
    UNDEFINED = auto()
    SHARED = auto()


class FeatureUse(NamedTuple):
    """A part of a clause that some product lacks, and where it is."""

    feature: Feature
    # Where the part is in the text of the clause.
    span: Span


# A name with or without quotes, and a column with its qualifiers.
_NAME = r"""(?:[^\W\d][\w$#]*|"[^"]+"|`[^`]+`|\[[^\]]+\])"""
_COLUMN = re.compile(rf"{_NAME}(?:\.{_NAME})*")

# `INTERVAL '5' MINUTE`, and with several amounts or `DAY TO SECOND`.
_AMOUNT = r"\s+'?\d[\d.:\s]*'?\s*[A-Z]+(?:\s+TO\s+[A-Z]+)?"
_INTERVAL = re.compile(rf"\s*INTERVAL(?:{_AMOUNT})+\s*", re.IGNORECASE)

_FEATURES_OF_ROWS_PER_MATCH = {
    RowsPerMatch.ALL_ROWS_SHOW_EMPTY: (Feature.ALL_ROWS,),
    RowsPerMatch.ALL_ROWS_OMIT_EMPTY: (Feature.ALL_ROWS, Feature.OMIT_EMPTY),
    RowsPerMatch.ALL_ROWS_WITH_UNMATCHED: (Feature.ALL_ROWS, Feature.UNMATCHED),
}

# AFTER MATCH SKIP PAST LAST ROW is in all products.
_FEATURES_OF_SKIP = {
    SkipTo.NEXT_ROW: Feature.SKIP_TO_NEXT_ROW,
    SkipTo.FIRST: Feature.SKIP_TO_VARIABLE,
    SkipTo.LAST: Feature.SKIP_TO_VARIABLE,
}

# The operators of row patterns that some product lacks.
_OPERATORS: dict[type[RowPattern], Feature] = {
    patterns.Alternation: Feature.ALTERNATION,
    patterns.Exclusion: Feature.EXCLUSION,
    patterns.Negation: Feature.NEGATION,
    patterns.PartitionEnd: Feature.PARTITION_END,
    patterns.PartitionStart: Feature.PARTITION_START,
    patterns.Permutation: Feature.PERMUTATION,
}

# The functions and keywords, before a parenthesis, that some product lacks in DEFINE.
_CALLS_IN_CONDITIONS = {
    "CLASSIFIER": Feature.CLASSIFIER,
    "FIRST": Feature.FIRST,
    "OVER": Feature.OVER,
}


def find_features(clause: MatchRecognize, product: Product) -> Iterator[FeatureUse]:
    """Yield the parts of a clause that some product lacks.

    Args:
        clause: the clause.
        product: the product whose SQL it is, which may have its own names of functions.
    """
    pattern = clause.pattern_span
    options = clause.options_span or pattern
    if clause.output is MatchOutput.LONGEST:
        yield FeatureUse(Feature.LONGEST, options)
        yield FeatureUse(Feature.LONGEST_BY_OPTION, options)
    elif clause.output or clause.selection:
        yield FeatureUse(Feature.SELECTION, options)
    if clause.first_matches is not None:
        yield FeatureUse(Feature.FIRST_MATCHES, clause.first_matches.span or pattern)
    for window in clause.windows:
        yield FeatureUse(Feature.GAPS if window.is_gap else Feature.WITHIN, window.span)
        if not window.is_gap and not _INTERVAL.fullmatch(window.interval.text):
            yield FeatureUse(Feature.NUMBERS, window.span)
    yield from _find_features_of_keys(clause)
    if clause.subsets:
        yield FeatureUse(Feature.SUBSET, clause.subset_span or pattern)
    rows_per_match = clause.rows_per_match or RowsPerMatch.ONE_ROW
    for feature in _FEATURES_OF_ROWS_PER_MATCH.get(rows_per_match, ()):
        yield FeatureUse(feature, clause.span)
    if clause.partial:
        yield FeatureUse(Feature.PARTIAL, clause.partial.span or pattern)
    yield from _find_features_of_definitions(clause, product)
    for measure in clause.measures:
        yield from _find_features_of_calls(measure.expression, product)
    skip = clause.after_match
    if skip and skip.to in _FEATURES_OF_SKIP:
        yield FeatureUse(_FEATURES_OF_SKIP[skip.to], skip.span or pattern)
    yield from _find_features_of_pattern(clause)


def _find_features_of_keys(clause: MatchRecognize) -> Iterator[FeatureUse]:
    """Yield the keys of PARTITION BY with names, and all keys that are not just a column."""
    for key in clause.partition_by:
        if key.name is not None:
            yield FeatureUse(Feature.KEY_NAMES, key.span)
    expressions = [key.expression for key in clause.partition_by]
    expressions += [item.expression for item in clause.order_by]
    for expression in expressions:
        if not _COLUMN.fullmatch(expression.text):
            yield FeatureUse(Feature.KEY_EXPRESSIONS, expression.full_span)


def _find_features_of_definitions(clause: MatchRecognize, product: Product) -> Iterator[FeatureUse]:
    """Yield the features that conditions of DEFINE use, and those that DEFINE leaves out."""
    variables = patterns.list_variable_names(clause.pattern)
    definitions = clause.definitions
    if not definitions:
        yield FeatureUse(Feature.NO_DEFINE, clause.pattern_span)
    # In `A, B AS price > 1` both definitions have the same span.
    if len({definition.expression.full_span for definition in definitions}) < len(definitions):
        yield FeatureUse(Feature.SHARED, definitions[0].span)
    if not {definition.name for definition in definitions}.issuperset(variables):
        yield FeatureUse(Feature.UNDEFINED, clause.pattern_span)
    names = frozenset((*variables, *(subset.name for subset in clause.subsets)))
    for definition in definitions:
        yield from _find_features_of_condition(definition, names - {definition.name}, product)


def _find_features_of_condition(
    definition: NamedExpression, other_variables: frozenset[str], product: Product
) -> Iterator[FeatureUse]:
    """Yield the features that a condition uses: calls, and columns of other variables.

    Args:
        definition: the definition with the condition.
        other_variables: all variables except the one that is defined.
        product: the product whose SQL it is.
    """
    tokens = definition.expression
    yield from _find_features_of_calls(tokens, product)
    for index, token in enumerate(tokens.tokens):
        if tokens.is_call(index) and token.key in _CALLS_IN_CONDITIONS:
            yield FeatureUse(_CALLS_IN_CONDITIONS[token.key], token.span)
        elif tokens.key(index + 1) == "." and token.variable in other_variables:
            yield FeatureUse(Feature.OTHER_VARIABLES, token.span)


def _find_features_of_calls(tokens: TokenSequence, product: Product) -> Iterator[FeatureUse]:
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
            yield FeatureUse(Feature.MATCHED_ROWS, token.span)
        elif product.pattern_function_names.get(token.key, token.key) in PHYSICAL:
            yield FeatureUse(Feature.NEIGHBOURS, token.span)


def _find_features_of_pattern(clause: MatchRecognize) -> Iterator[FeatureUse]:
    """Yield the operators of a row pattern, its repeated variables and its parameters."""
    whole_span = clause.pattern_span
    for node in patterns.walk_pattern(clause.pattern):
        span = node.span or whole_span
        if type(node) in _OPERATORS:
            yield FeatureUse(_OPERATORS[type(node)], span)
        if not isinstance(node, Quantified):
            continue
        if not isinstance(node.part, Variable):
            yield FeatureUse(Feature.GROUPS, span)
        if node.most == 0 and not node.has_parameters:
            yield FeatureUse(Feature.NO_TIMES, span)
        if not node.is_greedy:
            yield FeatureUse(Feature.RELUCTANT, span)
    for span in find_repeated_variables(clause.pattern):
        yield FeatureUse(Feature.REPEATED, span)
    for bound in walk_parameters(clause.pattern):
        yield FeatureUse(Feature.BOUND, bound.span or whole_span)
    last = patterns.list_top_level_parts(clause.pattern)[-1]
    if isinstance(last, Quantified) and _may_take_another_row(last):
        yield FeatureUse(Feature.OPEN_END, last.span or whole_span)


def _may_take_another_row(last: Quantified) -> bool:
    """Return whether the last part of a pattern is `?`, `??`, or greedy with several counts.

    Flink SQL allows none of these at the end of PATTERN.
    """
    return is_optional(last) or (last.is_greedy and last.least != last.most)


def find_repeated_variables(row_pattern: RowPattern) -> Iterator[Span]:
    """Yield the spans of variables that the pattern has used before."""
    names = set()
    for node in patterns.walk_pattern(row_pattern):
        if isinstance(node, Variable) and node.span is not None:
            if node.name in names:
                yield node.span
            names.add(node.name)


def is_optional(part: Quantified) -> bool:
    """Return whether the quantifier is `?` or `??`."""
    return (part.least, part.most) == (0, 1)
