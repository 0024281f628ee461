"""Structs are put together from columns that have crossed."""

from __future__ import annotations

import pyarrow as pa

from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.spark.columns import fields_by_name
from matchrec.spark.wire import Struct
from matchrec.spark.worker.arrays import with_structs


def test_columns_of_a_table_become_a_struct() -> None:
    table = pa.table({"__c0": [1, None], "__x1": ["a", "b"]})
    found = with_structs(table, (Struct("__c2", ("n", "s"), ("__c0", "__x1")),))
    assert found.column_names == ["__c0", "__x1", "__c2"]
    assert found.column("__c2").to_pylist() == [{"n": 1, "s": "a"}, {"n": None, "s": "b"}]


def test_only_structs_of_columns_are_taken_apart() -> None:
    event = RowColumn(("struct(`a`, `b``c`)",), fields=("a", "b`c"))
    assert fields_by_name((row_column("`a`"), event)) == {"__c1": ("a", "b`c")}
