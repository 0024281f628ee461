"""Whether a table is stored in buckets: Spark may then read its partitions without a shuffle.

PySpark has no call that tells it of a DataFrame, so this looks into Spark's own plan, and takes no
answer, as over Connect, for no.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def is_bucketed_by(rows: DataFrame, keys: Collection[str]) -> bool:
    """Whether rows come from a table in buckets by some of these columns."""
    plan = getattr(rows, "_jdf", None)
    if plan is None:
        return False
    try:
        leaves = plan.queryExecution().analyzed().collectLeaves()
        found = [columns_of_buckets(leaves.apply(place)) for place in range(leaves.size())]
    except (Py4JError, TypeError):  # another version of Spark
        return False
    names = {key.lower() for key in keys}
    return any(columns and columns <= names for columns in found)


def columns_of_buckets(leaf: Any) -> set[str]:
    """The columns by which a table of Spark's plan is in buckets; none of anything else."""
    if leaf.getClass().getSimpleName() != "LogicalRelation" or leaf.catalogTable().isEmpty():
        return set()
    buckets = leaf.catalogTable().get().bucketSpec()
    return set() if buckets.isEmpty() else {*columns_in(buckets.get().bucketColumnNames())}


def columns_in(names: Any) -> list[str]:
    """Names in a sequence of Scala's."""
    return [names.apply(place).lower() for place in range(names.size())]
