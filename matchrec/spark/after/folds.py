"""Aggregates as SQL over an array: what Spark's aggregate gives for the array's values in order.

A group by may merge parts of a group in any order; a fold of an array goes from the first row of a
match to the last. `FOLDS` has every aggregate whose result depends on the order of the rows, sums
of floating-point numbers and statistics of them included, and all others that arrays can say.
Source: Spark's `Sum`, `Average`, `MaxBy`, `ListAgg`, `CentralMomentAgg`, `Covariance` and
`PearsonCorrelation`, whose updates these are, operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from pyspark.sql.types import AnsiIntervalType, ArrayType, DataType, DecimalType, StructType

from matchrec.conditions.types import MOST_DIGITS


@dataclass(frozen=True)
class Values:
    """The values that an aggregate is over, one for each row that counts, and its result's type.

    sql: a column that holds them as an array, without those that do not count because they are
    NULL. element: the type of one: of an argument or, of several terms, a struct of them, a0 ...
    and o0 ... . others: the arguments that are one value for all rows, as SQL. ordering: the words
    of WITHIN GROUP, such as DESC, by term. without_value: what a statistic is that would divide by
    zero, as SQL.
    """

    sql: str
    element: DataType
    type: DataType
    others: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    ignore_nulls: bool = False
    without_value: str = "NULL"

    @property
    def type_name(self) -> str:
        return self.type.simpleString()


ToSql = Callable[[Values], str]


@dataclass(frozen=True, slots=True)
class Fold:
    """How an aggregate is said over arrays.

    sql: the fold of its values. terms: how many arguments differ from row to row; None is all. The
    others come as SQL of their own. known: the arguments without which a row does not count; None
    is all. digits: the most that a decimal result may have, if it has more than six places. Of
    sums and quotients that might not fit 38 digits Spark leaves out all places but six.
    """

    sql: ToSql
    terms: int | None = None
    known: tuple[int, ...] | None = None
    digits: int = MOST_DIGITS

    def terms_of(self, arguments: int) -> int:
        return arguments if self.terms is None else min(self.terms, arguments)

    def keeps_digits(self, result: DataType) -> bool:
        """Whether no digit of a result of this type is lost on the way."""
        if not isinstance(result, DecimalType):
            return True
        return result.precision <= self.digits or result.scale <= SURE_PLACES


SURE_PLACES = 6


def without_repeats(values: Values) -> str:
    """The values, each once. Spark compares nested ones in pairs, so they are sorted before."""
    if not isinstance(values.element, StructType | ArrayType):
        return f"array_distinct({values.sql})"
    once = "filter(s, (x, i) -> i = 0 OR NOT x <=> get(s, i - 1))"
    found = f"get(transform(array(array_sort({values.sql})), s -> {once}), 0)"
    return f"coalesce({found}, array())"  # never NULL, as Spark is to know


def count(values: Values, counted: str = "{0}") -> str:
    """How many values or rows there are. counted: SQL of those that are."""
    return f"CAST(size({counted.format(values.sql)}) AS BIGINT)"


def extreme(values: Values, function: str, comparison: str) -> str:
    """The least or greatest value. Nested ones are compared in pairs: where Sail's function looks
    for one, a NULL in it is greater than all else, and an array of arrays is an error.
    """
    if not isinstance(values.element, StructType | ArrayType):
        return f"{function}({values.sql})"
    best = f"(m, x) -> IF(x {comparison} m, x, m)"
    return f"aggregate({values.sql}, get({values.sql}, 0), {best})"


def chosen(values: Values, choice: str) -> str:
    """The first or the last value, or that of those that are not NULL."""
    every, known = choice.format(values.sql), choice.format(f"array_compact({values.sql})")
    if values.ignore_nulls:
        return known
    return f"IF({values.others[0]}, {known}, {every})" if values.others else every


def beside(values: Values, comparison: str) -> str:
    """The value on the row whose second one is the best; of equal ones the last, as in Spark.

    Of the best k rows, those that come first are the first of equal ones.
    """
    if values.others:
        words = "DESC" if comparison == ">" else "ASC"
        ordered = in_order(values.sql, (("a1", words),))
        every = f"transform({ordered}, x -> x.a0)"
        best = f"filter({every}, (x, i) -> i < {values.others[0]})"  # Sail slices no structs
        return f"IF(size({values.sql}) = 0, NULL, {best})"
    best = f"(m, x) -> IF(m.a1 {comparison} x.a1, m, x)"
    return f"aggregate({values.sql}, get({values.sql}, 0), {best}, m -> m.a0)"


def in_order(values: str, keys: Sequence[tuple[str, str]]) -> str:
    """An array of structs sorted by fields, each with words such as DESC NULLS LAST; stable."""
    compared = "0"
    for field, words in reversed(keys):
        descends = words.startswith("DESC")
        less, more = (1, -1) if descends else (-1, 1)
        nulls_first = "NULLS FIRST" in words or not (descends or "NULLS LAST" in words)
        absent, present = (-1, 1) if nulls_first else (1, -1)
        l, r = f"l.{field}", f"r.{field}"  # noqa: E741 -- left and right
        compared = (
            f"CASE WHEN {l} <=> {r} THEN {compared} WHEN {l} IS NULL THEN {absent} "
            f"WHEN {r} IS NULL THEN {present} WHEN {l} < {r} THEN {less} ELSE {more} END"
        )
    return f"array_sort({values}, (l, r) -> {compared})"


def joined(values: Values) -> str:
    """The texts one after the other, in the order of the rows or of WITHIN GROUP."""
    texts = values.sql
    if values.ordering:
        keys = [(f"o{place}", words) for place, words in enumerate(values.ordering)]
        texts = f"transform({in_order(values.sql, keys)}, x -> x.a0)"
    text = values.type_name
    texts = f"CAST({texts} AS ARRAY<{text}>)"
    delimiter = f"CAST({values.others[0]} AS {text})" if values.others else "NULL"
    if text == "binary":
        return _reduce(texts, f"concat(a, coalesce({delimiter}, X''), x)")
    return f"IF(size({texts}) = 0, NULL, array_join({texts}, coalesce({delimiter}, '')))"


def _reduce(values: str, merge: str) -> str:
    """The values of an array merged from the first on, NULL of none."""
    rest = f"slice({values}, 2, size({values}))"
    return f"aggregate({rest}, get({values}, 0), (a, x) -> {merge})"


def bits(values: Values, operator: str) -> str:
    return _reduce(values.sql, f"a {operator} x")


def total(values: Values, *, tries: bool = False) -> str:
    """The sum of the values that are not NULL, NULL of none."""
    # with ten digits more than they have, it always fits
    fits = isinstance(values.type, DecimalType) and values.type.precision < MOST_DIGITS
    return _sum(values.sql, values.type, tries=tries and not fits)


def _sum(known: str, type_: DataType, *, tries: bool) -> str:
    name = type_.simpleString()
    values = f"CAST({known} AS ARRAY<{name}>)"
    always_adds = not tries or name == "double"  # Sail's try_add takes whole numbers
    added = "a + x" if always_adds else "try_add(a, x)"
    if isinstance(type_, AnsiIntervalType):
        return _reduce(values, added)
    cast = "TRY_CAST" if tries else "CAST"
    if isinstance(type_, DecimalType):
        added = f"{cast}({added} AS {name})"
    whole = f"aggregate({values}, CAST(0 AS {name}), (a, x) -> {added})"
    return f"IF(size({known}) = 0, NULL, {whole})"


def average(values: Values, *, tries: bool = False, field: str = "") -> str:
    """The average of the values that are not NULL, or of a field of theirs; NULL of none."""
    known, element = values.sql, values.element
    if field:
        assert isinstance(element, StructType)
        known, element = f"transform({values.sql}, x -> x.{field})", element[field].dataType
    name = values.type_name
    count = f"NULLIF(size({known}), 0)"
    if isinstance(values.type, DecimalType):
        assert isinstance(element, DecimalType)
        sums = DecimalType(min(38, element.precision + 10), element.scale)
        cast = "TRY_CAST" if tries else "CAST"
        divided = f"{_sum(known, sums, tries=tries)} / CAST({count} AS DECIMAL(20,0))"
        return f"{cast}({divided} AS {name})"
    return f"{_sum(known, values.type, tries=tries)} / {count}"


N = "(s.n + 1D)"


def moments(value: str, average: str) -> Mapping[str, str]:
    """How a row adds to the number of rows, their average and the powers of distances from it."""
    delta = f"({value} - {average})"
    part = f"({delta} / {N})"
    m2 = f"(s.m2 + {delta} * ({delta} - {part}))"
    difference = f"({delta} * {delta} - {part} * {part})"
    m3 = f"(s.m3 - 3D * {part} * {m2} + {delta} * {difference})"
    cubes = f"({delta} * ({delta} * {delta}) - {part} * ({part} * {part}))"
    m4 = f"(s.m4 - 4D * {part} * {m3} - 6D * ({part} * {part}) * {m2} + {delta} * {cubes})"
    return {"n": N, "average": f"({average} + {part})", "m2": m2, "m3": m3, "m4": m4}


MOMENTS = moments("x", "s.average")

FROM_X, FROM_Y = "(x.a0 - s.x)", "(x.a1 - s.y)"
NEXT_X, NEXT_Y = f"(s.x + {FROM_X} / {N})", f"(s.y + {FROM_Y} / {N})"
PAIRS = {
    "n": N,
    "x": NEXT_X,
    "y": NEXT_Y,
    "xy": f"(s.xy + {FROM_X} * (x.a1 - {NEXT_Y}))",
    "xx": f"(s.xx + {FROM_X} * (x.a0 - {NEXT_X}))",
    "yy": f"(s.yy + {FROM_Y} * (x.a1 - {NEXT_Y}))",
}


def doubles(values: Values, field: str = "") -> str:
    known = f"transform({values.sql}, x -> x.{field})" if field else values.sql
    return f"CAST({known} AS ARRAY<DOUBLE>)"


def pairs(values: Values, first: str = "a0", second: str = "a1") -> str:
    """Two fields of the values as DOUBLE, a0 and a1."""
    fields = f"CAST(x.{first} AS DOUBLE) AS a0, CAST(x.{second} AS DOUBLE) AS a1"
    return f"transform({values.sql}, x -> struct({fields}))"


def statistic(
    names: str, result: str, sums: Mapping[str, str] = MOMENTS, array: ToSql = doubles
) -> Fold:
    """A statistic of one number on each row, or of two: `result` of sums of these names; NULL of
    none. array: the numbers.
    """
    used = {name: sums[name] for name in names.split()}
    begin = ", ".join(f"'{name}', 0D" for name in used)
    merge = ", ".join(f"'{name}', {update}" for name, update in used.items())

    def sql(values: Values) -> str:
        found = result.replace("{without_value}", values.without_value)
        return (
            f"aggregate({array(values)}, named_struct({begin}), (s, x) -> named_struct({merge}), "
            f"s -> CASE WHEN s.n = 0D THEN NULL ELSE {found} END)"
        )

    return Fold(sql)


of_pair = partial(statistic, sums=PAIRS, array=pairs)
# A line through points, whose x is the second number: of that the moments count as well.
POINTS = {**PAIRS, "m2": moments("x.a0", "s.x")["m2"]}
of_line = partial(
    statistic, "n x y xy m2", sums=POINTS, array=partial(pairs, first="a1", second="a0")
)
OR_NONE = "CASE WHEN {0} THEN {{without_value}} ELSE {1} END"
FROM_ONE = "s.n = 1D"
VAR_SAMP = OR_NONE.format(FROM_ONE, "s.m2 / (s.n - 1D)")
STDDEV_SAMP = OR_NONE.format(FROM_ONE, "sqrt(s.m2 / (s.n - 1D))")
SLOPE = "s.xy / s.m2"

greatest = partial(extreme, function="array_max", comparison=">")
least = partial(extreme, function="array_min", comparison="<")
first = partial(chosen, choice="get({0}, 0)")
last = partial(chosen, choice="get({0}, size({0}) - 1)")

DIGITS_OF_SUM = 37  # the sum of two has one more
DIGITS_OF_AVERAGE = 28  # its sum has six more, beside all places of the quotient

FOLDS: Mapping[str, Fold] = {
    **dict.fromkeys(("any", "bool_or", "max", "some"), Fold(greatest)),
    **dict.fromkeys(("bool_and", "every", "min"), Fold(least)),
    **dict.fromkeys(("any_value", "first_value"), Fold(first, terms=1, known=())),
    "last_value": Fold(last, terms=1, known=()),
    **dict.fromkeys(("array_agg", "collect_list"), Fold(attrgetter("sql"))),
    "collect_set": Fold(without_repeats),
    "collect_union": Fold(lambda one: f"array_distinct(array_compact(flatten({one.sql})))"),
    **dict.fromkeys(("count", "regr_count"), Fold(count)),
    "count_if": Fold(partial(count, counted="filter({0}, x -> x)")),
    **dict.fromkeys(("listagg", "string_agg"), Fold(joined, terms=1)),
    "max_by": Fold(partial(beside, comparison=">"), terms=2, known=(1,)),
    "min_by": Fold(partial(beside, comparison="<"), terms=2, known=(1,)),
    "bit_and": Fold(partial(bits, operator="&")),
    "bit_or": Fold(partial(bits, operator="|")),
    "bit_xor": Fold(partial(bits, operator="^")),
    "sum": Fold(total, digits=DIGITS_OF_SUM),
    "try_sum": Fold(partial(total, tries=True), digits=DIGITS_OF_SUM),
    **dict.fromkeys(("avg", "mean"), Fold(average, digits=DIGITS_OF_AVERAGE)),
    "try_avg": Fold(partial(average, tries=True), digits=DIGITS_OF_AVERAGE),
    "regr_avgy": Fold(partial(average, field="a0"), digits=DIGITS_OF_AVERAGE),
    "regr_avgx": Fold(partial(average, field="a1"), digits=DIGITS_OF_AVERAGE),
    **dict.fromkeys(("std", "stddev", "stddev_samp"), statistic("n average m2", STDDEV_SAMP)),
    "stddev_pop": statistic("n average m2", "sqrt(s.m2 / s.n)"),
    **dict.fromkeys(("var_samp", "variance"), statistic("n average m2", VAR_SAMP)),
    "var_pop": statistic("n average m2", "s.m2 / s.n"),
    "skewness": statistic(
        "n average m2 m3",
        OR_NONE.format("s.m2 = 0D", "sqrt(s.n) * s.m3 / sqrt(s.m2 * s.m2 * s.m2)"),
    ),
    "kurtosis": statistic(
        "n average m2 m3 m4", OR_NONE.format("s.m2 = 0D", "s.n * s.m4 / (s.m2 * s.m2) - 3D")
    ),
    "covar_pop": of_pair("n x y xy", "s.xy / s.n"),
    "covar_samp": of_pair("n x y xy", OR_NONE.format(FROM_ONE, "s.xy / (s.n - 1D)")),
    "corr": of_pair(
        "n x y xy xx yy",
        OR_NONE.format(f"{FROM_ONE} OR s.xx = 0D OR s.yy = 0D", "s.xy / sqrt(s.xx * s.yy)"),
    ),
    "regr_r2": of_pair(
        "n x y xy xx yy",
        "CASE WHEN s.yy = 0D THEN NULL WHEN s.xx = 0D THEN 1D "
        "ELSE (s.xy / sqrt(s.xx * s.yy)) * (s.xy / sqrt(s.xx * s.yy)) END",
    ),
    "regr_sxy": of_pair("n x y xy", "s.xy"),
    "regr_syy": statistic("n average m2", "s.m2", array=partial(doubles, field="a0")),
    "regr_sxx": statistic("n average m2", "s.m2", array=partial(doubles, field="a1")),
    "regr_slope": of_line(f"IF(s.m2 = 0D, NULL, {SLOPE})"),
    "regr_intercept": of_line(f"IF(s.m2 = 0D, NULL, s.y - {SLOPE} * s.x)"),
}
