"""What one product has added to the clause, and what of it another one lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum

from matchrec.dataclass import dataclass
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.window import not_in
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.products import Addition, Product
from matchrec.frontends.dialects.rules.values import unit_of
from matchrec.frontends.expressions.analysis import ClausePart
from matchrec.frontends.lexing.tokens import SPARK, Token, TokenSequence, pair_brackets, read_tokens
from matchrec.frontends.sql.grammar import ClauseTokens, find_sections
from matchrec.frontends.sql.nodes import ExpressionText, MatchRecognize, SortKey
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

# What of the clause a product does not have, so that a translation to it is refused by name.
#
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
    if clause.within:
        yield Feature.WITHIN, clause.within.span
        if not _INTERVAL.fullmatch(clause.within.text):
            yield Feature.NUMBERS, clause.within.span
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


# What one product has added to the clause or has before it, said in the words of ours.
#
# OPTIONS (use_longest_match = TRUE)    BigQuery     PATTERN (...) LONGEST MATCH
# LIMIT DURATION (minute, 5)            Azure        PATTERN (...) WITHIN INTERVAL 5 MINUTE
# FROM input TIMESTAMP BY time          Azure        FROM input, ORDER BY time

_LONGEST = "USE_LONGEST_MATCH"
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_TRUTH = {"TRUE": True, "FALSE": False}


@dataclass(frozen=True, slots=True)
class Added:
    """Characters that only one product reads, and the words after PATTERN that say the same.

    feature: what they ask for, if anything.
    """

    span: Span
    words: str
    feature: Feature | None

    def edits(self, pattern: Span) -> Iterator[Edit]:
        """Take it out, and say it after the row pattern, which stands at `pattern`."""
        yield Edit(self.span, "")
        if self.words:
            yield Edit(Span(pattern.end, pattern.end), f" {self.words}")


def without_additions(
    clause: ClauseTokens, additions: frozenset[Addition], values: Mapping[str, object]
) -> tuple[ClauseTokens, tuple[Added, ...]]:
    """The tokens of a clause in the grammar of all, and what a product has added to it.

    values: of the query's parameters, as far as they are known.
    """
    found = tuple(_additions(clause, additions, values))
    if not found:
        return clause, ()

    def stays(token: Token) -> bool:
        return not any(one.span.holds(token.span) for one in found)

    tokens = tuple(filter(stays, clause.tokens))
    return replace(clause, tokens=tokens, pairs=pair_brackets(tokens)), found


def _additions(
    clause: ClauseTokens, additions: frozenset[Addition], values: Mapping[str, object]
) -> Iterator[Added]:
    for index in clause.level(0, len(clause)):
        words = clause.key(index), clause.key(index + 1)
        if Addition.LONGEST_MATCH in additions and words == ("OPTIONS", "("):
            yield _options(clause, index, values)
        if Addition.DURATION in additions and words == ("LIMIT", "DURATION"):
            yield _duration(clause, index)


def _options(clause: ClauseTokens, index: int, values: Mapping[str, object]) -> Added:
    closing = _closing(clause, index + 1)
    longest = False
    for start, end in clause.separated(index + 2, closing):
        if start == end:
            continue
        value = _truth(clause, start + 2, end, values)
        if clause.key(start) != _LONGEST or value is None:
            raise errors.unknown_option(clause.span(start, end), _LONGEST.lower())
        longest = value
    span = clause.span(index, closing + 1)
    return Added(span, "LONGEST MATCH", Feature.LONGEST) if longest else Added(span, "", None)


def _truth(clause: ClauseTokens, start: int, end: int, values: Mapping[str, object]) -> bool | None:
    """TRUE, FALSE or the value of a parameter `@name`, None for all else."""
    if end - start == 1:
        return _TRUTH.get(clause.key(start))
    is_parameter = end - start == 2 and clause.key(start) == "@"
    value = values.get(clause[end - 1].text) if is_parameter else None
    return value if isinstance(value, bool) else None


def _duration(clause: ClauseTokens, index: int) -> Added:
    closing = _closing(clause, index + 2)
    parts = clause.separated(index + 3, closing)
    if len(parts) != 2 or any(start == end for start, end in parts):
        raise errors.malformed_duration(clause.span(index, closing + 1))
    unit, amount = (clause.text_at(clause.span(*part)) for part in parts)
    if not amount.isdigit() or not int(amount) or unit_of(unit) not in _UNITS:
        raise errors.malformed_duration(clause.span(index, closing + 1))
    words = f"WITHIN INTERVAL '{amount}' {unit_of(unit)}"
    return Added(clause.span(index, closing + 1), words, Feature.WITHIN)


def option_edits(clause: ClauseTokens, pattern: Span) -> Iterator[Edit]:
    """LONGEST MATCH after PATTERN, which stands at `pattern`, as an option of the clause."""
    for index in clause.level(0, len(clause)):
        words = clause.key(index), clause.key(index + 1)
        if clause[index].span.start > pattern.end and words == ("LONGEST", "MATCH"):
            end = clause[len(clause) - 1].span.end
            yield Edit(clause.span(index, index + 2), "")
            yield Edit(Span(end, end), f" OPTIONS ({_LONGEST.lower()} = TRUE)")
            return


def _closing(clause: ClauseTokens, opening: int) -> int:
    if opening not in clause.pairs:
        raise errors.malformed_duration(clause.span(opening - 2, opening))
    return clause.pairs[opening]


@dataclass(frozen=True, slots=True)
class EventTime:
    """What stands after a relation. span: all of it. keys: each has a time of its own."""

    span: Span
    time: ExpressionText
    keys: tuple[ExpressionText, ...] = ()


def find_event_time(tokens: TokenSequence, start: int, end: int) -> EventTime | None:
    """TIMESTAMP BY among the tokens of a relation."""

    def expression(first: int, after: int) -> ExpressionText:
        span = tokens.span(first, after)
        return ExpressionText(tokens.text_at(span), span)

    for index in tokens.level(start, end):
        if tokens.says(index, "PARTITION", "BY"):
            raise errors.divided_input(tokens.span(index, index + 2))
    for index in tokens.level(start, end):
        if tokens.says(index, "TIMESTAMP", "BY"):
            first = index + 2
            over = (at for at in tokens.level(first, end) if tokens.key(at) == "OVER")
            last = next(over, end)
            if first < last:
                keys = tokens.separated(last + 1, end) if last < end else ()
                parts = tuple(expression(*key) for key in keys if key[0] < key[1])
                return EventTime(tokens.span(index, end), expression(first, last), parts)
    return None


def before_keys(tokens: TokenSequence, start: int) -> int:
    """Where a relation starts that was taken for one after the comma of `OVER x, y`."""
    before = tuple(tokens.level(tokens.around[start] + 1, start))
    words = [index for index in before if tokens.key(index) in ("FROM", "JOIN", "OVER")]
    if tokens.key(start - 1) != "," or not words or tokens.key(words[-1]) != "OVER":
        return start
    ends = [at + 1 for at in before if at < words[-1] and tokens.key(at) in ("FROM", "JOIN", ",")]
    return ends[-1] if ends else start


def ordered_by(clause: MatchRecognize, time: EventTime) -> MatchRecognize:
    """The clause as it will be: its order is that of the time."""
    return replace(clause, order_by=(SortKey(time.time, span=time.time.span),))


def check_keys(clause: MatchRecognize, time: EventTime) -> None:
    """Raises an error for a key of OVER that does not divide the rows."""
    partitions = {key.expression.text.upper() for key in clause.partition_by}
    for key in time.keys:
        if key.text.upper() not in partitions:
            raise errors.own_time(key.text, key.span)


def order_edit(tokens: ClauseTokens, time: str) -> Edit:
    """ORDER BY the time, after PARTITION BY. time: in the other product's SQL."""
    sections = find_sections(tokens).values()
    later = [one.keyword.start for one in sections if one.part is not ClausePart.PARTITION_BY]
    return Edit(Span(min(later), min(later)), f"ORDER BY {time}\n")


def check_times(tokens: TokenSequence, wholes: Collection[Span]) -> None:
    """Raises an error for TIMESTAMP BY that no clause follows. wholes: relations with clauses."""
    for index in range(len(tokens)):
        if not tokens.says(index, "TIMESTAMP", "BY"):
            continue
        span = tokens.span(index, index + 2)
        holding = (one for one in wholes if one.holds(span))
        levels = {tokens.around[tokens.index_at[one.start]] for one in holding}
        if tokens.around[index] not in levels:
            raise errors.time_of_step(span)
