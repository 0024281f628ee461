"""The reference matcher: every word of a row pattern, in preferment order. Slow and obvious.

It shares with matchrec the nodes of row patterns and of run conditions, and nothing else: no
automaton, no closure, no registers. A word is a tuple of (variable, excluded), one for each row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from matchrec.conditions.run_condition import (
    Aggregated,
    Arithmetic,
    ArithmeticOperator,
    Basic,
    Comparison,
    Constant,
    Operate,
    ReadClassifier,
    ReadValue,
    Reduce,
    Reduction,
    RunExpression,
    TriedMatchNumber,
)
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    Negation,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)
from tests.references.aggregates import AGGREGATES

Word = tuple[tuple[str, bool], ...]
# number of the match, first row, variables up to the candidate row
May = Callable[[int, int, tuple[str, ...]], bool]


@dataclass(frozen=True)
class Found:
    """One match of one partition."""

    number: int
    start: int
    word: Word


class Failure(Exception):  # noqa: N818
    """A search that its rows end: `kind` is the name of a message in `errors.run.failures`."""

    def __init__(self, kind: str, row: int) -> None:
        super().__init__(kind, row)
        self.kind, self.row = kind, row


@dataclass(frozen=True)
class Words:
    """The words of a row pattern that the rows from `start` on allow to match `number`.

    satisfies: as `may`, of a row that must not be there, in the window or not.
    """

    rows: int
    start: int
    may: May
    number: int = 1
    satisfies: May | None = None

    def of(self, node: RowPattern, word: Word) -> Iterator[Word]:
        """`word` followed by each word of `node`, preferred ones first."""
        match node:
            case Empty():
                yield word
            case PartitionStart():
                if self.start + len(word) == 0:
                    yield word
            case PartitionEnd():
                if self.start + len(word) == self.rows:
                    yield word
            case Negation(names):
                if not any(self.is_one(name, word) for name in names):
                    yield word
            case Variable(name):
                variables = (*(variable for variable, _ in word), name)
                there = self.start + len(word) < self.rows
                if there and self.may(self.number, self.start, variables):
                    yield (*word, (name, False))
            case Concatenation(parts):
                yield from self.in_a_row(parts, word)
            case Alternation(parts):
                for part in parts:
                    yield from self.of(part, word)
            case Permutation(parts):
                for order in itertools.permutations(parts):
                    yield from self.in_a_row(order, word)
            case Exclusion(part):
                for longer in self.of(part, word):
                    new = longer[len(word) :]
                    yield word + tuple((variable, True) for variable, _ in new)
            case Quantified():
                yield from self.iterations(node, word, 1)

    def is_one(self, name: str, word: Word) -> bool:
        """Whether the next row, if there is one, could be mapped to a variable."""
        assert self.satisfies is not None
        variables = (*(variable for variable, _ in word), name)
        is_there = self.start + len(word) < self.rows
        return is_there and self.satisfies(self.number, self.start, variables)

    def in_a_row(self, parts: Sequence[RowPattern], word: Word) -> Iterator[Word]:
        if not parts:
            yield word
            return
        for longer in self.of(parts[0], word):
            yield from self.in_a_row(parts[1:], longer)

    def iterations(self, node: Quantified, word: Word, number: int) -> Iterator[Word]:
        """Iteration `number` and those after it, or stopping before it."""
        if number <= node.least:
            yield from self.iterate(node, word, number)
        elif node.most is not None and number > node.most:
            yield word
        elif node.greedy:
            yield from self.iterate(node, word, number)
            yield word
        else:
            yield word
            yield from self.iterate(node, word, number)

    def iterate(self, node: Quantified, word: Word, number: int) -> Iterator[Word]:
        """An empty iteration is followed by another one only below the least number."""
        for longer in self.of(node.part, word):
            if longer == word and number >= node.least:
                yield longer
            else:
                yield from self.iterations(node, longer, number + 1)


def find_all(
    pattern: RowPattern,
    rows: int,
    may: May,
    after_match: AfterMatchSkip,
    members: dict[str, frozenset[str]],
    longest: bool = False,
    satisfies: May | None = None,
) -> Iterator[Found]:
    """The matches of one partition. members: primary variables by name. Raises Failure.

    longest: of all words of a starting row the one with the most rows, the first of several.
    satisfies: see `Words`.
    """
    start, number = 0, 0
    while start < rows:
        all_words = Words(rows, start, may, number + 1, satisfies).of(pattern, ())
        word = max(all_words, key=len, default=None) if longest else next(all_words, None)
        if word is None:
            start += 1
            continue
        number += 1
        yield Found(number, start, word)
        mapped = tuple((start + i, variable) for i, (variable, _) in enumerate(word))
        start = next_start(mapped, start, after_match, members)


def next_start(
    mapped: tuple[tuple[int, str], ...],
    start: int,
    after_match: AfterMatchSkip,
    members: dict[str, frozenset[str]],
) -> int:
    """Where the next search begins after a match at `start`, given as (row, variable)."""
    if not mapped or after_match.to is SkipTo.NEXT_ROW:
        return start + 1
    if after_match.to is SkipTo.PAST_LAST_ROW:
        return mapped[-1][0] + 1
    assert after_match.variable is not None
    wanted = members[after_match.variable]
    rows = [row for row, variable in mapped if variable in wanted]
    if not rows:
        raise Failure("skip_to_no_row", start)
    row = rows[0] if after_match.to is SkipTo.FIRST else rows[-1]
    if row == start:
        raise Failure("skip_to_first_row", start)
    return row


Value = int | float | None


@dataclass(frozen=True)
class Candidate:
    """The row that a condition is about, and the rows mapped to variables that it may read.

    row: None for a condition about the mapped rows as a whole. Where the row is about to be mapped
    itself, it is the last of `rows`. columns: by kind, rows of values, None for NULL, of the
    partition. names: variables by id. number: of the match that is tried.
    """

    row: int | None
    rows: tuple[int, ...]
    variables: tuple[str, ...]
    columns: dict[Kind, list[list[Value]]]
    names: tuple[str, ...]
    members: dict[str, frozenset[str]] = field(default_factory=dict)
    number: int = 0

    def value(self, expression: RunExpression) -> Value:
        """What the condition's node is worth; truth values are 0, 1 and None."""
        match expression:
            case Constant(value):
                return value
            case ReadValue(column, kind, None):
                return self.columns[kind][column][self.row]
            case ReadValue(column, kind, navigation):
                row = self.find(navigation)
                values = self.columns[kind][column]
                return values[row] if row is not None and 0 <= row < len(values) else None
            case ReadClassifier(navigation):
                row = self.find(navigation)
                mapped = dict(zip(self.rows, self.variables, strict=True))
                return self.names.index(mapped[row]) if row in mapped else None
            case TriedMatchNumber():
                return self.number
            case Reduce():
                return self.reduce(expression)
            case Aggregated():
                return self.aggregate(expression)
            case Operate(Comparison() as comparison, (left, right)):
                return compared(comparison, self.value(left), self.value(right))
            case Arithmetic():
                return self.calculate(expression)
            case Operate(Basic.WIDEN, (value,)):
                narrow = self.value(value)
                return None if narrow is None else float(narrow)
            case Operate(Basic.NARROW, (value,)):
                wide = self.value(value)
                return None if wide is None else to_single(wide)
            case Operate(Basic.AND, parts):
                return self.connect(parts, 0)
            case Operate(Basic.OR, parts):
                return self.connect(parts, 1)
            case Operate(Basic.NOT, (part,)):
                truth = self.value(part)
                return None if truth is None else 1 - truth
            case Operate(Basic.IS_NULL, (part,)):
                return int(self.value(part) is None)
            case Operate(Basic.CHOOSE, (condition, then, otherwise)):
                return self.value(then if self.value(condition) else otherwise)

    def connect(self, parts: tuple[RunExpression, ...], decisive: int) -> Value:
        unknown = False
        for part in parts:
            truth = self.value(part)
            if truth == decisive:
                return decisive
            unknown = unknown or truth is None
        return None if unknown else 1 - decisive

    def mapped(self, variable: str | None) -> list[int]:
        wanted = set(self.names) if variable is None else self.members[variable]
        return [row for row, name in zip(self.rows, self.variables, strict=True) if name in wanted]

    def find(self, navigation: Navigation) -> int | None:
        rows = self.mapped(navigation.variable)
        if navigation.end is End.LAST:
            rows.reverse()
        if navigation.logical_offset >= len(rows):
            return None
        return rows[navigation.logical_offset] + navigation.physical_offset

    def reduce(self, expression: Reduce) -> Value:
        rows = self.mapped(expression.variable)
        if expression.so_far:
            rows = [row for row in rows if row != self.row]
        if expression.column is None:
            return len(rows)
        column = self.columns[expression.kind][expression.column]
        values = [column[row] for row in rows if column[row] is not None]
        if expression.function is Reduction.COUNT:
            return len(values)
        if not values:
            return None
        if expression.function is Reduction.MIN:
            return min(values, key=lambda value: (math.isnan(value), value))
        if expression.function is Reduction.MAX:
            return max(values, key=lambda value: (math.isnan(value), value))
        total = values[0]
        for value in values[1:]:
            total += value
            if expression.kind is Kind.INTEGER and wrapped(total, 64) != total:
                raise Failure("overflow_in_condition", self.row)
        return total if expression.function is Reduction.SUM else total / len(values)

    def aggregate(self, expression: Aggregated) -> Value:
        """An aggregate of a list, of which each row's variable says what it adds."""
        wanted = set(self.mapped(expression.variable))
        rows = []
        for row, name in zip(self.rows, self.variables, strict=True):
            if row not in wanted or (expression.so_far and row == self.row):
                continue
            added = expression.columns[self.names.index(name)]
            reads = (one.expression for one in added)
            counts, *values = (
                self.columns[read.kind][read.column][row]
                for read in reads
                if isinstance(read, ReadValue)
            )
            if counts:
                rows.append(tuple(values))
        return AGGREGATES[expression.name](rows, expression.use.distinct)

    def calculate(self, expression: Arithmetic) -> Value:
        left, right = map(self.value, expression.parts)
        if left is None or right is None:
            return None
        divides = expression.operator in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER)
        if divides and right == 0:
            if expression.ansi and not expression.tries:
                raise Failure("division_by_zero", self.row)
            return None
        match expression.operator:
            case ArithmeticOperator.ADD:
                result = left + right
            case ArithmeticOperator.SUBTRACT:
                result = left - right
            case ArithmeticOperator.MULTIPLY:
                result = left * right
            case ArithmeticOperator.DIVIDE if expression.kind is Kind.INTEGER:
                result = rounded_quotient(left, right)
            case ArithmeticOperator.DIVIDE:
                result = left / right
            case ArithmeticOperator.REMAINDER if expression.kind is Kind.INTEGER:
                result = abs(left) % abs(right) * (1 if left >= 0 else -1)
            case ArithmeticOperator.REMAINDER:
                result = math.nan if math.isinf(left) else math.fmod(left, right)
        if expression.kind is Kind.FLOATING:
            return result
        fitting = wrapped(result, expression.bits)
        if fitting == result or not (expression.ansi or expression.tries):
            return fitting
        if expression.tries:
            return None
        raise Failure("overflow_in_condition", self.row)


def rounded_quotient(left: int, right: int) -> int:
    """The quotient of whole numbers, rounded half away from zero."""
    size = (2 * abs(left) + abs(right)) // (2 * abs(right))
    return size if (left < 0) == (right < 0) else -size


def wrapped(value: int, bits: int) -> int:
    """The lowest bits of a number, of which the highest is the sign."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def to_single(value: int | float) -> float:
    """The float of 32 bits that is nearest."""
    return float(np.asarray(value).astype(np.float32))


def compared(comparison: Comparison, left: Value, right: Value) -> Value:
    if comparison is Comparison.NULL_SAFE_EQUAL and (left is None or right is None):
        return int(left is right)
    if left is None or right is None:
        return None
    before, after = ((math.isnan(v), 0 if math.isnan(v) else v) for v in (left, right))
    match comparison:
        case Comparison.EQUAL | Comparison.NULL_SAFE_EQUAL:
            return int(before == after)
        case Comparison.NOT_EQUAL:
            return int(before != after)
        case Comparison.LESS:
            return int(before < after)
        case Comparison.LESS_OR_EQUAL:
            return int(before <= after)
        case Comparison.GREATER:
            return int(before > after)
        case Comparison.GREATER_OR_EQUAL:
            return int(before >= after)
