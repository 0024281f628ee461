"""The aggregates that Python computes, each as an accumulator to which rows are added in order.

Each one updates its state as Spark updates its buffer, operation by operation. So floating-point
results agree to the last bit if Spark adds the rows in the same order. Values are compared and
sorted as in Spark.

Source: Spark's CentralMomentAgg and Covariance for the moments of statistics.
"""

from __future__ import annotations

import math
import operator
from bisect import insort
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from matchrec.conditions.functions.comparisons import find_representative, make_rank_key
from matchrec.conditions.functions.function import (
    AggregateUse,
    Compute,
    FunctionError,
    Value,
    split_names,
)
from matchrec.conditions.functions.numerals import EXACT, divide_rounded, fits, wrap
from matchrec.conditions.types import (
    ADDED_BY_AVERAGE,
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTERVAL_TYPES,
    NESTED,
    NUMBERS,
    VOID,
    Family,
    ValueType,
    build_array_type,
    find_average_type,
    find_sum_type,
)

AggregateState = Any  # what an aggregate keeps of the rows so far
OrderingKey = Any  # can be compared with other ordering keys
AddRow = Callable[..., AggregateState]  # see `Accumulator.step`
FindAggregateType = Callable[[AggregateUse], ValueType | None]  # None: the arguments do not fit


@dataclass(slots=True)
class Accumulator:
    """The state of an aggregate over the rows that have been added so far."""

    # What the aggregate keeps of these rows. The type depends on the aggregate.
    state: AggregateState
    # Returns the state after one more row, from the state and the arguments of the aggregate. A
    # list or a dictionary may be changed and returned: only this accumulator has it.
    step: AddRow
    # Returns the aggregate of the rows so far, from the state.
    finish: Callable[[AggregateState], Value]

    def add(self, *values: Value) -> None:
        """Add a row with these arguments of the aggregate."""
        self.state = self.step(self.state, *values)

    def compute_result(self) -> Value:
        """Return the aggregate of the rows so far. More rows may be added after that."""
        return self.finish(self.state)


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate function of Spark."""

    # Returns the type of the aggregate, or None if the arguments do not fit.
    find_type: FindAggregateType
    # Returns an accumulator without rows that adds every row, whatever DISTINCT says.
    begin_with_repeats: Callable[[AggregateUse], Accumulator]
    # The index of the argument that must be the same on all rows; None if there is none.
    constant: int | None = None
    # Whether DISTINCT changes nothing, so that Spark leaves it out.
    ignores_repeats: bool = False

    def begin(self, use: AggregateUse) -> Accumulator:
        """Return an accumulator without rows. With DISTINCT, it adds equal rows once."""
        accumulator = self.begin_with_repeats(use)
        if use.distinct and not self.ignores_repeats:
            return skip_repeats(accumulator)
        return accumulator


def skip_repeats(accumulator: Accumulator) -> Accumulator:
    """Return an accumulator that passes only the first of equal rows on to `accumulator`.

    A floating zero loses its sign, as it does if Spark groups by it.
    """

    def step(added_rows: set[tuple[Value, ...]], *values: Value) -> set[tuple[Value, ...]]:
        """Add a row unless an equal row has been added."""
        row = tuple(map(find_representative, values))
        if row not in added_rows:
            added_rows.add(row)
            accumulator.add(*row)
        return added_rows

    return Accumulator(set(), step, lambda _: accumulator.compute_result())


# Results for lists that share their rows.

MOST_KEPT = 64  # accumulators of lists that may get one more row; also results as long as a list
MOST_RESULTS = 1 << 16  # results of a fixed size, such as numbers


class SharedLists(Protocol):
    """Lists with numbers from 1. Each list is a shorter list plus one row; list 0 is empty."""

    def find_list_before(self, number: int) -> int:
        """Return the number of the list without the last row of this one; 0 for no rows."""

    def read_last_row(self, number: int) -> tuple[Value, ...]:
        """Return the values of the last row of a list."""


def build_list_aggregate(begin: Callable[[], Accumulator]) -> Compute:
    """Return a function that computes an aggregate of a list.

    The function takes the number of the list, and all lists. If a list is a recently computed list
    plus one row, only this row is added: the accumulator of the shorter list becomes that of the
    longer list. The result of the shorter list is kept, because other runs with the same list need
    the same result.

    Args:
        begin: returns an accumulator without rows.
    """
    accumulators: OrderedDict[int, Accumulator] = OrderedDict()  # by list, least recent first
    results: OrderedDict[int, Value] = OrderedDict()  # by list, least recent first
    result_without_rows = begin().compute_result()

    def compute(number: int, lists: SharedLists) -> Value:
        """Return the aggregate of a list; continue from a shorter list if its state is kept."""
        if not number:
            return result_without_rows
        if number in results:
            results.move_to_end(number)
            return results[number]
        lists_to_add = [number]  # the lists whose last rows are added, the longest one first
        accumulator = accumulators.pop(lists.find_list_before(number), None)
        if accumulator is None:
            accumulator = begin()
            while shorter := lists.find_list_before(lists_to_add[-1]):
                lists_to_add.append(shorter)
        for list_number in reversed(lists_to_add):
            accumulator.add(*lists.read_last_row(list_number))
        result = accumulator.compute_result()
        accumulators[number] = accumulator
        if len(accumulators) > MOST_KEPT:
            accumulators.popitem(last=False)
        results[number] = result
        most_results = MOST_KEPT if isinstance(result, str | bytes | tuple) else MOST_RESULTS
        while len(results) > most_results:
            results.popitem(last=False)
        return result

    return compute


def find_sort_key(type_: ValueType) -> Callable[[Value], OrderingKey]:
    """Return the sort key function for values of a type, which are sorted as in Spark.

    The values must not be NULL. NaN is the greatest number.
    """
    if type_.family is Family.FLOATING or type_.family in NESTED:
        return make_rank_key
    return lambda value: value


# Aggregates that return the value of one row. Their state is None until they have chosen a row.


class ChosenRow(NamedTuple):
    """The row that an aggregate has chosen so far."""

    value: Value
    # What is compared to choose the row; None if only the order of the rows decides.
    key: OrderingKey = None


def read_chosen_value(chosen: ChosenRow | None) -> Value:
    """Return the value of the chosen row, or NULL if no row is chosen."""
    return None if chosen is None else chosen.value


def begin_extreme(use: AggregateUse, *, is_largest: bool) -> Accumulator:
    """Begin MIN, MAX, MIN_BY or MAX_BY.

    MIN and MAX return the first of equal values; MIN_BY and MAX_BY return the value of the last row
    among rows with equal second arguments.
    """
    sort_key = find_sort_key(use.types[-1])
    is_better = operator.gt if is_largest else operator.lt

    def step(best: ChosenRow | None, value: Value, *ordering: Value) -> ChosenRow | None:
        """Return the better of the best row so far and a new row."""
        has_ordering = bool(ordering)
        compared = ordering[0] if has_ordering else value
        if compared is None:
            return best
        row = ChosenRow(value, sort_key(compared))
        if best is None or is_better(row.key, best.key):
            return row
        if has_ordering and row.key == best.key:
            return row
        return best

    return Accumulator(None, step, read_chosen_value)


def begin_value_at_end(use: AggregateUse, *, is_first: bool) -> Accumulator:
    """Begin FIRST_VALUE or LAST_VALUE, perhaps without NULL values."""

    def step(chosen: ChosenRow | None, value: Value, *ignore_nulls: Value) -> ChosenRow | None:
        """Return the first row, or the last one; None if there is no row yet."""
        is_ignored = value is None and (use.ignore_nulls or True in ignore_nulls)
        is_decided = is_first and chosen is not None
        if is_ignored or is_decided:
            return chosen
        return ChosenRow(value)

    return Accumulator(None, step, read_chosen_value)


def count_value(counts: dict[Value, int], value: Value, *_: Value) -> dict[Value, int]:
    """Count a value that is not NULL. The counts are in the order in which values come first."""
    if value is not None:
        key = find_representative(value)
        counts[key] = counts.get(key, 0) + 1
    return counts


def begin_mode(use: AggregateUse) -> Accumulator:
    """Begin MODE: the most frequent value; the least of them if several are equally frequent.

    Spark may return another one of these.
    """
    sort_key = find_sort_key(use.types[0])

    def finish(counts: dict[Value, int]) -> Value:
        """Return the most frequent value, the least of several; None if there are no values."""
        largest_count = max(counts.values(), default=0)
        most_frequent = [value for value, count in counts.items() if count == largest_count]
        return min(most_frequent, key=sort_key, default=None)

    return Accumulator({}, count_value, finish)


def begin_list(_: AggregateUse) -> Accumulator:
    """Begin COLLECT_LIST: the values without NULL, in the order of the rows."""

    def step(values: list[Value], value: Value) -> list[Value]:
        """Append a value unless it is NULL."""
        if value is not None:
            values.append(value)
        return values

    return Accumulator([], step, tuple)


def begin_set(_: AggregateUse) -> Accumulator:
    """Begin COLLECT_SET: different values without NULL, in the order in which they come first."""
    return Accumulator({}, count_value, tuple)


def begin_joined_texts(_: AggregateUse) -> Accumulator:
    """Begin LISTAGG: texts without NULL, in the order of the rows, with a delimiter in between."""

    def step(state: AggregateState, text: Value, delimiter: Value = None) -> AggregateState:
        """Append a text unless it is NULL, and note the delimiter."""
        texts, _ = state
        if text is not None:
            texts.append(text)
        return texts, delimiter

    def finish(state: AggregateState) -> Value:
        """Return the joined texts; NULL if there are none."""
        texts, delimiter = state
        if not texts:
            return None
        if delimiter is None:
            delimiter = texts[0][:0]  # an empty text, or empty bytes
        return delimiter.join(texts)

    return Accumulator(([], None), step, finish)


# Counts, sums and averages. A sum that does not fit its type is an error in ANSI mode, and for
# intervals in every mode. Otherwise integers wrap around, and decimals become NULL.

DIGITS_OF_A_DOUBLE = 15  # the precision up to which Spark divides sums of decimals as doubles
PLACES_OF_A_QUOTIENT = 39  # digits after the point that Spark computes before it rounds a quotient


def build_decimal(digits: int, scale: int) -> Decimal:
    """Return the decimal with these digits, `scale` of them after the point.

    >>> build_decimal(1234, 2)
    Decimal('12.34')
    """
    return Decimal(digits).scaleb(-scale, EXACT)


class TooLargeError(OverflowError):
    """A sum that its type cannot hold."""


class RunningTotal(NamedTuple):
    """The state of a sum or an average."""

    total: Value
    # The number of values in the total.
    number: int


def begin_total(
    start: Value, add: Callable[[Value, Value], Value], finish: Callable[[Value, int], Value]
) -> Accumulator:
    """Begin a total of values. NULLs are left out; without values, the total is NULL.

    Args:
        start: the total before the first value.
        add: returns the total after one more value.
        finish: returns the aggregate from the total and the number of values.
    """

    def step(state: RunningTotal, value: Value) -> RunningTotal:
        """Add a value unless it is NULL, and count it."""
        if value is None:
            return state
        return RunningTotal(add(state.total, value), state.number + 1)

    def finish_total(state: RunningTotal) -> Value:
        """Return the total; NULL if no value was added."""
        return finish(state.total, state.number) if state.number else None

    return Accumulator(RunningTotal(start, 0), step, finish_total)


def keep_total(total: Value, _: int) -> Value:
    """Return the total itself as the aggregate."""
    return total


def begin_sum(use: AggregateUse, *, is_average: bool = False) -> Accumulator:
    """Begin SUM or AVG of numbers or intervals. AVG of integers adds up doubles."""
    family = use.types[0].family
    if family is Family.DECIMAL:
        return begin_decimal_sum(use, is_average=is_average)
    if family is Family.FLOATING or (is_average and family is Family.INTEGER):
        finish = operator.truediv if is_average else keep_total
        return begin_total(0.0, lambda total, value: total + float(value), finish)
    bits = 32 if family is Family.MONTHS else 64

    def add(total: int, value: int) -> int:
        """Add an integer: on overflow, raise TooLargeError or wrap around, as Spark does."""
        new_total = total + value
        if fits(new_total, bits):
            return new_total
        if use.ansi or family is not Family.INTEGER:
            raise TooLargeError
        return wrap(new_total, bits)

    return begin_total(0, add, divide_rounded if is_average else keep_total)


def begin_decimal_sum(use: AggregateUse, *, is_average: bool) -> Accumulator:
    """Begin SUM or AVG of decimals. The total is an integer: the digits of the sum."""
    (type_,) = use.types
    scale = type_.scale
    result_scale = find_average_type(type_).scale if is_average else scale
    limit: int = 10 ** find_sum_type(type_).precision

    def add(total: int, value: Decimal) -> int:
        """Add the digits of a decimal; return `limit` if the sum has been too large before.

        Spark's buffer is NULL from there on, even if later values would make the sum smaller.
        """
        if abs(total) >= limit:
            return limit
        return total + int(value.scaleb(scale, EXACT))

    def finish(total: int, count: int) -> Decimal | None:
        """Return the sum or average; if it is too large, raise in ANSI mode or return NULL."""
        digits = None
        if abs(total) < limit:
            digits = count_average_digits(total, count, type_) if is_average else total
        if digits is not None:
            return build_decimal(digits, result_scale)
        if use.ansi:
            raise TooLargeError
        return None

    return begin_total(0, add, finish)


def count_average_digits(total: int, count: int, type_: ValueType) -> int | None:
    """Return the digits of an average of decimals, or None if there are too many.

    Args:
        total: the digits of the sum.
        count: the number of decimals.
        type_: the type of the decimals.
    """
    result_type = find_average_type(type_)
    if type_.precision + ADDED_BY_AVERAGE <= DIGITS_OF_A_DOUBLE:
        quotient = Decimal(repr(total / count / 10.0**type_.scale))
        return int(quotient.scaleb(result_type.scale, EXACT).to_integral_value(ROUND_HALF_UP))
    quotient_digits = divide_rounded(total * 10 ** (PLACES_OF_A_QUOTIENT - type_.scale), count)
    digits = divide_rounded(quotient_digits, 10 ** (PLACES_OF_A_QUOTIENT - result_type.scale))
    return digits if abs(digits) < 10**result_type.precision else None


def begin_count(_: AggregateUse) -> Accumulator:
    """Begin COUNT: the number of rows on which no argument is NULL."""
    return Accumulator(0, lambda count, *values: count + (None not in values), int)


def begin_count_if(_: AggregateUse) -> Accumulator:
    """Begin COUNT_IF: the number of rows on which a condition is true."""
    return Accumulator(0, lambda count, condition: count + (condition is True), int)


# Statistics. Numbers of rows are floats, as in Spark.


class Moments(NamedTuple):
    """The state of a variance or of a standard deviation.

    >>> Moments().add(2.0).add(4.0)
    Moments(rows=2.0, average=3.0, squares=2.0)
    """

    # How many rows have been added.
    rows: float = 0.0
    average: float = 0.0
    # The sum of the squared distances from the average.
    squares: float = 0.0

    def add(self, x: float) -> Moments:
        """Return the state after one more number."""
        rows = self.rows + 1.0
        distance = x - self.average
        change = distance / rows
        squares = self.squares + distance * (distance - change)
        return Moments(rows, self.average + change, squares)


class PointMoments(NamedTuple):
    """The state of `regr_slope(y, x)`.

    >>> PointMoments().add(1.0, 2.0).add(5.0, 4.0)  # the points (x=2, y=1) and (x=4, y=5)
    PointMoments(rows=2.0, average_x=3.0, average_y=3.0, products=4.0, squares_x=2.0)
    """

    # How many rows have been added.
    rows: float = 0.0
    average_x: float = 0.0
    average_y: float = 0.0
    # The sum of the products of the distances of x and y from their averages.
    products: float = 0.0
    # The sum of the squared distances of x from its average.
    squares_x: float = 0.0

    def add(self, y: float, x: float) -> PointMoments:
        """Return the state after one more point."""
        rows = self.rows + 1.0
        distance_x = x - self.average_x
        average_y = self.average_y + (y - self.average_y) / rows
        change_x = distance_x / rows
        return PointMoments(
            rows=rows,
            average_x=self.average_x + change_x,
            average_y=average_y,
            products=self.products + distance_x * (y - average_y),
            squares_x=self.squares_x + distance_x * (distance_x - change_x),
        )


M = TypeVar("M", Moments, PointMoments)


def compute_sample_variance(moments: Moments) -> float:
    """Return the variance of a sample of at least two numbers."""
    return moments.squares / (moments.rows - 1.0)


def compute_sample_deviation(moments: Moments) -> float:
    """Return the standard deviation of a sample of at least two numbers."""
    return compute_root(compute_sample_variance(moments))


def compute_population_variance(moments: Moments) -> float:
    """Return the variance of a whole population."""
    return moments.squares / moments.rows


def compute_population_deviation(moments: Moments) -> float:
    """Return the standard deviation of a whole population."""
    return compute_root(compute_population_variance(moments))


def compute_slope(moments: PointMoments) -> float | None:
    """Return the slope of the line that fits the points best; NULL if all have the same x."""
    return moments.products / moments.squares_x if moments.squares_x else None


def build_statistic(
    evaluate: Callable[[M], Value],
    *,
    start: M,
    argument_count: int = 1,
    needs_two_rows: bool = False,
) -> AggregateFunction:
    """Return a statistic of numbers, which leaves out rows with NULL.

    Args:
        evaluate: returns the statistic from the state after at least one row.
        start: the state without rows.
        argument_count: how many numbers the statistic takes from a row.
        needs_two_rows: whether a single row has no statistic, as for a sample.
    """

    def find_type(use: AggregateUse) -> ValueType | None:
        """Return DOUBLE if the arguments are as many numbers as the statistic takes."""
        are_numbers = all(type_.family in NUMBERS for type_ in use.types)
        return DOUBLE if are_numbers and len(use.types) == argument_count else None

    def begin(use: AggregateUse) -> Accumulator:
        """Begin the statistic over no rows."""

        def add(moments: M, *values: Value) -> M:
            """Add a row unless one of its values is NULL."""
            if None in values:
                return moments
            return moments.add(*[float(value) for value in values])

        def finish(moments: M) -> Value:
            """Return the statistic; NULL if it has no value for so few rows."""
            if needs_two_rows and moments.rows == 1.0:
                return math.nan if use.legacy_statistics else None
            return evaluate(moments) if moments.rows > 0.0 else None

        return Accumulator(start, add, finish)

    return AggregateFunction(find_type, begin)


def compute_root(value: float) -> float:
    """Return the square root of a number, NaN for a negative number."""
    return math.nan if value < 0.0 else math.sqrt(value)


# Percentiles. Their state is the values in ascending order, and the fraction of them that is below
# the percentile, from 0 to 1; None if the fraction is NULL or there is no row.


def begin_percentile(use: AggregateUse) -> Accumulator:
    """Begin PERCENTILE, the value below which a fraction of the values is; or MEDIAN, a half.

    The accumulator raises FunctionError if the fraction is not between 0 and 1.
    """
    is_number = use.types[0].family in NUMBERS

    def step(state: AggregateState, value: Value, fraction: Value = 0.5) -> AggregateState:
        """Insert a value in order, and check and keep the fraction."""
        values, _ = state
        if value is not None:
            insort(values, value, key=make_rank_key)
        return values, None if fraction is None else check_fraction(float(fraction))

    def finish(state: AggregateState) -> Value:
        """Return the percentile; NULL without values or without a fraction."""
        values, fraction = state
        if not values or fraction is None:
            return None
        value = interpolate(values, fraction, weighs_both=use.weighs_both)
        return value if is_number else int(value)

    return Accumulator(([], None), step, finish)


def check_fraction(fraction: float) -> float:
    """Return the fraction of a percentile if it is between 0 and 1.

    Raises:
        FunctionError: it is not.
    """
    if not 0.0 <= fraction <= 1.0:
        raise FunctionError(f"a percentage must be between 0 and 1, and it is {fraction}")
    return fraction


def interpolate(values: Sequence[Value], fraction: float, *, weighs_both: bool) -> float:
    """Return the value at a fraction of the way through sorted values, as Spark computes it.

    Between two values, the result is a number between them. It equals Spark's result in all bits.

    >>> interpolate([10, 20, 40], 0.25, weighs_both=False)
    15.0

    Args:
        values: the values in ascending order.
        fraction: the fraction of the way, from 0 to 1.
        weighs_both: see `AggregateUse`.
    """
    position = (len(values) - 1) * fraction
    lower = math.floor(position)
    higher = math.ceil(position)
    lower_value = float(values[lower])
    higher_value = float(values[higher])
    if lower == higher or lower_value == higher_value:
        return lower_value
    if weighs_both:
        return (higher - position) * lower_value + (position - lower) * higher_value
    return lower_value + (position - lower) * (higher_value - lower_value)


# The types of aggregates. They are None if the arguments do not fit.


def require_one_argument(find_type: Callable[[ValueType], ValueType | None]) -> FindAggregateType:
    """Return a function that finds the type of an aggregate with one argument.

    Args:
        find_type: returns the type of the aggregate from the type of the argument.
    """
    return lambda use: find_type(use.types[0]) if len(use.types) == 1 else None


def require_number(find_type: Callable[[ValueType], ValueType]) -> FindAggregateType:
    """Return a function that finds the type of an aggregate of numbers or intervals.

    Args:
        find_type: returns the type of the aggregate from the type of the numbers. Intervals keep
            their type.
    """
    return require_one_argument(
        lambda type_: (
            find_type(type_) if type_.family in NUMBERS else INTERVAL_TYPES.get(type_.family)
        )
    )


def require_truth_value(result_type: ValueType) -> FindAggregateType:
    """Return a function that finds the type of an aggregate of truth values: `result_type`."""
    return require_one_argument(
        lambda type_: result_type if type_.family is Family.BOOLEAN else None
    )


def keep_type(type_: ValueType) -> ValueType:
    """Return the type of the argument as the type of the aggregate."""
    return type_


def find_median_type(type_: ValueType) -> ValueType | None:
    """Return the type of a median, or of another percentile, of values of a type."""
    if type_.family in NUMBERS:
        return DOUBLE
    return type_ if type_.family is Family.TIME else INTERVAL_TYPES.get(type_.family)


def find_type_of_chosen_value(use: AggregateUse) -> ValueType | None:
    """Return the type of MIN_BY and MAX_BY: the type of the first of two arguments.

    Spark takes a third argument, the number of values to return. It is not supported.
    """
    return use.types[0] if len(use.types) == 2 else None


def find_type_of_value(use: AggregateUse) -> ValueType | None:
    """Return the type of the first argument. A second argument says whether to ignore NULL."""
    option_families = [type_.family for type_ in use.types[1:]]
    return use.types[0] if use.types and option_families in ([], [Family.BOOLEAN]) else None


def find_listagg_type(use: AggregateUse) -> ValueType | None:
    """Return the type of LISTAGG, which is the type of its texts and of its delimiter."""
    if not use.types or len(use.types) > 2:
        return None
    family = use.types[0].family
    if family not in (Family.STRING, Family.BINARY):
        return None
    has_one_family = all(type_.family is family or type_ == VOID for type_ in use.types)
    return use.types[0] if has_one_family else None


def find_percentile_type(use: AggregateUse) -> ValueType | None:
    """Return the type of PERCENTILE from the types of the value and the fraction.

    Spark takes a third argument, how many times a value counts. It is not supported.
    """
    if len(use.types) != 2 or use.types[1].family not in NUMBERS:
        return None
    return find_median_type(use.types[0])


begin_min = partial(begin_extreme, is_largest=False)
begin_max = partial(begin_extreme, is_largest=True)
begin_first_value = partial(begin_value_at_end, is_first=True)
begin_last_value = partial(begin_value_at_end, is_first=False)
begin_average = partial(begin_sum, is_average=True)

AGGREGATES: Mapping[str, AggregateFunction] = split_names(
    {
        "count": AggregateFunction(lambda _: BIGINT, begin_count),
        "count_if": AggregateFunction(require_truth_value(BIGINT), begin_count_if),
        "bool_and every": AggregateFunction(require_truth_value(BOOLEAN), begin_min),
        "bool_or some any": AggregateFunction(require_truth_value(BOOLEAN), begin_max),
        "min": AggregateFunction(require_one_argument(keep_type), begin_min, ignores_repeats=True),
        "max": AggregateFunction(require_one_argument(keep_type), begin_max, ignores_repeats=True),
        "min_by": AggregateFunction(find_type_of_chosen_value, begin_min),
        "max_by": AggregateFunction(find_type_of_chosen_value, begin_max),
        "sum": AggregateFunction(require_number(find_sum_type), begin_sum),
        "avg mean": AggregateFunction(require_number(find_average_type), begin_average),
        "any_value first_value": AggregateFunction(
            find_type_of_value, begin_first_value, constant=1
        ),
        "last_value": AggregateFunction(find_type_of_value, begin_last_value, constant=1),
        "mode": AggregateFunction(find_type_of_value, begin_mode, constant=1),
        "collect_list array_agg": AggregateFunction(
            require_one_argument(build_array_type), begin_list
        ),
        "collect_set": AggregateFunction(
            require_one_argument(build_array_type), begin_set, ignores_repeats=True
        ),
        "listagg string_agg": AggregateFunction(find_listagg_type, begin_joined_texts, constant=1),
        "stddev stddev_samp std": build_statistic(
            compute_sample_deviation, start=Moments(), needs_two_rows=True
        ),
        "stddev_pop": build_statistic(compute_population_deviation, start=Moments()),
        "variance var_samp": build_statistic(
            compute_sample_variance, start=Moments(), needs_two_rows=True
        ),
        "var_pop": build_statistic(compute_population_variance, start=Moments()),
        "regr_slope": build_statistic(compute_slope, start=PointMoments(), argument_count=2),
        "median": AggregateFunction(require_one_argument(find_median_type), begin_percentile),
        "percentile": AggregateFunction(find_percentile_type, begin_percentile, constant=1),
    }
)

# What to write instead of some aggregates that conditions do not have, for error messages. These
# are approximate aggregates, and some that are rarely needed.
ALTERNATIVES: Mapping[str, str] = {
    "approx_count_distinct": "count(DISTINCT x), which is exact",
    "approx_percentile": "percentile(x, p), which is exact",
    "percentile_approx": "percentile(x, p), which is exact",
    "percentile_cont WITHIN GROUP": "percentile(x, p)",
    "percentile_disc WITHIN GROUP": "percentile(x, p), which may lie between two values",
    "mode WITHIN GROUP": "mode(x)",
    "listagg WITHIN GROUP": "listagg(x, delimiter), in the order of the rows",
    "string_agg WITHIN GROUP": "string_agg(x, delimiter), in the order of the rows",
    "hll_sketch_agg": "count(DISTINCT x), which is exact",
    "theta_sketch_agg": "count(DISTINCT x), which is exact",
    "approx_top_k": "mode(x) for the most frequent value",
    "histogram_numeric": "percentile(x, p) for a point of the distribution",
    "try_sum": "sum(x)",
    "try_avg": "avg(x)",
    "regr_count": "count(y) FILTER (WHERE x IS NOT NULL)",
    "regr_avgx": "avg(x) FILTER (WHERE y IS NOT NULL)",
    "regr_avgy": "avg(y) FILTER (WHERE x IS NOT NULL)",
}
