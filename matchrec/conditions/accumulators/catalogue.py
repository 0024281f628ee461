"""All aggregates that Python computes, by their names, and what to write instead of others."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.accumulators.aggregate import AggregateFunction
from matchrec.conditions.accumulators.choices import CHOSEN, EXTREMES, LISTS
from matchrec.conditions.accumulators.statistics import MOMENTS, PERCENTILES
from matchrec.conditions.accumulators.sums import COUNTS, SUMS

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
