"""Structs as columns of their fields, and back: pandas holds numbers and texts, not structs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.dataclass import dataclass
from matchrec.plan.text.sql_text import quoted
from matchrec.spark.transport import arrow_type


@dataclass(frozen=True)
class Flat:
    """A column. name: of it, which its fields extend. path: SQL. kind: its type in Spark.

    fields: of a struct, each with its name there; then `name`_n says where the struct is NULL.
    """

    name: str
    path: str
    kind: spark_types.DataType
    fields: tuple[tuple[str, Flat], ...] = ()

    @property
    def is_struct(self) -> bool:
        """Whether it has fields, though it may be none of them."""
        return isinstance(self.kind, spark_types.StructType)

    def leaves(self) -> Iterator[tuple[str, str, spark_types.DataType]]:
        """Path, name and type of each column that crosses."""
        if self.is_struct:
            yield f"{self.path} IS NULL", f"{self.name}_n", spark_types.BooleanType()
            for _, one in self.fields:
                yield from one.leaves()
        else:
            yield self.path, self.name, self.kind

    def arrow(self) -> pa.DataType:
        """The Arrow type. Raises ValueError with the name of the first type that has none."""
        if self.is_struct:
            return pa.struct([pa.field(name, one.arrow()) for name, one in self.fields])
        kind = arrow_type(self.kind)
        if kind is None:
            raise ValueError(self.kind.simpleString())
        return kind

    def array(self, batch: pa.RecordBatch) -> pa.Array:
        """The column out of those that crossed."""
        if not self.is_struct:
            return batch.column(self.name)
        absent = batch.column(f"{self.name}_n")
        if not self.fields:
            nothing: list[dict[str, object] | None] = [
                None if one else {} for one in absent.to_pylist()
            ]
            return pa.array(nothing, pa.struct([]))
        arrays = [one.array(batch) for _, one in self.fields]
        names = [name for name, _ in self.fields]
        mask = pa.array(np.asarray(absent.to_numpy(zero_copy_only=False), np.bool_))
        return pa.StructArray.from_arrays(arrays, names, mask=mask)


def flat(name: str, path: str, kind: spark_types.DataType) -> Flat:
    """A column with its fields."""
    if not isinstance(kind, spark_types.StructType):
        return Flat(name, path, kind)
    fields = tuple(
        (one.name, flat(f"{name}_{i}", f"{path}.{quoted(one.name)}", one.dataType))
        for i, one in enumerate(kind.fields)
    )
    return Flat(name, path, kind, fields)
