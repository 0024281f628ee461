"""Accumulators: cases that one query of Spark cannot show, such as settings and overflow."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import ClassVar

import pytest

from matchrec.conditions.accumulators.shared_lists import ListAggregate
from matchrec.conditions.accumulators.table import AGGREGATES
from matchrec.conditions.functions.function import AggregateUse, Value
from matchrec.conditions.split import RowScope, split_conditions
from matchrec.conditions.types import BIGINT, DOUBLE, ValueType, build_decimal_type
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.syntax import function_names
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause

WIDE = build_decimal_type(38, 0)
LARGEST = Decimal(10**38 - 1)


def accumulate(name: str, type_: ValueType, *values: Value, **settings: bool) -> Value:
    """Return the aggregate of some values, which are added one by one."""
    accumulator = AGGREGATES[name].begin(AggregateUse((type_,), **settings))
    for value in values:
        accumulator.add(value)
    return accumulator.compute_result()


@pytest.mark.parametrize("name", ["stddev", "variance"])
def test_a_statistic_of_one_row_is_null_or_nan_in_legacy_mode(name: str) -> None:
    assert accumulate(name, DOUBLE, 3.0) is None
    assert math.isnan(accumulate(name, DOUBLE, 3.0, legacy_statistics=True))
    assert accumulate(name, DOUBLE, legacy_statistics=True) is None


def test_a_median_equals_that_of_each_version_of_spark() -> None:
    """The values are 0.5 * 0.02 + 0.5 * 0.07, and 0.02 + 0.5 * (0.07 - 0.02), in Python."""
    assert accumulate("median", DOUBLE, 0.02, 0.07, weighs_both_values=True) == 0.045000000000000005
    assert accumulate("median", DOUBLE, 0.02, 0.07) == 0.045


def test_integers_wrap_or_raise_an_error() -> None:
    largest = 2**63 - 1
    assert accumulate("sum", BIGINT, largest, 1, ansi=False) == -(2**63)
    with pytest.raises(OverflowError):
        accumulate("sum", BIGINT, largest, 1)


def test_decimals_become_null_or_raise_an_error() -> None:
    assert accumulate("sum", WIDE, LARGEST, Decimal(0)) == LARGEST
    assert accumulate("sum", WIDE, LARGEST, Decimal(1), ansi=False) is None
    assert accumulate("sum", WIDE, LARGEST, Decimal(1), Decimal(-9), ansi=False) is None
    with pytest.raises(OverflowError):
        accumulate("sum", WIDE, LARGEST, Decimal(1))


ONLY_IN_MEASURES = frozenset(
    [
        "try_sum",
        "try_avg",
        "bit_and",
        "bit_or",
        "bit_xor",
        "skewness",
        "kurtosis",
        "corr",
        "covar_pop",
        "covar_samp",
        "regr_count",
        "regr_avgx",
        "regr_avgy",
        "regr_r2",
        "regr_intercept",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
    ]
)


def test_every_aggregate_of_measures_is_in_the_table_or_left_out_on_purpose() -> None:
    names = {name.lower() for name in function_names.AGGREGATES}
    names -= {"schema_of_variant_agg"}
    prefixes = ("approx", "bitmap", "hll", "kll", "theta", "tuple", "vector", "histogram")
    left_out = {name for name in names if name.startswith(prefixes)}
    left_out |= {"count_min_sketch", "percentile_approx", "collect_union"}
    left_out |= {"percentile_cont", "percentile_disc"}  # which take WITHIN GROUP
    assert AGGREGATES.keys() == names - left_out - ONLY_IN_MEASURES


@pytest.mark.parametrize("name", sorted(ONLY_IN_MEASURES))
def test_an_aggregate_that_only_measures_have_is_refused_by_its_name(name: str) -> None:
    arguments = "A.x, A.y" if name.startswith(("corr", "covar", "regr")) else "A.x"
    plan = lower_clause(parse_clause(f"PATTERN (A B) DEFINE B AS {name}({arguments}) > 1"))
    message = f"aggregate `{name}` is not supported in DEFINE"
    with pytest.raises(MatchRecognizeUnsupportedError, match=message):
        split_conditions(plan, RowScope.SPARK)


@pytest.mark.parametrize("call", ["percentile_cont(0.5)", "mode()", "listagg(A.x, ',')"])
def test_an_order_within_group_is_refused_with_advice(call: str) -> None:
    condition = f"{call} WITHIN GROUP (ORDER BY A.x) = B.x"
    plan = lower_clause(parse_clause(f"PATTERN (A B) DEFINE B AS {condition}"))
    with pytest.raises(MatchRecognizeUnsupportedError, match="WITHIN GROUP` is not") as caught:
        split_conditions(plan, RowScope.SPARK)
    assert caught.value.hint.startswith("write ")


class Chains:
    """Four lists that share rows: 1 is [1.0], 2 is [1.0, 5.0], 3 is [1.0, 7.0], 4 is [1, 5, 9]."""

    # For each list, the number of the list without the last row, and the last row.
    rows: ClassVar[dict[int, tuple[int, float]]] = {
        1: (0, 1.0),
        2: (1, 5.0),
        3: (1, 7.0),
        4: (2, 9.0),
    }

    def find_list_before(self, number: int) -> int:
        """Return the number of the list without the last row."""
        return self.rows[number][0]

    def read_last_row(self, number: int) -> tuple[float]:
        """Return the arguments of the last row of a list."""
        return (self.rows[number][1],)


def test_lists_with_common_rows_have_their_own_results() -> None:
    median = ListAggregate(lambda: AGGREGATES["median"].begin(AggregateUse((DOUBLE,))))
    # The lists 2 and 1 come again, after longer lists have taken over their accumulators.
    medians = {number: median.compute(number, Chains()) for number in (1, 2, 3, 4, 0, 2, 1)}
    assert medians == {0: None, 1: 1.0, 2: 3.0, 3: 4.0, 4: 5.0}
