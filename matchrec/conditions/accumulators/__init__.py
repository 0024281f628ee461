"""The aggregates that Python computes, each as an accumulator: rows are added one by one, in order.

Every one follows Spark's own update of its buffer, operation by operation, so that floating-point
results agree to the last bit with Spark's where it adds the rows in the same order.

    aggregate     what an aggregate takes and gives, and a result for each list of rows
    values        sums, counts, and those that give a value or all of them
    statistics    moments and percentiles
"""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.accumulators.aggregate import AggregateFunction
from matchrec.conditions.accumulators.statistics import MOMENTS, PERCENTILES
from matchrec.conditions.accumulators.values import CHOSEN, COUNTS, EXTREMES, LISTS, SUMS

AGGREGATES: Mapping[str, AggregateFunction] = {
    **COUNTS,
    **EXTREMES,
    **SUMS,
    **CHOSEN,
    **LISTS,
    **MOMENTS,
    **PERCENTILES,
}

CHOOSING = frozenset({*CHOSEN, *LISTS, "count", "max_by", "min_by"}) - {"mode", "collect_set"}
"""Aggregates that do not compare their first argument, which may have maps."""

INSTEAD: Mapping[str, str] = {
    "approx_count_distinct": "count(DISTINCT x), which is exact",
    "approx_percentile": "percentile_disc(p) WITHIN GROUP (ORDER BY x), which is exact",
    "percentile_approx": "percentile_disc(p) WITHIN GROUP (ORDER BY x), which is exact",
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
"""For some of those that are not here: approximate ones, and those that few ask for."""
