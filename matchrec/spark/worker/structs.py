"""Structs of columns: each column crosses once, and the worker puts the structs together."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from matchrec.spark.wire import Struct
from matchrec.spark.worker.arrays import column


def with_structs(table: pa.Table, structs: Iterable[Struct]) -> pa.Table:
    """The table with columns of structs, whose fields are columns of its own; none is copied."""
    for one in structs:
        parts = [column(table, part) for part in one.parts]
        table = table.append_column(one.name, pa.StructArray.from_arrays(parts, one.fields))
    return table
