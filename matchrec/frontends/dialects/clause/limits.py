"""What of the clause a product does not have, so that a translation to it is refused by name.

Sources: the products' references of the clause; Flink's page has its "Known limitations".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from matchrec.errors.sql.dialects import not_in
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.lexing.dialect import SPARK
from matchrec.frontends.lexing.token_sequence import read_tokens
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize
from matchrec.plan.clauses import EventSelection, MatchOutput, RowsPerMatch, SkipTo
from matchrec.plan.pattern import (
    Alternation,
    Exclusion,
    Negation,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    top,
    walk,
)
from matchrec.source import Span


class Feature(Enum):
    """A part of the clause; the value names it in messages."""

    SELECTION = "event selection: SKIP TILL NEXT MATCH, ALL MATCHES and the like"
    LONGEST = "LONGEST MATCH"
    NEGATION = "NOT in PATTERN"
    WITHIN = "WITHIN"
    GAPS = "WITHIN between rows or variables"
    KEY_NAMES = "names in PARTITION BY"
    KEY_EXPRESSIONS = "expressions in PARTITION BY and ORDER BY, only columns"
    SUBSET = "SUBSET"
    ALL_ROWS = "ALL ROWS PER MATCH"
    OMIT_EMPTY = "OMIT EMPTY MATCHES"
    UNMATCHED = "WITH UNMATCHED ROWS"
    PARTIAL = "SHOW TIMEOUT MATCHES and SHOW UNFINISHED MATCHES"
    SKIP_TO_NEXT_ROW = "AFTER MATCH SKIP TO NEXT ROW"
    SKIP_TO_VARIABLE = "AFTER MATCH SKIP TO a variable"
    PERMUTE = "PERMUTE"
    EXCLUSION = "exclusion `{- -}`"
    ANCHORS = "anchors `^` and `$`"
    ALTERNATION = "alternatives `|`"
    GROUPS = "quantified groups"
    RELUCTANT = "reluctant quantifiers"
    RELUCTANT_OPTION = "quantifier `??`"
    OPEN_END = "greedy quantifier at the end of PATTERN"
    REPEATED = "repeated variables in PATTERN"
    NEIGHBOURS = "PREV and NEXT"
    MATCHED_ROWS = "MATCHED_ROWS"


_PART = r"""(?:[^\W\d][\w$#]*|"[^"]+"|`[^`]+`|\[[^\]]+\])"""
_COLUMN = re.compile(rf"{_PART}(?:\.{_PART})*")
_OURS = {
    Feature.SELECTION,
    Feature.LONGEST,
    Feature.NEGATION,
    Feature.WITHIN,
    Feature.GAPS,
    Feature.KEY_NAMES,
    Feature.PARTIAL,
    Feature.MATCHED_ROWS,
}
_LACKING = {
    "spark": frozenset[Feature](),
    "standard": frozenset(_OURS),
    "oracle": frozenset(_OURS | {Feature.KEY_EXPRESSIONS}),
    "trino": frozenset(_OURS | {Feature.KEY_EXPRESSIONS}),
    "snowflake": frozenset(_OURS | {Feature.SUBSET}),
    "databricks": frozenset(
        _OURS
        | {
            Feature.SUBSET,
            Feature.OMIT_EMPTY,
            Feature.UNMATCHED,
            Feature.SKIP_TO_NEXT_ROW,
            Feature.SKIP_TO_VARIABLE,
            Feature.EXCLUSION,
            Feature.RELUCTANT,
        }
    ),
    "bigquery": frozenset(
        {
            Feature.SELECTION,
            Feature.MATCHED_ROWS,
            Feature.NEGATION,
            Feature.WITHIN,
            Feature.GAPS,
            Feature.SUBSET,
            Feature.ALL_ROWS,
            Feature.OMIT_EMPTY,
            Feature.UNMATCHED,
            Feature.PARTIAL,
            Feature.SKIP_TO_VARIABLE,
            Feature.PERMUTE,
            Feature.EXCLUSION,
        }
    ),
    "flink": frozenset(
        {
            Feature.SELECTION,
            Feature.MATCHED_ROWS,
            Feature.LONGEST,
            Feature.GAPS,
            Feature.NEGATION,
            Feature.KEY_NAMES,
            Feature.SUBSET,
            Feature.ALL_ROWS,
            Feature.OMIT_EMPTY,
            Feature.UNMATCHED,
            Feature.PARTIAL,
            Feature.PERMUTE,
            Feature.EXCLUSION,
            Feature.ANCHORS,
            Feature.ALTERNATION,
            Feature.GROUPS,
            Feature.RELUCTANT_OPTION,
            Feature.OPEN_END,
            Feature.REPEATED,
            Feature.NEIGHBOURS,
        }
    ),
}


def check_limits(
    clause: MatchRecognize, product: Product, added: Iterable[tuple[Feature, Span]] = ()
) -> None:
    """Raises MatchRecognizeUnsupportedError for a part that the product does not have.

    added: parts that the clause has in words of another product.
    """
    lacking = _LACKING[product.name]
    for feature, span in (*features(clause), *added):
        if feature in lacking:
            raise not_in(product.title, feature.value, span)


def features(clause: MatchRecognize) -> Iterator[tuple[Feature, Span]]:
    """The parts that a clause has, and where."""
    pattern = clause.pattern_span
    if clause.output is MatchOutput.LONGEST:
        yield Feature.LONGEST, Span(pattern.end, pattern.end + 1)
    elif clause.output or clause.selection not in (None, EventSelection.STRICT_CONTIGUITY):
        yield Feature.SELECTION, Span(pattern.end, pattern.end + 1)
    if clause.within:
        yield Feature.WITHIN, clause.within.span
    yield from ((Feature.GAPS, gap.span) for gap in clause.gaps)
    for key in clause.partition_by:
        if key.name is not None:
            yield Feature.KEY_NAMES, key.span
    keys = [one.expression for one in clause.partition_by]
    keys += [one.expression for one in clause.order_by]
    computed = (one for one in keys if not _COLUMN.fullmatch(one.text))
    yield from ((Feature.KEY_EXPRESSIONS, one.span) for one in computed)
    for subset in clause.subsets:
        yield Feature.SUBSET, subset.span or pattern
    yield from ((feature, clause.span) for feature in _of_rows(clause.rows_per_match))
    if clause.partial:
        yield Feature.PARTIAL, clause.partial.span or pattern
    for measure in clause.measures:
        yield from ((Feature.MATCHED_ROWS, span) for span in _matched_rows(measure.expression))
    skip = clause.after_match
    if skip and skip.to is not SkipTo.PAST_LAST_ROW:
        to_next = skip.to is SkipTo.NEXT_ROW
        feature = Feature.SKIP_TO_NEXT_ROW if to_next else Feature.SKIP_TO_VARIABLE
        yield feature, skip.span or pattern
    yield from _of_pattern(clause.pattern, pattern)
    yield from ((Feature.REPEATED, span) for span in repeated_variables(clause.pattern))
    last = top(clause.pattern)[-1]
    if isinstance(last, Quantified) and last.greedy and last.least != last.most:
        yield Feature.OPEN_END, last.span or pattern


def repeated_variables(row_pattern: RowPattern) -> Iterator[Span]:
    """Where a variable stands that has stood before."""
    seen = set()
    for node in walk(row_pattern):
        if isinstance(node, Variable) and node.span is not None:
            if node.name in seen:
                yield node.span
            seen.add(node.name)


def neighbours(clause: MatchRecognize, product: Product) -> Iterator[tuple[Feature, Span]]:
    """Where a clause of a product calls PREV or NEXT, by whatever name."""
    conditions = (one.condition for one in clause.definitions)
    for node in (*conditions, *(one.expression for one in clause.measures)):
        tokens = read_tokens(node.text, SPARK, node.span.start)
        for index, token in enumerate(tokens.tokens):
            name = product.functions.get(token.key, token.key)
            if name in ("PREV", "NEXT") and tokens.is_call(index):
                yield Feature.NEIGHBOURS, token.span


def _of_pattern(row_pattern: RowPattern, pattern: Span) -> Iterator[tuple[Feature, Span]]:
    """The parts that a row pattern has. pattern: where it stands."""
    for node in walk(row_pattern):
        match node:
            case Permutation(span=span):
                yield Feature.PERMUTE, span or pattern
            case Exclusion(span=span):
                yield Feature.EXCLUSION, span or pattern
            case Negation(span=span):
                yield Feature.NEGATION, span or pattern
            case PartitionStart() | PartitionEnd():
                yield Feature.ANCHORS, pattern
            case Alternation():
                yield Feature.ALTERNATION, pattern
            case Quantified(part=part, greedy=greedy, span=span):
                if not isinstance(part, Variable):
                    yield Feature.GROUPS, span or pattern
                if not greedy:
                    yield Feature.RELUCTANT, span or pattern
                if not greedy and (node.least, node.most) == (0, 1):
                    yield Feature.RELUCTANT_OPTION, span or pattern


def _matched_rows(measure: ExpressionText) -> Iterator[Span]:
    """Where MATCHED_ROWS is called."""
    tokens = read_tokens(measure.text, SPARK, measure.span.start)
    for index, token in enumerate(tokens.tokens):
        if token.key == "MATCHED_ROWS" and tokens.is_call(index):
            yield token.span


def _of_rows(rows: RowsPerMatch | None) -> Iterator[Feature]:
    if rows not in (None, RowsPerMatch.ONE_ROW):
        yield Feature.ALL_ROWS
    if rows is RowsPerMatch.ALL_ROWS_OMIT_EMPTY:
        yield Feature.OMIT_EMPTY
    if rows is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        yield Feature.UNMATCHED
