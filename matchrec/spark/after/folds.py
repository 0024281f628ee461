"""Write aggregates as SQL over an array, with the result of Spark's aggregate over sorted rows.

GROUP BY can merge parts of a group in any order; a fold of an array goes from the first row of a
match to the last. `FOLDS` has every aggregate whose result depends on the order of the rows, which
includes sums of floating-point numbers and statistics (`after.statistics`), and all other
aggregates that functions over arrays can compute. For `bit_or(flags)`, the SQL is

    aggregate(slice(<flags>, 2, size(<flags>)), get(<flags>, 0), (a, x) -> a | x)

In the SQL, `x` is an element of the array, `a` the elements merged so far, `m` the best element so
far, and `l` and `r` are two elements that are compared.

Source: Spark's `Sum`, `Average`, `MaxBy` and `ListAgg`. The folds update their state as these
classes do, operation by operation, so that floating-point results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.sql.types import AnsiIntervalType, ArrayType, DataType, DecimalType, StructType

from matchrec.conditions.types import (
    DIGITS_OF_AVERAGE,
    DIGITS_OF_SUM,
    MAX_DIGITS,
    find_sum_precision,
)
from matchrec.plan.text import write_decimal_average
from matchrec.spark.after.fold_types import Fold, FoldedValues, write_field
from matchrec.spark.after.statistics import STATISTICS

# Arrays and counts.


def write_array(values: FoldedValues) -> str:
    """Return SQL of the values as an array."""
    return values.array


def write_distinct_values(values: FoldedValues) -> str:
    """Return SQL of the values, each once.

    Nested values are sorted, and a value is dropped if it equals the value before it. For nested
    values, Spark's `array_distinct` would compare every pair of them.
    """
    if not isinstance(values.value_type, StructType | ArrayType):
        return f"array_distinct({values.array})"
    # In the SQL, `s` is the sorted array. It is in an array of one array, so that it has a name.
    distinct_values = "filter(s, (x, i) -> i = 0 OR NOT x <=> get(s, i - 1))"
    distinct = f"get(transform(array(array_sort({values.array})), s -> {distinct_values}), 0)"
    return f"coalesce({distinct}, array())"  # so that Spark's schema says that it is never NULL


def write_union(values: FoldedValues) -> str:
    """Return SQL of the elements of the values, which are arrays, each once and without NULL."""
    return f"array_distinct(array_compact(flatten({values.array})))"


def write_count(values: FoldedValues) -> str:
    """Return SQL of the number of values."""
    return f"CAST(size({values.array}) AS BIGINT)"


def write_true_count(values: FoldedValues) -> str:
    """Return SQL of the number of values that are true."""
    return f"CAST(size(filter({values.array}, x -> x)) AS BIGINT)"


# One of the values.


def write_extreme(values: FoldedValues, function: str, comparison: str) -> str:
    """Return SQL of the least or the greatest value.

    Nested values are compared in pairs: Sail's function sorts a NULL inside of them after all other
    values, and raises an error for an array of arrays.

    Args:
        values: the values.
        function: Spark's function over arrays: `array_min` or `array_max`.
        comparison: the operator between a better value and a worse one: `<` or `>`.
    """
    if not isinstance(values.value_type, StructType | ArrayType):
        return f"{function}({values.array})"
    better = f"(m, x) -> IF(x {comparison} m, x, m)"
    return f"aggregate({values.array}, get({values.array}, 0), {better})"


def write_greatest(values: FoldedValues) -> str:
    """Return SQL of the greatest value."""
    return write_extreme(values, "array_max", ">")


def write_least(values: FoldedValues) -> str:
    """Return SQL of the least value."""
    return write_extreme(values, "array_min", "<")


def write_choice(values: FoldedValues, choice: str) -> str:
    """Return SQL of one of the values.

    Args:
        values: the values. With IGNORE NULLS, or if a constant argument is true, values that are
            NULL are left out.
        choice: SQL that chooses an element of the array `{0}`.
    """
    choice_of_all = choice.format(values.array)
    choice_without_nulls = choice.format(f"array_compact({values.array})")
    if values.ignore_nulls:
        return choice_without_nulls
    if values.constants:
        return f"IF({values.constants[0]}, {choice_without_nulls}, {choice_of_all})"
    return choice_of_all


def write_first(values: FoldedValues) -> str:
    """Return SQL of the first value, or of the first that is not NULL."""
    return write_choice(values, "get({0}, 0)")


def write_last(values: FoldedValues) -> str:
    """Return SQL of the last value, or of the last that is not NULL."""
    return write_choice(values, "get({0}, size({0}) - 1)")


def write_choice_by(values: FoldedValues, comparison: str) -> str:
    """Return SQL of the first argument on the row with the greatest or the least second argument.

    If several rows have equal second arguments, the last of them counts, as in Spark. With a third
    argument k, the result is the array of the first arguments on the k best rows, best first. Rows
    with equal second arguments keep their order.

    Args:
        values: structs of the two arguments. The third argument is a constant.
        comparison: the operator between a better second argument and a worse one: `<` or `>`.
    """
    if values.constants:
        direction = "DESC" if comparison == ">" else "ASC"
        sorted_values = write_sorted_structs(values.array, (("a1", direction),))
        first_arguments = write_field(sorted_values, "a0")
        # A filter, because Sail cannot slice arrays of structs.
        best_arguments = f"filter({first_arguments}, (x, i) -> i < {values.constants[0]})"
        return f"IF(size({values.array}) = 0, NULL, {best_arguments})"
    better = f"(m, x) -> IF(m.a1 {comparison} x.a1, m, x)"
    return f"aggregate({values.array}, get({values.array}, 0), {better}, m -> m.a0)"


def write_sorted_structs(array: str, keys: Sequence[tuple[str, str]]) -> str:
    """Return SQL of an array of structs in the order of some fields. The sort is stable.

    Args:
        array: SQL of the array.
        keys: the names of fields, most significant first, each with words such as DESC NULLS LAST.
    """
    comparison = "0"  # equal
    for field, words in reversed(keys):
        is_descending = words.startswith("DESC")
        if_less, if_greater = (1, -1) if is_descending else (-1, 1)
        puts_nulls_first = "NULLS FIRST" in words or not (is_descending or "NULLS LAST" in words)
        if_left_null, if_right_null = (-1, 1) if puts_nulls_first else (1, -1)
        left = f"l.{field}"
        right = f"r.{field}"
        comparison = (
            f"CASE WHEN {left} <=> {right} THEN {comparison} "
            f"WHEN {left} IS NULL THEN {if_left_null} WHEN {right} IS NULL THEN {if_right_null} "
            f"WHEN {left} < {right} THEN {if_less} ELSE {if_greater} END"
        )
    return f"array_sort({array}, (l, r) -> {comparison})"


# Values merged one after the other.


def write_joined_text(values: FoldedValues) -> str:
    """Return SQL of the texts joined, in the order of the rows or of WITHIN GROUP."""
    texts = values.array
    if values.ordering:
        keys = [(f"o{index}", words) for index, words in enumerate(values.ordering)]
        texts = write_field(write_sorted_structs(values.array, keys), "a0")
    text_type = values.type_name
    texts = f"CAST({texts} AS ARRAY<{text_type}>)"
    delimiter = f"CAST({values.constants[0]} AS {text_type})" if values.constants else "NULL"
    if text_type == "binary":
        return write_merged_elements(texts, f"concat(a, coalesce({delimiter}, X''), x)")
    return f"IF(size({texts}) = 0, NULL, array_join({texts}, coalesce({delimiter}, '')))"


def write_merged_elements(array: str, merge: str) -> str:
    """Return SQL that merges the elements of an array in order; NULL if the array is empty.

    Args:
        array: SQL of the array.
        merge: SQL that merges the next element `x` into the elements so far, `a`.
    """
    elements_after_first = f"slice({array}, 2, size({array}))"
    return f"aggregate({elements_after_first}, get({array}, 0), (a, x) -> {merge})"


def write_merged_bits(values: FoldedValues, operator: str) -> str:
    """Return SQL of the values merged by an operator on bits: `&`, `|` or `^`."""
    return write_merged_elements(values.array, f"a {operator} x")


# Sums and averages.


def write_sum_of_values(values: FoldedValues, *, is_null_on_error: bool = False) -> str:
    """Return SQL of the sum of the values; NULL if there are none.

    Args:
        values: the values, without NULL.
        is_null_on_error: whether a sum that does not fit its type is NULL instead of an error.
    """
    sum_type = values.result_type
    # Spark's sum of decimals has ten digits more than the values, up to MAX_DIGITS. A sum with ten
    # digits more always fits.
    always_fits = isinstance(sum_type, DecimalType) and sum_type.precision < MAX_DIGITS
    can_be_null = is_null_on_error and not always_fits
    return write_sum_of_array(values.array, sum_type, is_null_on_error=can_be_null)


def write_sum_of_array(numbers: str, sum_type: DataType, *, is_null_on_error: bool) -> str:
    """Return SQL of the sum of an array without NULL; NULL if it is empty.

    Args:
        numbers: SQL of the array.
        sum_type: the type of the sum.
        is_null_on_error: whether a sum that does not fit its type is NULL instead of an error.
    """
    type_name = sum_type.simpleString()
    addends = f"CAST({numbers} AS ARRAY<{type_name}>)"
    # A DOUBLE always fits, and Sail's try_add accepts only whole numbers.
    can_be_null = is_null_on_error and type_name != "double"
    addition = "try_add(a, x)" if can_be_null else "a + x"
    if isinstance(sum_type, AnsiIntervalType):
        return write_merged_elements(addends, addition)
    if isinstance(sum_type, DecimalType):
        cast = "TRY_CAST" if is_null_on_error else "CAST"
        addition = f"{cast}({addition} AS {type_name})"
    total = f"aggregate({addends}, CAST(0 AS {type_name}), (a, x) -> {addition})"
    return f"IF(size({numbers}) = 0, NULL, {total})"


def write_average(values: FoldedValues, *, is_null_on_error: bool = False, field: str = "") -> str:
    """Return SQL of the average of the values; NULL if there are none.

    Args:
        values: the values, without NULL.
        is_null_on_error: whether an average that does not fit its type is NULL instead of an error.
        field: the field to average if the values are structs; otherwise "".
    """
    numbers = values.array
    number_type = values.value_type
    if field:
        assert isinstance(number_type, StructType)
        numbers = write_field(values.array, field)
        number_type = number_type[field].dataType
    if not isinstance(values.result_type, DecimalType):
        total = write_sum_of_array(numbers, values.result_type, is_null_on_error=is_null_on_error)
        return f"{total} / NULLIF(size({numbers}), 0)"
    assert isinstance(number_type, DecimalType)
    sum_type = DecimalType(find_sum_precision(number_type.precision), number_type.scale)
    total = write_sum_of_array(numbers, sum_type, is_null_on_error=is_null_on_error)
    cast = "TRY_CAST" if is_null_on_error else "CAST"
    return "".join(write_decimal_average(total, f"size({numbers})", values.type_name, cast))


# The fold of each aggregate, by the name of Spark's function.
FOLDS: Mapping[str, Fold] = {
    **dict.fromkeys(("any", "bool_or", "max", "some"), Fold(write_greatest)),
    **dict.fromkeys(("bool_and", "every", "min"), Fold(write_least)),
    **dict.fromkeys(
        ("any_value", "first_value"), Fold(write_first, max_row_arguments=1, required_arguments=())
    ),
    "last_value": Fold(write_last, max_row_arguments=1, required_arguments=()),
    **dict.fromkeys(("array_agg", "collect_list"), Fold(write_array)),
    "collect_set": Fold(write_distinct_values),
    "collect_union": Fold(write_union),
    **dict.fromkeys(("count", "regr_count"), Fold(write_count)),
    "count_if": Fold(write_true_count),
    **dict.fromkeys(("listagg", "string_agg"), Fold(write_joined_text, max_row_arguments=1)),
    "max_by": Fold(
        partial(write_choice_by, comparison=">"), max_row_arguments=2, required_arguments=(1,)
    ),
    "min_by": Fold(
        partial(write_choice_by, comparison="<"), max_row_arguments=2, required_arguments=(1,)
    ),
    "bit_and": Fold(partial(write_merged_bits, operator="&")),
    "bit_or": Fold(partial(write_merged_bits, operator="|")),
    "bit_xor": Fold(partial(write_merged_bits, operator="^")),
    "sum": Fold(write_sum_of_values, max_digits=DIGITS_OF_SUM),
    "try_sum": Fold(partial(write_sum_of_values, is_null_on_error=True), max_digits=DIGITS_OF_SUM),
    **dict.fromkeys(("avg", "mean"), Fold(write_average, max_digits=DIGITS_OF_AVERAGE)),
    "try_avg": Fold(partial(write_average, is_null_on_error=True), max_digits=DIGITS_OF_AVERAGE),
    "regr_avgy": Fold(partial(write_average, field="a0"), max_digits=DIGITS_OF_AVERAGE),
    "regr_avgx": Fold(partial(write_average, field="a1"), max_digits=DIGITS_OF_AVERAGE),
    **STATISTICS,
}
