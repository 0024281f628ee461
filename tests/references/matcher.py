"""The reference matcher: enumerate every word of a row pattern, in preferment order.

It is slow and obvious. From matchrec it uses only the trees that row patterns and conditions are
written in. It has no automaton, no closure and no registers.

1. `WordSearch.list_words` lists the words that a row pattern allows from one starting row,
   preferred ones first. Over four rows `A B* C` has the words `A B B C`, `A B C` and `A C`; those
   whose rows satisfy the conditions are listed.
2. The first word is the match. `find_all` repeats this from row to row, and applies AFTER MATCH
   SKIP.
3. `ConditionContext.compute` computes a condition for one row and the rows mapped before it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    OnFailure,
    PythonAggregate,
    ReadClassifier,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    RunOperation,
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


class MappedVariable(NamedTuple):
    """The variable to which a row of a word is mapped."""

    name: str
    is_excluded: bool  # whether the variable is in an exclusion


# The variables of consecutive rows, in the order of the rows.
Word = tuple[MappedVariable, ...]

# Returns whether the last row of a run may be mapped to its variable. The arguments are the number
# that the match would have, its starting row, and the variables of all its rows so far, the last
# row included.
CanMap = Callable[[int, int, tuple[str, ...]], bool]


@dataclass(frozen=True)
class Match:
    """A match in a partition."""

    # MATCH_NUMBER, from 1.
    number: int
    # The position of the starting row, from 0.
    start: int
    # The variables of its rows; empty for an empty match.
    word: Word

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables of its rows."""
        return list_variables(self.word)


class Failure(Exception):  # noqa: N818
    """An error that the rows cause while they are searched."""

    def __init__(self, kind: str, row: int) -> None:
        """Make the error.

        Args:
            kind: the name of a message in `errors.run.failures`.
            row: the position of the row that causes it.
        """
        super().__init__(kind, row)
        self.kind = kind
        self.row = row


@dataclass(frozen=True)
class WordSearch:
    """A search for the words of a row pattern that the rows from a starting row on allow."""

    # The number of rows of the partition.
    row_count: int
    # The starting row.
    start: int
    can_map: CanMap
    # The number that the match would have.
    number: int = 1
    # For `NOT A`: returns whether a row satisfies the condition of A. Unlike `can_map`, it does not
    # check whether the row is in the window of the match. None if the pattern has no NOT.
    satisfies: CanMap | None = None

    def list_words(self, pattern: RowPattern) -> Iterator[Word]:
        """Yield the words of a row pattern, preferred ones first."""
        return self.extend(pattern, ())

    def extend(self, node: RowPattern, word: Word) -> Iterator[Word]:
        """Yield `word` followed by each word of `node`, preferred ones first."""
        match node:
            case Empty():
                yield word
            case PartitionStart():
                if self.start + len(word) == 0:
                    yield word
            case PartitionEnd():
                if self.start + len(word) == self.row_count:
                    yield word
            case Negation(names):
                if not any(self.is_next(name, word) for name in names):
                    yield word
            case Variable(name):
                if self.has_next_row(word):
                    variables = (*list_variables(word), name)
                    if self.can_map(self.number, self.start, variables):
                        yield (*word, MappedVariable(name, is_excluded=False))
            case Concatenation(parts):
                yield from self.concatenate(parts, word)
            case Alternation(parts):
                for part in parts:
                    yield from self.extend(part, word)
            case Permutation(parts):
                for order in itertools.permutations(parts):
                    yield from self.concatenate(order, word)
            case Exclusion(part):
                for longer_word in self.extend(part, word):
                    excluded = [
                        MappedVariable(name, is_excluded=True)
                        for name, _ in longer_word[len(word) :]
                    ]
                    yield (*word, *excluded)
            case Quantified():
                yield from self.repeat_or_stop(node, word, 1)
            case _:
                raise AssertionError(f"unknown row pattern: {node}")

    def has_next_row(self, word: Word) -> bool:
        """Return whether the partition has a row after the rows of a word."""
        return self.start + len(word) < self.row_count

    def is_next(self, name: str, word: Word) -> bool:
        """Return whether there is a next row and it satisfies the condition of a variable."""
        assert self.satisfies is not None
        variables = (*list_variables(word), name)
        return self.has_next_row(word) and self.satisfies(self.number, self.start, variables)

    def concatenate(self, parts: Sequence[RowPattern], word: Word) -> Iterator[Word]:
        """Yield `word` followed by a word of each part in turn."""
        if not parts:
            yield word
            return
        for longer_word in self.extend(parts[0], word):
            yield from self.concatenate(parts[1:], longer_word)

    def repeat_or_stop(self, node: Quantified, word: Word, iteration: int) -> Iterator[Word]:
        """Yield the words with this iteration (from 1) and later ones, and those that stop here.

        A greedy quantifier prefers another iteration, a reluctant one prefers to stop.
        """
        if iteration <= node.least:
            yield from self.repeat(node, word, iteration)
        elif node.most is not None and iteration > node.most:
            yield word
        elif node.is_greedy:
            yield from self.repeat(node, word, iteration)
            yield word
        else:
            yield word
            yield from self.repeat(node, word, iteration)

    def repeat(self, node: Quantified, word: Word, iteration: int) -> Iterator[Word]:
        """Yield the words with this iteration and, perhaps, later ones.

        After an empty iteration the loop ends, unless more iterations are required. Otherwise
        `(A?)*` would go on for ever.
        """
        for longer_word in self.extend(node.part, word):
            is_empty = longer_word == word
            if is_empty and iteration >= node.least:
                yield longer_word
            else:
                yield from self.repeat_or_stop(node, longer_word, iteration + 1)


def list_variables(word: Word) -> tuple[str, ...]:
    """Return the variables of the rows of a word."""
    return tuple(variable.name for variable in word)


def find_all(
    pattern: RowPattern,
    rows: int,
    can_map: CanMap,
    after_match: AfterMatchSkip,
    primary_variables: dict[str, frozenset[str]],
    longest: bool = False,
    satisfies: CanMap | None = None,
) -> Iterator[Match]:
    """Yield the matches of one partition.

    Args:
        pattern: the row pattern.
        rows: the number of rows of the partition.
        can_map: says whether a row may be mapped to a variable.
        after_match: where the next search begins.
        primary_variables: for each variable that AFTER MATCH SKIP may name, its primary variables.
        longest: for LONGEST MATCH: take the word with the most rows, and among equally long ones
            the preferred one. Otherwise the preferred one is taken.
        satisfies: see `WordSearch`.

    Raises:
        Failure: AFTER MATCH SKIP has no row to go to, or `can_map` raises it.
    """
    start = 0
    number = 1
    while start < rows:
        words = WordSearch(rows, start, can_map, number, satisfies).list_words(pattern)
        word = max(words, key=len, default=None) if longest else next(words, None)
        if word is None:
            start += 1
            continue
        yield Match(number, start, word)
        mapped = tuple(enumerate(list_variables(word), start))
        start = find_next_start(mapped, start, after_match, primary_variables)
        number += 1


def find_next_start(
    mapped: tuple[tuple[int, str], ...],
    start: int,
    after_match: AfterMatchSkip,
    primary_variables: dict[str, frozenset[str]],
) -> int:
    """Return the row at which the next search begins after a match that starts at `start`.

    Args:
        mapped: the rows of the match, each with its variable; empty for an empty match.
        primary_variables: see `find_all`.

    Raises:
        Failure: no row is mapped to the variable to skip to, or the match starts with that row, so
            that the search would begin there again.
    """
    if not mapped or after_match.to is SkipTo.NEXT_ROW:
        return start + 1
    if after_match.to is SkipTo.PAST_LAST_ROW:
        return mapped[-1][0] + 1
    assert after_match.variable is not None
    targets = primary_variables[after_match.variable]
    rows = [row for row, variable in mapped if variable in targets]
    if not rows:
        raise Failure("skip_to_missing_row", start)
    row = rows[0] if after_match.to is SkipTo.FIRST else rows[-1]
    if row == start:
        raise Failure("skip_to_first_row", start)
    return row


# The value of a condition, of a part of it or of a column; None is NULL.
Value = int | float | None


@dataclass(frozen=True)
class ConditionContext:
    """What a condition can read: the row that it is computed for, and the mapped rows.

    For `A.price < price` on row 7, after A was mapped to row 5 and with B about to be mapped to row
    7, `row` is 7, `mapped_rows` is (5, 7) and `mapped_variables` is ("A", "B").
    """

    # The row that the condition is computed for; None for a condition on the match as a whole.
    row: int | None
    # The mapped rows. If `row` is about to be mapped, it is the last of them.
    mapped_rows: tuple[int, ...]
    # The variable of each mapped row.
    mapped_variables: tuple[str, ...]
    # By kind, then by the index of a column of this kind: its value in each row. None is NULL.
    columns: dict[Kind, list[list[Value]]]
    # The names of all variables by their ids.
    variable_names: tuple[str, ...]
    # The primary variables that each name stands for.
    primary_variables: dict[str, frozenset[str]] = field(default_factory=dict)
    # The number that the match would have.
    match_number: int = 0

    def compute(self, expression: RunExpression) -> Value:
        """Return the value of a condition, or of a part of it.

        Truth values are 0, 1 and None.

        Raises:
            Failure: an overflow or a division by zero that is an error in SQL.
        """
        match expression:
            case Constant(value):
                return value
            case ReadValue(column, kind, None):
                return self.columns[kind][column][self.row]
            case ReadValue(column, kind, navigation):
                row = self.find_row(navigation)
                values = self.columns[kind][column]
                return values[row] if row is not None and 0 <= row < len(values) else None
            case ReadClassifier(navigation):
                row = self.find_row(navigation)
                variable_by_row = dict(zip(self.mapped_rows, self.mapped_variables, strict=True))
                variable = variable_by_row.get(row)
                return None if variable is None else self.variable_names.index(variable)
            case TriedMatchNumber():
                return self.match_number
            case RunAggregate():
                return self.compute_reduction(expression)
            case PythonAggregate():
                return self.compute_aggregate(expression)
            case RunOperation(Comparison() as comparison, (left, right)):
                return compare(comparison, self.compute(left), self.compute(right))
            case Arithmetic():
                return self.compute_arithmetic(expression)
            case RunOperation(BasicOperator.WIDEN, (value,)):
                number = self.compute(value)
                return None if number is None else float(number)
            case RunOperation(BasicOperator.NARROW, (value,)):
                number = self.compute(value)
                return None if number is None else round_to_single(number)
            case RunOperation(BasicOperator.AND, parts):
                return self.compute_connective(parts, decisive=0)
            case RunOperation(BasicOperator.OR, parts):
                return self.compute_connective(parts, decisive=1)
            case RunOperation(BasicOperator.NOT, (part,)):
                truth = self.compute(part)
                return None if truth is None else 1 - truth
            case RunOperation(BasicOperator.IS_NULL, (part,)):
                return int(self.compute(part) is None)
            case RunOperation(BasicOperator.CHOOSE, (condition, then, otherwise)):
                return self.compute(then if self.compute(condition) else otherwise)
            case _:
                raise AssertionError(f"unknown expression: {expression}")

    def compute_connective(self, parts: tuple[RunExpression, ...], decisive: int) -> Value:
        """Return the value of AND (`decisive` is 0) or OR (1), computed from left to right.

        Parts after the first decisive one are not computed, so they cannot raise.
        """
        is_unknown = False
        for part in parts:
            truth = self.compute(part)
            if truth == decisive:
                return decisive
            is_unknown = is_unknown or truth is None
        return None if is_unknown else 1 - decisive

    def list_mapped_rows(self, variable: str | None) -> list[int]:
        """Return the rows mapped to a variable, all mapped rows for None."""
        if variable is None:
            return list(self.mapped_rows)
        targets = self.primary_variables[variable]
        mapped = zip(self.mapped_rows, self.mapped_variables, strict=True)
        return [row for row, name in mapped if name in targets]

    def find_row(self, navigation: Navigation) -> int | None:
        """Return the row that FIRST or LAST, then PREV or NEXT, find. It may be out of bounds."""
        rows = self.list_mapped_rows(navigation.variable)
        if navigation.end is End.LAST:
            rows.reverse()
        if navigation.logical_offset >= len(rows):
            return None
        return rows[navigation.logical_offset] + navigation.physical_offset

    def compute_reduction(self, expression: RunAggregate) -> Value:
        """Compute a count, sum, average, minimum or maximum over the rows of a variable.

        NaN is greater than every other number.
        """
        rows = self.list_mapped_rows(expression.variable)
        if expression.excludes_current_row:
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
            return min(values, key=make_sort_key)
        if expression.function is Reduction.MAX:
            return max(values, key=make_sort_key)
        total = values[0]
        for value in values[1:]:
            total += value
            if expression.kind is Kind.INTEGER and wrap_around(total, 64) != total:
                raise Failure("overflow_in_condition", self.row)
        return total if expression.function is Reduction.SUM else total / len(values)

    def compute_aggregate(self, expression: PythonAggregate) -> Value:
        """Compute any other aggregate over the rows of a variable.

        The variable of a row decides which columns are read. The first column says whether the row
        counts, the others are the arguments.
        """
        targets = set(self.list_mapped_rows(expression.variable))
        arguments = []
        for row, name in zip(self.mapped_rows, self.mapped_variables, strict=True):
            if row not in targets or (expression.excludes_current_row and row == self.row):
                continue
            reads = [
                item.expression
                for item in expression.items_by_variable[self.variable_names.index(name)]
                if isinstance(item.expression, ReadValue)
            ]
            counts, *values = (self.columns[read.kind][read.column][row] for read in reads)
            if counts:
                arguments.append(tuple(values))
        return AGGREGATES[expression.name](arguments, expression.use.distinct)

    def compute_arithmetic(self, expression: Arithmetic) -> Value:
        """Compute `+`, `-`, `*`, a division or a remainder as Spark does.

        With ANSI mode an overflow and a division by zero raise; `try_` functions return NULL.
        """
        left = self.compute(expression.operands[0])
        right = self.compute(expression.operands[1])
        if left is None or right is None:
            return None
        divides = expression.operator in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER)
        if divides and right == 0:
            if expression.on_error is OnFailure.RAISE:
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
                result = divide_rounded(left, right)
            case ArithmeticOperator.DIVIDE:
                result = left / right
            case ArithmeticOperator.REMAINDER if expression.kind is Kind.INTEGER:
                # The result has the sign of the dividend; in Python, the sign of the divisor.
                result = abs(left) % abs(right) * (1 if left >= 0 else -1)
            case ArithmeticOperator.REMAINDER:
                result = math.nan if math.isinf(left) else math.fmod(left, right)
            case _:
                raise AssertionError(f"unknown operator: {expression.operator}")
        if expression.kind is Kind.FLOATING:
            return result
        fitting = wrap_around(result, expression.bits)
        if fitting == result or expression.on_error is OnFailure.WRAP:
            return fitting
        if expression.on_error is OnFailure.NULL:
            return None
        raise Failure("overflow_in_condition", self.row)


def divide_rounded(left: int, right: int) -> int:
    """Return the quotient of whole numbers, rounded half away from zero: 5 / -2 is -3."""
    magnitude = (2 * abs(left) + abs(right)) // (2 * abs(right))
    return magnitude if (left < 0) == (right < 0) else -magnitude


def wrap_around(value: int, bits: int) -> int:
    """Wrap a number around to a signed integer with a number of bits: 128 in 8 bits is -128."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def round_to_single(value: int | float) -> float:
    """Return the nearest float of 32 bits."""
    return float(np.asarray(value).astype(np.float32))


def compare(comparison: Comparison, left: Value, right: Value) -> Value:
    """Compare two numbers: NaN equals itself and is greater than every other number."""
    if comparison is Comparison.NULL_SAFE_EQUAL and (left is None or right is None):
        return int(left is right)
    if left is None or right is None:
        return None
    left_key = make_sort_key(left)
    right_key = make_sort_key(right)
    match comparison:
        case Comparison.EQUAL | Comparison.NULL_SAFE_EQUAL:
            return int(left_key == right_key)
        case Comparison.NOT_EQUAL:
            return int(left_key != right_key)
        case Comparison.LESS:
            return int(left_key < right_key)
        case Comparison.LESS_OR_EQUAL:
            return int(left_key <= right_key)
        case Comparison.GREATER:
            return int(left_key > right_key)
        case Comparison.GREATER_OR_EQUAL:
            return int(left_key >= right_key)
        case _:
            raise AssertionError(f"unknown comparison: {comparison}")


def make_sort_key(number: int | float) -> tuple[bool, int | float]:
    """Return a key by which numbers sort as in Spark: NaN is the greatest and equals itself."""
    is_nan = math.isnan(number)
    return is_nan, 0 if is_nan else number
