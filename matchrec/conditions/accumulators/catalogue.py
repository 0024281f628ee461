"""All aggregates that Python computes, by their names, and what to write instead of others."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.accumulators.aggregate import AggregateFunction
from matchrec.conditions.accumulators.chosen import CHOSEN
from matchrec.conditions.accumulators.counts import COUNTS
from matchrec.conditions.accumulators.extremes import EXTREMES
from matchrec.conditions.accumulators.lists import LISTS
from matchrec.conditions.accumulators.moments import MOMENTS
from matchrec.conditions.accumulators.pairs import PAIRS
from matchrec.conditions.accumulators.percentiles import PERCENTILES
from matchrec.conditions.accumulators.sums import SUMS

AGGREGATES: Mapping[str, AggregateFunction] = {
    **COUNTS,
    **EXTREMES,
    **SUMS,
    **CHOSEN,
    **LISTS,
    **MOMENTS,
    **PAIRS,
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
}
"""For aggregates whose results are approximate or no values that a condition could test."""
