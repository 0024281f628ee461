"""What of the clause a product lacks, so that a translation to it is refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from matchrec.errors.sql.window import not_in
from matchrec.frontends.dialects.products import Product
from matchrec.frontends.lexing.tokens import SPARK, read_tokens
from matchrec.frontends.sql.nodes import ExpressionText, MatchRecognize
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

# Sources: the products' references of the clause; Flink's page has its "Known limitations".


class Feature(Enum):
    """A part of the clause; the value names it in messages."""

    SELECTION = "event selection: SKIP TILL NEXT MATCH, ALL MATCHES and the like"
    LONGEST = "LONGEST MATCH"
    NEGATION = "NOT in PATTERN"
    WITHIN = "WITHIN"
    NUMBERS = "WITHIN of a number or an expression, only of an interval: WITHIN INTERVAL '4' SECOND"
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
_AMOUNT = r"\s+'?\d[\d.:\s]*'?\s*[A-Z]+(?:\s+TO\s+[A-Z]+)?"
_INTERVAL = re.compile(rf"\s*INTERVAL(?:{_AMOUNT})+\s*", re.IGNORECASE)
_COLUMN = re.compile(rf"{_PART}(?:\.{_PART})*")
_OURS = "SELECTION LONGEST NEGATION WITHIN GAPS KEY_NAMES PARTIAL MATCHED_ROWS"
_LACKING = {
    "spark": "",
    "standard": _OURS,
    "oracle": f"{_OURS} KEY_EXPRESSIONS",
    "trino": f"{_OURS} KEY_EXPRESSIONS",
    "snowflake": f"{_OURS} SUBSET",
    "databricks": f"""
        {_OURS} SUBSET OMIT_EMPTY UNMATCHED SKIP_TO_NEXT_ROW SKIP_TO_VARIABLE EXCLUSION RELUCTANT
        """,
    "bigquery": """
        SELECTION MATCHED_ROWS NEGATION WITHIN GAPS SUBSET ALL_ROWS OMIT_EMPTY UNMATCHED PARTIAL
        SKIP_TO_VARIABLE PERMUTE EXCLUSION
        """,
    "flink": """
        SELECTION MATCHED_ROWS LONGEST GAPS NUMBERS NEGATION KEY_NAMES SUBSET ALL_ROWS OMIT_EMPTY
        UNMATCHED PARTIAL PERMUTE EXCLUSION ANCHORS ALTERNATION GROUPS RELUCTANT_OPTION OPEN_END
        REPEATED NEIGHBOURS
        """,
}
"""The features that a product lacks."""


def check_limits(
    clause: MatchRecognize, product: Product, added: Iterable[tuple[Feature, Span]] = ()
) -> None:
    """Raises MatchRecognizeUnsupportedError for a part that the product does not have.

    added: parts that the clause has in words of another product.
    """
    lacking = _LACKING[product.name].split()
    for feature, span in (*features(clause), *added):
        if feature.name in lacking:
            raise not_in(product.title, feature.value, span)


def features(clause: MatchRecognize) -> Iterator[tuple[Feature, Span]]:
    """The parts that a clause has, and where."""
    pattern = clause.pattern_span
    if clause.output is MatchOutput.LONGEST:
        yield Feature.LONGEST, Span(pattern.end, pattern.end + 1)
    elif clause.output or clause.selection not in (None, EventSelection.STRICT_CONTIGUITY):
        yield Feature.SELECTION, Span(pattern.end, pattern.end + 1)
    for window in clause.windows:
        yield Feature.GAPS if window.is_gap else Feature.WITHIN, window.span
        if not (window.is_gap or _INTERVAL.fullmatch(window.interval.text)):
            yield Feature.NUMBERS, window.span
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
        for name, span in _calls(measure.expression):
            if name == "MATCHED_ROWS":
                yield Feature.MATCHED_ROWS, span
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
        for name, span in _calls(node):
            if product.functions.get(name, name) in ("PREV", "NEXT"):
                yield Feature.NEIGHBOURS, span


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


def _calls(expression: ExpressionText) -> Iterator[tuple[str, Span]]:
    """The names of the functions that are called, and where."""
    tokens = read_tokens(expression.text, SPARK, expression.span.start)
    for index, token in enumerate(tokens.tokens):
        if tokens.is_call(index):
            yield token.key, token.span


def _of_rows(rows: RowsPerMatch | None) -> Iterator[Feature]:
    if rows not in (None, RowsPerMatch.ONE_ROW):
        yield Feature.ALL_ROWS
    if rows is RowsPerMatch.ALL_ROWS_OMIT_EMPTY:
        yield Feature.OMIT_EMPTY
    if rows is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        yield Feature.UNMATCHED
