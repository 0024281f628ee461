"""What rows are sorted by, and of which types that is exact."""

from __future__ import annotations

from pyspark.sql import types as spark_types

from matchrec.conditions.types import SPARKS_OWN
from matchrec.dataclass import dataclass
from matchrec.spark.types import value_type


@dataclass(frozen=True, slots=True)
class SortColumn:
    """An item of ORDER BY. name: of a column of the batches."""

    name: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Sorting:
    """What rows are sorted by.

    keys: columns whose values a partition's rows have in common, where NULL equals NULL.
    """

    keys: tuple[str, ...]
    order: tuple[SortColumn, ...]

    @property
    def columns(self) -> tuple[SortColumn, ...]:
        """The keys, then what each partition is ordered by."""
        keys = (SortColumn(key, descending=False, nulls_first=True) for key in self.keys)
        return (*keys, *self.order)


def sorts_exactly(kind: spark_types.DataType) -> bool:
    """Whether the order and the equality of a type's values are Spark's.

    For PARTITION BY as for ORDER BY. Collated texts, nested values, maps, variants and calendar
    intervals stay with Spark's own sort.
    """
    return value_type(kind).family not in SPARKS_OWN
