"""Aggregates as SQL over an array, with the result of Spark's aggregate over the values in order.

GROUP BY may merge parts of a group in any order; a fold of an array goes from the first row of a
match to the last. `FOLDS` has every aggregate whose result depends on the order of the rows, which
includes sums of floating-point numbers and statistics, and all others that functions over arrays
can compute.

In the SQL, `s` is the state of a fold, `x` an element of the array, `a` what is merged so far, and
`m` the best element so far.

Source: Spark's `Sum`, `Average`, `MaxBy`, `ListAgg`, `CentralMomentAgg`, `Covariance` and
`PearsonCorrelation`. The folds update their state as these do, operation by operation, so that
floating-point results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql.types import AnsiIntervalType, ArrayType, DataType, DecimalType, StructType

from matchrec.conditions.types import (
    DIGITS_OF_AVERAGE,
    DIGITS_OF_SUM,
    MOST_DIGITS,
    find_sum_precision,
    keeps_digits,
)
from matchrec.plan.text import write_decimal_average


@dataclass(frozen=True)
class FoldedValues:
    """The values of an aggregate, one for each row that counts, and the type of its result."""

    # The column that holds them as an array. Values are left out that are NULL and then do not
    # count.
    sql: str
    # The type of a value: of an argument, or of a struct of several terms. Its fields are the
    # arguments a0, a1, ... and what orders the rows: o0, o1, ...
    element: DataType
    # The type of the result, as Spark gives it.
    type: DataType
    # SQL of the arguments that have the same value on all rows.
    constants: tuple[str, ...] = ()
    # The words after each term of WITHIN GROUP, such as DESC.
    ordering: tuple[str, ...] = ()
    # Whether IGNORE NULLS is written.
    ignore_nulls: bool = False
    # SQL of a statistic that would divide by zero: NULL, or NaN with a legacy setting.
    undefined: str = "NULL"

    @property
    def type_name(self) -> str:
        """Return the type of the result, as SQL."""
        return self.type.simpleString()


# Returns SQL, of an aggregate or of an array, for some values.
ToSql = Callable[[FoldedValues], str]


@dataclass(frozen=True, slots=True)
class Fold:
    """How an aggregate is computed over an array."""

    # Returns SQL of the aggregate.
    sql: ToSql
    # How many arguments, from the first one on, may differ from row to row; None for all.
    row_arguments: int | None = None
    # The arguments that must not be NULL for a row to count; None for all that may differ.
    required: tuple[int, ...] | None = None
    # The most digits of a decimal result, see `conditions.types.keeps_digits`.
    most_digits: int = MOST_DIGITS

    def count_row_arguments(self, arguments: int) -> int:
        """Return how many of the arguments of an aggregate may differ from row to row."""
        return arguments if self.row_arguments is None else min(self.row_arguments, arguments)

    def keeps_digits(self, result_type: DataType) -> bool:
        """Return whether the fold computes a result of this type without losing digits."""
        if not isinstance(result_type, DecimalType):
            return True
        return keeps_digits(result_type.precision, result_type.scale, self.most_digits)


# Arrays and counts.


def write_array(values: FoldedValues) -> str:
    """Return SQL of the values as an array."""
    return values.sql


def write_distinct_values(values: FoldedValues) -> str:
    """Return SQL of the values, each once.

    Nested values are sorted first: `array_distinct` of Spark compares them in pairs.
    """
    if not isinstance(values.element, StructType | ArrayType):
        return f"array_distinct({values.sql})"
    is_new = "filter(s, (x, i) -> i = 0 OR NOT x <=> get(s, i - 1))"
    distinct = f"get(transform(array(array_sort({values.sql})), s -> {is_new}), 0)"
    return f"coalesce({distinct}, array())"  # never NULL, which Spark's schema then says


def unite(values: FoldedValues) -> str:
    """Return SQL of the elements of arrays that are not NULL, each once."""
    return f"array_distinct(array_compact(flatten({values.sql})))"


def count(values: FoldedValues) -> str:
    """Return SQL of the number of values."""
    return f"CAST(size({values.sql}) AS BIGINT)"


def count_true(values: FoldedValues) -> str:
    """Return SQL of the number of values that are true."""
    return f"CAST(size(filter({values.sql}, x -> x)) AS BIGINT)"


# One of the values.


def find_extreme(values: FoldedValues, function: str, comparison: str) -> str:
    """Return SQL of the least or the greatest value.

    Nested values are compared in pairs: Sail's function puts a NULL in them after all else, and
    raises an error for an array of arrays.

    Args:
        values: the values.
        function: Spark's function over arrays.
        comparison: the operator between a better value and a worse one.
    """
    if not isinstance(values.element, StructType | ArrayType):
        return f"{function}({values.sql})"
    better = f"(m, x) -> IF(x {comparison} m, x, m)"
    return f"aggregate({values.sql}, get({values.sql}, 0), {better})"


def find_greatest(values: FoldedValues) -> str:
    """Return SQL of the greatest value."""
    return find_extreme(values, "array_max", ">")


def find_least(values: FoldedValues) -> str:
    """Return SQL of the least value."""
    return find_extreme(values, "array_min", "<")


def choose(values: FoldedValues, choice: str) -> str:
    """Return SQL of a value, or of a value among those that are not NULL.

    Args:
        values: the values. With IGNORE NULLS, or if a constant argument is true, NULL is passed
            over.
        choice: SQL that chooses an element of the array `{0}`.
    """
    any_value = choice.format(values.sql)
    value_not_null = choice.format(f"array_compact({values.sql})")
    if values.ignore_nulls:
        return value_not_null
    if values.constants:
        return f"IF({values.constants[0]}, {value_not_null}, {any_value})"
    return any_value


def choose_first(values: FoldedValues) -> str:
    """Return SQL of the first value, or of the first that is not NULL."""
    return choose(values, "get({0}, 0)")


def choose_last(values: FoldedValues) -> str:
    """Return SQL of the last value, or of the last that is not NULL."""
    return choose(values, "get({0}, size({0}) - 1)")


def choose_by(values: FoldedValues, comparison: str) -> str:
    """Return SQL of the first argument on the row with the greatest or the least second argument.

    If several rows have equal second arguments, the last one counts, as in Spark. With a third
    argument k, the result is the array of the k best; equal ones keep their order.

    Args:
        values: structs of the two arguments.
        comparison: the operator between a better second argument and a worse one.
    """
    if values.constants:
        words = "DESC" if comparison == ">" else "ASC"
        sorted_values = sort_structs(values.sql, (("a1", words),))
        first_arguments = f"transform({sorted_values}, x -> x.a0)"
        # a filter, because Sail slices no arrays of structs
        best = f"filter({first_arguments}, (x, i) -> i < {values.constants[0]})"
        return f"IF(size({values.sql}) = 0, NULL, {best})"
    better = f"(m, x) -> IF(m.a1 {comparison} x.a1, m, x)"
    return f"aggregate({values.sql}, get({values.sql}, 0), {better}, m -> m.a0)"


def sort_structs(array: str, keys: Sequence[tuple[str, str]]) -> str:
    """Return SQL of an array of structs in the order of some fields. The sort is stable.

    Args:
        array: SQL of the array.
        keys: fields, each with words such as DESC NULLS LAST.
    """
    comparison = "0"
    for field, words in reversed(keys):
        is_descending = words.startswith("DESC")
        if_less, if_greater = (1, -1) if is_descending else (-1, 1)
        nulls_first = "NULLS FIRST" in words or not (is_descending or "NULLS LAST" in words)
        if_left_null, if_right_null = (-1, 1) if nulls_first else (1, -1)
        left, right = f"l.{field}", f"r.{field}"
        comparison = (
            f"CASE WHEN {left} <=> {right} THEN {comparison} "
            f"WHEN {left} IS NULL THEN {if_left_null} WHEN {right} IS NULL THEN {if_right_null} "
            f"WHEN {left} < {right} THEN {if_less} ELSE {if_greater} END"
        )
    return f"array_sort({array}, (l, r) -> {comparison})"


# Values merged one after the other.


def join(values: FoldedValues) -> str:
    """Return SQL of the texts joined, in the order of the rows or of WITHIN GROUP."""
    texts = values.sql
    if values.ordering:
        keys = [(f"o{index}", words) for index, words in enumerate(values.ordering)]
        texts = f"transform({sort_structs(values.sql, keys)}, x -> x.a0)"
    text_type = values.type_name
    texts = f"CAST({texts} AS ARRAY<{text_type}>)"
    delimiter = f"CAST({values.constants[0]} AS {text_type})" if values.constants else "NULL"
    if text_type == "binary":
        return merge_elements(texts, f"concat(a, coalesce({delimiter}, X''), x)")
    return f"IF(size({texts}) = 0, NULL, array_join({texts}, coalesce({delimiter}, '')))"


def merge_elements(array: str, merge: str) -> str:
    """Return SQL of the elements of an array merged from the first on; NULL if there are none.

    Args:
        array: SQL of the array.
        merge: SQL that merges the next element `x` into `a`.
    """
    elements_after_first = f"slice({array}, 2, size({array}))"
    return f"aggregate({elements_after_first}, get({array}, 0), (a, x) -> {merge})"


def merge_bits(values: FoldedValues, operator: str) -> str:
    """Return SQL of the values merged by an operator on bits."""
    return merge_elements(values.sql, f"a {operator} x")


# Sums and averages.


def add_up(values: FoldedValues, *, is_null_on_error: bool = False) -> str:
    """Return SQL of the sum of the values; NULL if there are none.

    Args:
        values: the values, without NULL.
        is_null_on_error: whether a sum that does not fit its type is NULL, and no error.
    """
    # the sum has ten digits more than the values, if a decimal can have as many; then it fits
    always_fits = isinstance(values.type, DecimalType) and values.type.precision < MOST_DIGITS
    return write_sum(values.sql, values.type, is_null_on_error=is_null_on_error and not always_fits)


def write_sum(numbers: str, sum_type: DataType, *, is_null_on_error: bool) -> str:
    """Return SQL of the sum of an array without NULL; NULL if it is empty.

    Args:
        numbers: SQL of the array.
        sum_type: the type of the sum.
        is_null_on_error: whether a sum that does not fit its type is NULL, and no error.
    """
    type_name = sum_type.simpleString()
    addends = f"CAST({numbers} AS ARRAY<{type_name}>)"
    # a DOUBLE always fits, and Sail's try_add accepts only whole numbers
    never_fails = not is_null_on_error or type_name == "double"
    addition = "a + x" if never_fails else "try_add(a, x)"
    if isinstance(sum_type, AnsiIntervalType):
        return merge_elements(addends, addition)
    if isinstance(sum_type, DecimalType):
        cast = "TRY_CAST" if is_null_on_error else "CAST"
        addition = f"{cast}({addition} AS {type_name})"
    total = f"aggregate({addends}, CAST(0 AS {type_name}), (a, x) -> {addition})"
    return f"IF(size({numbers}) = 0, NULL, {total})"


def write_average(values: FoldedValues, *, is_null_on_error: bool = False, field: str = "") -> str:
    """Return SQL of the average of the values; NULL if there are none.

    Args:
        values: the values, without NULL.
        is_null_on_error: whether an average that does not fit its type is NULL, and no error.
        field: the field to average, if the values are structs.
    """
    numbers, number_type = values.sql, values.element
    if field:
        assert isinstance(number_type, StructType)
        numbers = f"transform({values.sql}, x -> x.{field})"
        number_type = number_type[field].dataType
    if not isinstance(values.type, DecimalType):
        total = write_sum(numbers, values.type, is_null_on_error=is_null_on_error)
        return f"{total} / NULLIF(size({numbers}), 0)"
    assert isinstance(number_type, DecimalType)
    sum_type = DecimalType(find_sum_precision(number_type.precision), number_type.scale)
    total = write_sum(numbers, sum_type, is_null_on_error=is_null_on_error)
    cast = "TRY_CAST" if is_null_on_error else "CAST"
    return "".join(write_decimal_average(total, f"size({numbers})", values.type_name, cast))


# Statistics.
#
# The state of a fold is a struct `s` of sums. Each sum has a name, and SQL that updates it for the
# next number `x`, or the next pair of numbers `x.a0` and `x.a1`.

# The number of rows, the next one included.
NEXT_N = "(s.n + 1D)"


def write_moment_updates(value: str, average: str) -> Mapping[str, str]:
    """Return SQL that updates the central moments of some numbers, by their names.

    They are the number of rows `n`, the average, and the sums `m2`, `m3` and `m4` of powers of the
    distances from the average.

    Args:
        value: SQL of the next number.
        average: SQL of the average so far.
    """
    delta = f"({value} - {average})"
    share = f"({delta} / {NEXT_N})"
    m2 = f"(s.m2 + {delta} * ({delta} - {share}))"
    square_difference = f"({delta} * {delta} - {share} * {share})"
    m3 = f"(s.m3 - 3D * {share} * {m2} + {delta} * {square_difference})"
    cube_difference = f"({delta} * ({delta} * {delta}) - {share} * ({share} * {share}))"
    m4 = (
        f"(s.m4 - 4D * {share} * {m3} - 6D * ({share} * {share}) * {m2} "
        f"+ {delta} * {cube_difference})"
    )
    return {"n": NEXT_N, "average": f"({average} + {share})", "m2": m2, "m3": m3, "m4": m4}


MOMENT_UPDATES = write_moment_updates("x", "s.average")

# The updates of pairs: the averages `x` and `y` of both numbers, and the sums of products of their
# distances from these.
X_DISTANCE, Y_DISTANCE = "(x.a0 - s.x)", "(x.a1 - s.y)"
NEXT_X, NEXT_Y = f"(s.x + {X_DISTANCE} / {NEXT_N})", f"(s.y + {Y_DISTANCE} / {NEXT_N})"
PAIR_UPDATES = {
    "n": NEXT_N,
    "x": NEXT_X,
    "y": NEXT_Y,
    "xy": f"(s.xy + {X_DISTANCE} * (x.a1 - {NEXT_Y}))",
    "xx": f"(s.xx + {X_DISTANCE} * (x.a0 - {NEXT_X}))",
    "yy": f"(s.yy + {Y_DISTANCE} * (x.a1 - {NEXT_Y}))",
}

# A line through points also needs the second moment of x, as Spark computes it.
LINE_UPDATES = {**PAIR_UPDATES, "m2": write_moment_updates("x.a0", "s.x")["m2"]}


def write_doubles(values: FoldedValues, field: str = "") -> str:
    """Return SQL of the array of the values, or of a field of them, as DOUBLE."""
    numbers = f"transform({values.sql}, x -> x.{field})" if field else values.sql
    return f"CAST({numbers} AS ARRAY<DOUBLE>)"


def write_pairs(values: FoldedValues, first: str = "a0", second: str = "a1") -> str:
    """Return SQL of the array of two fields of the values as DOUBLE; they become a0 and a1."""
    fields = f"CAST(x.{first} AS DOUBLE) AS a0, CAST(x.{second} AS DOUBLE) AS a1"
    return f"transform({values.sql}, x -> struct({fields}))"


def make_statistic(
    sums: str,
    result: str,
    updates: Mapping[str, str] = MOMENT_UPDATES,
    array: ToSql = write_doubles,
) -> Fold:
    """Return the fold of a statistic, which is NULL if there are no values.

    Args:
        sums: the names of the sums that the result needs, with blanks between them. `n` must be
            one of them.
        result: SQL of the statistic from the sums in `s`; `{undefined}` stands for what it is if
            it would divide by zero.
        updates: SQL that updates each sum.
        array: returns SQL of the array that is folded.
    """
    used_updates = {name: updates[name] for name in sums.split()}
    first_state = ", ".join(f"'{name}', 0D" for name in used_updates)
    next_state = ", ".join(f"'{name}', {update}" for name, update in used_updates.items())

    def write_statistic(values: FoldedValues) -> str:
        """Return SQL that folds the values into the statistic."""
        defined_result = result.replace("{undefined}", values.undefined)
        return (
            f"aggregate({array(values)}, named_struct({first_state}), "
            f"(s, x) -> named_struct({next_state}), "
            f"s -> CASE WHEN s.n = 0D THEN NULL ELSE {defined_result} END)"
        )

    return Fold(write_statistic)


def make_pair_statistic(sums: str, result: str) -> Fold:
    """Return the fold of a statistic of two numbers on each row, see `make_statistic`."""
    return make_statistic(sums, result, PAIR_UPDATES, write_pairs)


def make_line_statistic(result: str) -> Fold:
    """Return the fold of a statistic of a line through points; x is the second argument."""
    swapped_pairs = partial(write_pairs, first="a1", second="a0")
    return make_statistic("n x y xy m2", result, LINE_UPDATES, swapped_pairs)


def write_unless(is_undefined: str, result: str) -> str:
    """Return SQL of a result that is `{undefined}` if a test holds, see `make_statistic`."""
    return f"CASE WHEN {is_undefined} THEN {{undefined}} ELSE {result} END"


HAS_ONE_ROW = "s.n = 1D"
SAMPLE_VARIANCE = write_unless(HAS_ONE_ROW, "s.m2 / (s.n - 1D)")
SAMPLE_DEVIATION = write_unless(HAS_ONE_ROW, "sqrt(s.m2 / (s.n - 1D))")
SKEWNESS = write_unless("s.m2 = 0D", "sqrt(s.n) * s.m3 / sqrt(s.m2 * s.m2 * s.m2)")
KURTOSIS = write_unless("s.m2 = 0D", "s.n * s.m4 / (s.m2 * s.m2) - 3D")
CORRELATION = "s.xy / sqrt(s.xx * s.yy)"
DETERMINATION = (
    "CASE WHEN s.yy = 0D THEN NULL WHEN s.xx = 0D THEN 1D "
    f"ELSE ({CORRELATION}) * ({CORRELATION}) END"
)
SLOPE = "s.xy / s.m2"

# The fold of each aggregate, by the name of Spark's function.
FOLDS: Mapping[str, Fold] = {
    **dict.fromkeys(("any", "bool_or", "max", "some"), Fold(find_greatest)),
    **dict.fromkeys(("bool_and", "every", "min"), Fold(find_least)),
    **dict.fromkeys(("any_value", "first_value"), Fold(choose_first, row_arguments=1, required=())),
    "last_value": Fold(choose_last, row_arguments=1, required=()),
    **dict.fromkeys(("array_agg", "collect_list"), Fold(write_array)),
    "collect_set": Fold(write_distinct_values),
    "collect_union": Fold(unite),
    **dict.fromkeys(("count", "regr_count"), Fold(count)),
    "count_if": Fold(count_true),
    **dict.fromkeys(("listagg", "string_agg"), Fold(join, row_arguments=1)),
    "max_by": Fold(partial(choose_by, comparison=">"), row_arguments=2, required=(1,)),
    "min_by": Fold(partial(choose_by, comparison="<"), row_arguments=2, required=(1,)),
    "bit_and": Fold(partial(merge_bits, operator="&")),
    "bit_or": Fold(partial(merge_bits, operator="|")),
    "bit_xor": Fold(partial(merge_bits, operator="^")),
    "sum": Fold(add_up, most_digits=DIGITS_OF_SUM),
    "try_sum": Fold(partial(add_up, is_null_on_error=True), most_digits=DIGITS_OF_SUM),
    **dict.fromkeys(("avg", "mean"), Fold(write_average, most_digits=DIGITS_OF_AVERAGE)),
    "try_avg": Fold(partial(write_average, is_null_on_error=True), most_digits=DIGITS_OF_AVERAGE),
    "regr_avgy": Fold(partial(write_average, field="a0"), most_digits=DIGITS_OF_AVERAGE),
    "regr_avgx": Fold(partial(write_average, field="a1"), most_digits=DIGITS_OF_AVERAGE),
    **dict.fromkeys(
        ("std", "stddev", "stddev_samp"), make_statistic("n average m2", SAMPLE_DEVIATION)
    ),
    "stddev_pop": make_statistic("n average m2", "sqrt(s.m2 / s.n)"),
    **dict.fromkeys(("var_samp", "variance"), make_statistic("n average m2", SAMPLE_VARIANCE)),
    "var_pop": make_statistic("n average m2", "s.m2 / s.n"),
    "skewness": make_statistic("n average m2 m3", SKEWNESS),
    "kurtosis": make_statistic("n average m2 m3 m4", KURTOSIS),
    "covar_pop": make_pair_statistic("n x y xy", "s.xy / s.n"),
    "covar_samp": make_pair_statistic("n x y xy", write_unless(HAS_ONE_ROW, "s.xy / (s.n - 1D)")),
    "corr": make_pair_statistic(
        "n x y xy xx yy", write_unless(f"{HAS_ONE_ROW} OR s.xx = 0D OR s.yy = 0D", CORRELATION)
    ),
    "regr_r2": make_pair_statistic("n x y xy xx yy", DETERMINATION),
    "regr_sxy": make_pair_statistic("n x y xy", "s.xy"),
    "regr_syy": make_statistic("n average m2", "s.m2", array=partial(write_doubles, field="a0")),
    "regr_sxx": make_statistic("n average m2", "s.m2", array=partial(write_doubles, field="a1")),
    "regr_slope": make_line_statistic(f"IF(s.m2 = 0D, NULL, {SLOPE})"),
    "regr_intercept": make_line_statistic(f"IF(s.m2 = 0D, NULL, s.y - {SLOPE} * s.x)"),
}
