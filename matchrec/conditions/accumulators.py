"""The aggregates that Python computes, each as an accumulator: rows are added one by one, in order.

Every one follows Spark's own update of its buffer, operation by operation, so that floating-point
results agree to the last bit with Spark's where it adds the rows in the same order. Values are
equal, and are sorted, as Spark has it.

Source: Spark's CentralMomentAgg and Covariance, whose updates the moments are.
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
from typing import Any, Protocol

from matchrec.conditions.functions.comparisons import normalized, rank
from matchrec.conditions.functions.function import (
    AggregateUse,
    Compute,
    FunctionError,
    Value,
    by_name,
)
from matchrec.conditions.functions.numerals import EXACT, divided, fits, wrap
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    NESTED,
    NUMBERS,
    SPANS,
    Family,
    ValueType,
    array,
    average_type,
    sum_type,
)

State = Any  # what an aggregate keeps of the rows so far
Key = Any  # what compares with other keys
Step = Callable[..., State]


@dataclass(slots=True)
class Accumulator:
    """The rows of a list so far. state: what is kept of them. finish: the aggregate, of that."""

    state: State
    step: Step
    finish: Callable[[State], Value]

    def add(self, *values: Value) -> None:
        self.state = self.step(self.state, *values)

    def result(self) -> Value:
        return self.finish(self.state)


Result = Callable[[AggregateUse], ValueType | None]


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate of Spark. result: its type, or None where the arguments do not fit. constant:
    the argument that must be the same on all rows, by its place. ignores_repeats: whether DISTINCT
    changes nothing, so that Spark leaves it out.
    """

    result: Result
    begin: Callable[[AggregateUse], Accumulator]
    constant: int | None = None
    ignores_repeats: bool = False

    def begin_rows(self, use: AggregateUse) -> Accumulator:
        """An accumulator without rows, which counts equal rows once where that is asked for."""
        rows = self.begin(use)
        return distinct(rows) if use.distinct and not self.ignores_repeats else rows


def distinct(rows: Accumulator) -> Accumulator:
    """The first of equal rows only. A floating zero loses its sign, as where Spark groups by it."""

    def step(seen: set[tuple[Value, ...]], *values: Value) -> set[tuple[Value, ...]]:
        key = tuple(map(normalized, values))
        if key not in seen:
            seen.add(key)
            rows.add(*key)
        return seen

    return Accumulator(set(), step, lambda _: rows.result())


# Results for lists that share their rows.

MOST_KEPT = 64  # accumulators, of lists that may get one row more; results as long as a list
MOST_RESULTS = 1 << 16  # numbers and the like


class SharedLists(Protocol):
    """Lists by number, each of which shares its rows with the list before its last one."""

    def before(self, number: int) -> int:
        """The number of the list without the last row; 0 has none."""

    def values(self, number: int) -> tuple[Value, ...]:
        """The values of the last row."""


def fold(begin: Callable[[], Accumulator]) -> Compute:
    """An aggregate of lists; where a list is a recent one and one row, that row is added to it.

    Results are kept beside accumulators, which go on to the next list: other runs that have the
    same list ask for the same result.
    """
    accumulators: OrderedDict[int, Accumulator] = OrderedDict()
    results: OrderedDict[int, Value] = OrderedDict()
    without_rows = begin().result()

    def compute(number: int, lists: SharedLists) -> Value:
        if not number:
            return without_rows
        if number in results:
            results.move_to_end(number)
            return results[number]
        rows, added = accumulators.pop(lists.before(number), None), [number]
        if rows is None:
            rows = begin()
            while before := lists.before(added[-1]):
                added.append(before)
        for place in reversed(added):
            rows.add(*lists.values(place))
        value = results[number] = rows.result()
        accumulators[number] = rows
        if len(accumulators) > MOST_KEPT:
            accumulators.popitem(last=False)
        most = MOST_KEPT if isinstance(value, str | bytes | tuple) else MOST_RESULTS
        while len(results) > most:
            results.popitem(last=False)
        return value

    return compute


def sort_key(type_: ValueType) -> Callable[[Value], Key]:
    """By what values of a type are sorted, NULL left out: NaN is the greatest number."""
    if type_.family is Family.FLOATING or type_.family in NESTED:
        return rank
    return lambda value: value


# Aggregates that give the value of a row. Their state is that row's, its value last; None is none.


def last_of(best: State) -> Value:
    return None if best is None else best[-1]


def extreme(use: AggregateUse, *, largest: bool) -> Accumulator:
    """The first extreme value; of two arguments, the value on the last row of extreme ordering."""
    key_of, is_better = sort_key(use.types[-1]), operator.gt if largest else operator.lt

    def step(best: State, value: Value, *ordering: Value) -> State:
        by = ordering[0] if ordering else value
        if by is None:
            return best
        key = key_of(by)
        if best is None or is_better(key, best[0]) or (ordering and key == best[0]):
            return key, value
        return best

    return Accumulator(None, step, last_of)


def value_at_end(use: AggregateUse, *, first: bool) -> Accumulator:
    """The value of the first or the last row, or of that without NULL."""

    def step(found: State, value: Value, *treatment: Value) -> State:
        ignored = value is None and (use.ignore_nulls or True in treatment)
        return found if ignored or (first and found is not None) else (value,)

    return Accumulator(None, step, last_of)


def count_values(counts: dict[Value, int], value: Value, *_: Value) -> dict[Value, int]:
    """How often each value that is not NULL comes, in the order in which they first come."""
    if value is not None:
        key = normalized(value)
        counts[key] = counts.get(key, 0) + 1
    return counts


def mode(use: AggregateUse) -> Accumulator:
    """The most frequent value; of several the least, though Spark may give another one of them."""
    key_of = sort_key(use.types[0])

    def finish(counts: dict[Value, int]) -> Value:
        most = max(counts.values(), default=0)
        found = (value for value, count in counts.items() if count == most)
        return min(found, key=key_of, default=None)

    return Accumulator({}, count_values, finish)


def collect_list(_: AggregateUse) -> Accumulator:
    """The values without NULL, in the order of the rows."""

    def step(values: list[Value], value: Value) -> list[Value]:
        if value is not None:
            values.append(value)
        return values

    return Accumulator([], step, tuple)


def listagg(_: AggregateUse) -> Accumulator:
    """Texts one after the other, with a delimiter, in the order of the rows."""

    def step(state: State, text: Value, delimiter: Value = None) -> State:
        texts, _ = state
        if text is not None:
            texts.append(text)
        return texts, delimiter

    def finish(state: State) -> Value:
        texts, delimiter = state
        return (texts[0][:0] if delimiter is None else delimiter).join(texts) if texts else None

    return Accumulator(([], None), step, finish)


# Counts, sums and averages. What does not fit a sum is an error under ANSI, and for intervals
# always; else integers wrap and decimals are NULL.

DIGITS_OF_A_DOUBLE = 15  # up to which Spark divides the sum of decimals as a double
PLACES_OF_A_QUOTIENT = 39  # that Spark computes before it rounds to those of the result


def decimal_of(digits: int, scale: int) -> Decimal:
    return Decimal(digits).scaleb(-scale, EXACT)


class TooLargeError(OverflowError):
    """A sum that its type cannot hold."""


def added(
    start: Value, add: Callable[[Value, Value], Value], finish: Callable[[Value, int], Value]
) -> Accumulator:
    """What values that are not NULL make together; NULL without such.

    add: the total after a value. finish: the result, of the total and of how many there are.
    """

    def step(state: tuple[Value, int], value: Value) -> tuple[Value, int]:
        total, rows = state
        return state if value is None else (add(total, value), rows + 1)

    return Accumulator((start, 0), step, lambda state: finish(*state) if state[1] else None)


def sum_of(use: AggregateUse, *, averages: bool = False) -> Accumulator:
    """SUM, or AVG: of integers and floats as doubles, of intervals rounded to whole ones."""
    family = use.types[0].family
    if family is Family.DECIMAL:
        return decimal_sum(use, averages=averages)
    if family is Family.FLOATING or (averages and family is Family.INTEGER):
        quotient = operator.truediv if averages else lambda total, _: total
        return added(0.0, lambda total, value: total + float(value), quotient)
    bits = 32 if family is Family.MONTHS else 64

    def add(total: int, value: int) -> int:
        found = total + value
        if fits(found, bits):
            return found
        if use.ansi or family is not Family.INTEGER:
            raise TooLargeError
        return wrap(found, bits)

    return added(0, add, divided if averages else lambda total, _: total)


def decimal_sum(use: AggregateUse, *, averages: bool) -> Accumulator:
    """A sum of decimals, kept as a number of last places; or their average, see `average_type`."""
    (type_,) = use.types
    scale, limit = type_.scale, 10 ** sum_type(type_).precision

    def add(total: int, value: Decimal) -> int:
        found = total + int(value.scaleb(scale, EXACT))  # in last places
        # what has once been too large is NULL in Spark's buffer, and stays so
        return found if abs(total) < limit else limit

    def finish(total: int, rows: int) -> Decimal | None:
        known = abs(total) < limit
        found = (decimal_average(total, rows, type_) if averages else total) if known else None
        if found is not None:
            return decimal_of(found, average_type(type_).scale if averages else scale)
        if use.ansi:
            raise TooLargeError
        return None

    return added(0, add, finish)


def decimal_average(total: int, rows: int, type_: ValueType) -> int | None:
    """The last places of an average of decimals; None where there are too many digits."""
    result = average_type(type_)
    if type_.precision + 4 <= DIGITS_OF_A_DOUBLE:
        quotient = Decimal(repr(total / rows / 10.0**type_.scale))
        return int(quotient.scaleb(result.scale, EXACT).to_integral_value(ROUND_HALF_UP))
    digits = divided(total * 10 ** (PLACES_OF_A_QUOTIENT - type_.scale), rows)
    found = divided(digits, 10 ** (PLACES_OF_A_QUOTIENT - result.scale))
    return found if abs(found) < 10**result.precision else None


def count(_: AggregateUse) -> Accumulator:
    """Rows without NULL."""
    return Accumulator(0, lambda rows, *values: rows + (None not in values), int)


def count_if(_: AggregateUse) -> Accumulator:
    return Accumulator(0, lambda rows, value: rows + (value is True), int)


# Statistics. The state begins with the number of rows.


def add_to_moments(state: State, x: float) -> State:
    """The average, and the sum of the squares of the distances from it."""
    n, average, m2 = state
    n += 1.0
    delta = x - average
    part = delta / n
    return n, average + part, m2 + delta * (delta - part)


def add_point(state: State, y: float, x: float) -> State:
    """Of regr_slope(y, x): averages, products of distances of both, squares of those of x."""
    n, average_x, average_y, xy, m2 = state
    n += 1.0
    from_x = x - average_x
    average_y += (y - average_y) / n
    part = from_x / n
    xy += from_x * (y - average_y)
    return n, average_x + part, average_y, xy, m2 + from_x * (from_x - part)


def statistic(
    evaluate: Callable[[State], Value], *, step: Step = add_to_moments, sample: bool = False
) -> AggregateFunction:
    """A statistic of numbers without NULL. sample: whether one row has none."""
    size, arguments = (3, 1) if step is add_to_moments else (5, 2)

    def result(use: AggregateUse) -> ValueType | None:
        fit = len(use.types) == arguments and all(type_.family in NUMBERS for type_ in use.types)
        return DOUBLE if fit else None

    def begin(use: AggregateUse) -> Accumulator:
        def add(state: State, *values: Value) -> State:
            return state if None in values else step(state, *map(float, values))

        def finish(state: State) -> Value:
            if sample and state[0] == 1.0:
                return math.nan if use.legacy_statistics else None
            return evaluate(state) if state[0] else None

        return Accumulator((0.0,) * size, add, finish)

    return AggregateFunction(result, begin)


def root(value: float) -> float:
    return math.nan if value < 0.0 else math.sqrt(value)


# Percentiles. The state is the values in ascending order, and the part of them.


def percentile(use: AggregateUse) -> Accumulator:
    """The value below which a part of the values lies, of a median a half."""
    is_number = use.types[0].family in NUMBERS

    def step(state: State, value: Value, part: Value = 0.5) -> State:
        values, _ = state
        if value is not None:
            insort(values, value, key=rank)
        part = None if part is None else float(part)
        if part is not None and not 0.0 <= part <= 1.0:
            raise FunctionError(f"The percentage must be between [0.0, 1.0], it is {part}")
        return values, part

    def finish(state: State) -> Value:
        values, part = state
        if not values or part is None:
            return None
        found = interpolate(values, part, weighs_both=use.weighs_both)
        return found if is_number else int(found)

    return Accumulator(([], None), step, finish)


def interpolate(values: Sequence[Value], part: float, *, weighs_both: bool) -> float:
    """The value at that part of the way, or between those beside it, to the last bit as Spark."""
    position = (len(values) - 1) * part
    lower, higher = math.floor(position), math.ceil(position)
    low, high = float(values[lower]), float(values[higher])
    if lower == higher or low == high:
        return low
    if weighs_both:
        return (higher - position) * low + (position - lower) * high
    return low + (position - lower) * (high - low)


def of_one(type_of: Callable[[ValueType], ValueType | None]) -> Result:
    return lambda use: type_of(use.types[0]) if len(use.types) == 1 else None


def of_number(type_of: Callable[[ValueType], ValueType]) -> Result:
    return of_one(lambda one: type_of(one) if one.family in NUMBERS else SPANS.get(one.family))


def of_truth_values(type_: ValueType) -> Result:
    return of_one(lambda one: type_ if one.family is Family.BOOLEAN else None)


def type_of_value(type_: ValueType) -> ValueType | None:
    if type_.family in NUMBERS:
        return DOUBLE
    return type_ if type_.family is Family.TIME else SPANS.get(type_.family)


def type_beside(use: AggregateUse) -> ValueType | None:
    """The type of the first of two arguments; a third would ask for several rows."""
    return use.types[0] if len(use.types) == 2 else None


def type_of_chosen(use: AggregateUse) -> ValueType | None:
    """The type of the first argument; a second one says whether to ignore NULL."""
    families = [type_.family for type_ in use.types[1:]]
    return use.types[0] if use.types and families in ([], [Family.BOOLEAN]) else None


def type_of_text(use: AggregateUse) -> ValueType | None:
    """The type of the texts, which the delimiter has too."""
    family = use.types[0].family if use.types else None
    alike = all(type_.family is family or type_.name == "void" for type_ in use.types)
    if len(use.types) > 2 or not alike or family not in (Family.STRING, Family.BINARY):
        return None
    return use.types[0]


def type_of_percentile(use: AggregateUse) -> ValueType | None:
    """Of a value and the part; how many times a value counts is no third argument here."""
    if len(use.types) != 2 or use.types[1].family not in NUMBERS:
        return None
    return type_of_value(use.types[0])


least, greatest = partial(extreme, largest=False), partial(extreme, largest=True)
first_value, last_value = partial(value_at_end, first=True), partial(value_at_end, first=False)

AGGREGATES: Mapping[str, AggregateFunction] = by_name(
    {
        "count": AggregateFunction(lambda _: BIGINT, count),
        "count_if": AggregateFunction(of_truth_values(BIGINT), count_if),
        "bool_and every": AggregateFunction(of_truth_values(BOOLEAN), least),
        "bool_or some any": AggregateFunction(of_truth_values(BOOLEAN), greatest),
        "min": AggregateFunction(of_one(lambda one: one), least, ignores_repeats=True),
        "max": AggregateFunction(of_one(lambda one: one), greatest, ignores_repeats=True),
        "min_by": AggregateFunction(type_beside, least),
        "max_by": AggregateFunction(type_beside, greatest),
        "sum": AggregateFunction(of_number(sum_type), sum_of),
        "avg mean": AggregateFunction(of_number(average_type), partial(sum_of, averages=True)),
        "any_value first_value": AggregateFunction(type_of_chosen, first_value, constant=1),
        "last_value": AggregateFunction(type_of_chosen, last_value, constant=1),
        "mode": AggregateFunction(type_of_chosen, mode, constant=1),
        "collect_list array_agg": AggregateFunction(of_one(array), collect_list),
        "collect_set": AggregateFunction(
            of_one(array), lambda _: Accumulator({}, count_values, tuple), ignores_repeats=True
        ),
        "listagg string_agg": AggregateFunction(type_of_text, listagg, constant=1),
        "stddev stddev_samp std": statistic(
            lambda state: root(state[2] / (state[0] - 1.0)), sample=True
        ),
        "stddev_pop": statistic(lambda state: root(state[2] / state[0])),
        "variance var_samp": statistic(lambda state: state[2] / (state[0] - 1.0), sample=True),
        "var_pop": statistic(lambda state: state[2] / state[0]),
        "regr_slope": statistic(
            lambda state: state[3] / state[4] if state[4] else None, step=add_point
        ),
        "median": AggregateFunction(of_one(type_of_value), percentile),
        "percentile": AggregateFunction(type_of_percentile, percentile, constant=1),
    }
)

# Aggregates that do not compare their first argument, which may have maps.
CHOOSING = {
    *("count", "any_value", "first_value", "last_value", "min_by", "max_by"),
    *("collect_list", "array_agg", "listagg", "string_agg"),
}

# For some of those that are not here: approximate ones, and those that few ask for.
INSTEAD: Mapping[str, str] = {
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
