"""The table of all aggregates that Python computes, by their names."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.accumulators.accumulator import AggregateFunction
from matchrec.conditions.accumulators.chosen_rows import (
    begin_first_value,
    begin_last_value,
    begin_max,
    begin_min,
)
from matchrec.conditions.accumulators.collected_values import (
    begin_collect_list,
    begin_collect_set,
    begin_listagg,
    begin_mode,
)
from matchrec.conditions.accumulators.percentiles import begin_percentile
from matchrec.conditions.accumulators.result_types import (
    find_listagg_type,
    find_median_type,
    find_percentile_type,
    find_type_of_chosen_value,
    find_type_of_first_argument,
    keep_type,
    require_number,
    require_one_argument,
    require_truth_value,
)
from matchrec.conditions.accumulators.statistics import (
    Moments,
    PointMoments,
    build_statistic,
    compute_population_deviation,
    compute_population_variance,
    compute_sample_deviation,
    compute_sample_variance,
    compute_slope,
)
from matchrec.conditions.accumulators.sums import (
    begin_average,
    begin_count,
    begin_count_if,
    begin_sum,
)
from matchrec.conditions.functions.function import split_names
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    build_array_type,
    find_average_type,
    find_sum_type,
)

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
            find_type_of_first_argument, begin_first_value, constant_argument=1
        ),
        "last_value": AggregateFunction(
            find_type_of_first_argument, begin_last_value, constant_argument=1
        ),
        "mode": AggregateFunction(find_type_of_first_argument, begin_mode, constant_argument=1),
        "collect_list array_agg": AggregateFunction(
            require_one_argument(build_array_type), begin_collect_list
        ),
        "collect_set": AggregateFunction(
            require_one_argument(build_array_type), begin_collect_set, ignores_repeats=True
        ),
        "listagg string_agg": AggregateFunction(
            find_listagg_type, begin_listagg, constant_argument=1
        ),
        "stddev stddev_samp std": build_statistic(
            compute_sample_deviation, empty_state=Moments(), needs_two_rows=True
        ),
        "stddev_pop": build_statistic(compute_population_deviation, empty_state=Moments()),
        "variance var_samp": build_statistic(
            compute_sample_variance, empty_state=Moments(), needs_two_rows=True
        ),
        "var_pop": build_statistic(compute_population_variance, empty_state=Moments()),
        "regr_slope": build_statistic(compute_slope, empty_state=PointMoments(), argument_count=2),
        "median": AggregateFunction(require_one_argument(find_median_type), begin_percentile),
        "percentile": AggregateFunction(
            find_percentile_type, begin_percentile, constant_argument=1
        ),
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
