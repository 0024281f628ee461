"""The memory of a bucket, which is stored between two micro-batches, and its form as bytes.

    length of the header | header | arrays, one after the other | keys | rows

The header is JSON; keys and rows are Arrow streams. The header has a digest of the query that wrote
it, so that another query raises an error instead of misreading the state. It also has the SQL of
the columns and bits of the rows, because a changed set of rules over the same events computes other
columns and bits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matchrec.compile.rule_set import Version
from matchrec.errors.streams import checkpoint_of_other_query

# The version of the format. Increase it with each change after which stored bytes would be misread.
FORMAT = 5
# The number of bytes that hold the length of the header.
LENGTH_BYTES = 4

Array = npt.NDArray[Any]
# Arrays by their names.
Arrays = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The SQL of the columns and bits of a bucket's rows.

    For example, `ColumnMap({"__c0": "price * 2"}, ("price > 5", "kind = 'a'"))`.
    """

    # The SQL of each column, by its name. Columns of bits are left out.
    columns: Mapping[str, str]
    # The SQL of each row condition, in the order of their bits.
    bits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BucketMemory:
    """The keys, rows and states of a bucket between two micro-batches."""

    # The watermark up to which rows have been sorted, in microseconds; None at the beginning.
    ordered_until: int | None
    # The states of the searches, and how many rows of each key are kept: see
    # `key_state.make_memory`.
    arrays: Arrays
    # The keys that have any state, one row for each key.
    keys: pa.Table
    # The rows that the searches still need, key after key, then the rows that wait.
    rows: pa.Table
    # The SQL of the columns and bits of `rows`.
    column_map: ColumnMap
    # The versions of the rules that searched these rows, by the names of their searches. Empty for
    # a query.
    versions: Mapping[str, Version]


def write_memory(memory: BucketMemory, query_digest: str) -> bytes:
    """Return a memory as bytes.

    Args:
        memory: the memory.
        query_digest: a digest of the query to which the memory belongs.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in memory.arrays.items()}
    header = {
        "format": FORMAT,
        "query": query_digest,
        "passed": memory.ordered_until,
        "columns": memory.column_map.columns,
        "bits": memory.column_map.bits,
        "versions": {name: astuple(version) for name, version in memory.versions.items()},
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    text = json.dumps(header).encode()
    out = BytesIO()
    out.write(len(text).to_bytes(LENGTH_BYTES, "little") + text)
    for array in arrays.values():
        out.write(array.tobytes())
    for table in (memory.keys, memory.rows):
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()


def read_memory(data: bytes, query_digest: str) -> BucketMemory:
    """Read a memory from bytes.

    Args:
        data: the bytes that `write_memory` has returned.
        query_digest: a digest of the query that reads the memory.

    Raises:
        MatchRecognizeRunError: another query or another version of matchrec wrote the bytes.
    """
    begin = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    header: Mapping[str, Any] = json.loads(data[LENGTH_BYTES:begin])
    if (header["format"], header["query"]) != (FORMAT, query_digest):
        raise checkpoint_of_other_query()
    arrays: dict[str, Array] = {}
    for name, dtype, shape in header["arrays"]:
        view = np.frombuffer(data, np.dtype(dtype), int(np.prod(shape)), begin).reshape(shape)
        arrays[name] = view.copy()  # searches write to their states, and `data` is read-only
        begin += view.nbytes
    source = pa.BufferReader(pa.py_buffer(data).slice(begin))
    keys = pa.ipc.open_stream(source).read_all()
    rows = pa.ipc.open_stream(source).read_all()
    return BucketMemory(
        ordered_until=header["passed"],
        arrays=arrays,
        keys=keys,
        rows=rows,
        column_map=ColumnMap(header["columns"], tuple(header["bits"])),
        versions={name: Version(*fields) for name, fields in header["versions"].items()},
    )
