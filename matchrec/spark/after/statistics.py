"""Write the folds of statistics, such as the deviation or the correlation of numbers.

The state of a fold is a struct `s` of sums and averages, all of type DOUBLE. Each has a name, and
SQL that updates it for the next number `x`, or the next pair of numbers `x.a0` and `x.a1`. For
`var_pop(price)`, the SQL is

    aggregate(<prices>, named_struct('n', 0D, 'average', 0D, 'm2', 0D),
              (s, x) -> named_struct('n', <s.n + 1>, 'average', <...>, 'm2', <...>),
              s -> CASE WHEN s.n = 0D THEN NULL ELSE s.m2 / s.n END)

Source: Spark's `CentralMomentAgg`, `Covariance` and `PearsonCorrelation`. A state is updated as in
these classes, operation by operation, so that floating-point results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from matchrec.spark.after.fold_types import Fold, FoldedValues, WriteSql, write_field

# The number of rows, including the next row.
NEXT_N = "(s.n + 1D)"


def write_moment_updates(value: str, average: str) -> Mapping[str, str]:
    """Return SQL that updates the central moments of some numbers, by their names.

    These are the number of rows `n`, the `average`, and the sums `m2`, `m3` and `m4` of the second,
    third and fourth powers of the distances from the average.

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


# The updates for single numbers.
MOMENT_UPDATES = write_moment_updates("x", "s.average")

# The updates for pairs of numbers: the averages `x` and `y` of the first and the second numbers,
# and the sums `xy`, `xx` and `yy` of products of their distances from these averages.
X_DISTANCE = "(x.a0 - s.x)"
Y_DISTANCE = "(x.a1 - s.y)"
NEXT_X = f"(s.x + {X_DISTANCE} / {NEXT_N})"
NEXT_Y = f"(s.y + {Y_DISTANCE} / {NEXT_N})"
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
    """Return SQL of the array of the values as DOUBLE.

    Args:
        values: the values.
        field: the field of a value that is meant, if the values are structs; otherwise "".
    """
    numbers = write_field(values.array, field) if field else values.array
    return f"CAST({numbers} AS ARRAY<DOUBLE>)"


def write_pairs(values: FoldedValues, first: str = "a0", second: str = "a1") -> str:
    """Return SQL of the array of two fields of the values as DOUBLE.

    Args:
        values: the values, which are structs.
        first: the field that becomes a0.
        second: the field that becomes a1.
    """
    fields = f"CAST(x.{first} AS DOUBLE) AS a0, CAST(x.{second} AS DOUBLE) AS a1"
    return f"transform({values.array}, x -> struct({fields}))"


def make_statistic(
    state: str,
    result: str,
    updates: Mapping[str, str] = MOMENT_UPDATES,
    write_array: WriteSql = write_doubles,
) -> Fold:
    """Return the fold of a statistic, which is NULL if there are no values.

    Args:
        state: the names of the fields of `s` that are needed, with blanks between them. `n` must be
            among them.
        result: SQL of the statistic from the fields of `s`; `{undefined}` stands for its value if
            it would divide by zero.
        updates: SQL that updates each field, by its name.
        write_array: returns SQL of the array that is folded.
    """
    used_updates = {name: updates[name] for name in state.split()}
    first_state = ", ".join(f"'{name}', 0D" for name in used_updates)
    next_state = ", ".join(f"'{name}', {update}" for name, update in used_updates.items())

    def write_statistic(values: FoldedValues) -> str:
        """Return SQL that folds the values into the statistic."""
        defined_result = result.replace("{undefined}", values.undefined)
        return (
            f"aggregate({write_array(values)}, named_struct({first_state}), "
            f"(s, x) -> named_struct({next_state}), "
            f"s -> CASE WHEN s.n = 0D THEN NULL ELSE {defined_result} END)"
        )

    return Fold(write_statistic)


def make_pair_statistic(state: str, result: str) -> Fold:
    """Return the fold of a statistic of two numbers on each row, see `make_statistic`."""
    return make_statistic(state, result, PAIR_UPDATES, write_pairs)


def make_line_statistic(result: str) -> Fold:
    """Return the fold of a statistic of the regression line through points.

    The first argument of the aggregate is the y of a point, and the second argument its x.

    Args:
        result: see `make_statistic`. The state has `n`, `x`, `y`, `xy` and `m2`.
    """
    swapped_pairs = partial(write_pairs, first="a1", second="a0")
    return make_statistic("n x y xy m2", result, LINE_UPDATES, swapped_pairs)


def write_unless(is_undefined: str, result: str) -> str:
    """Return SQL of a result that is `{undefined}` if a test is true, see `make_statistic`."""
    return f"CASE WHEN {is_undefined} THEN {{undefined}} ELSE {result} END"


# SQL of a test of the state, which is true if there is one row.
HAS_ONE_ROW = "s.n = 1D"

# SQL of statistics, from the fields of the state.
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

# The fold of each statistic, by the name of Spark's function.
STATISTICS: Mapping[str, Fold] = {
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
    "regr_syy": make_statistic(
        "n average m2", "s.m2", write_array=partial(write_doubles, field="a0")
    ),
    "regr_sxx": make_statistic(
        "n average m2", "s.m2", write_array=partial(write_doubles, field="a1")
    ),
    "regr_slope": make_line_statistic(f"IF(s.m2 = 0D, NULL, {SLOPE})"),
    "regr_intercept": make_line_statistic(f"IF(s.m2 = 0D, NULL, s.y - {SLOPE} * s.x)"),
}
