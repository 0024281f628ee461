"""The state of a bucket of keys, and its form as bytes, which Spark stores between micro-batches.

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

# The version of the format. Increase it with each change after which stored bytes would be misread,
# such as a new name of a field of search states: arrays are stored by these names.
FORMAT = 6
# The number of bytes that hold the length of the header.
LENGTH_BYTES = 4

# The name of the array in `BucketState.arrays` with the number of rows of each key that are kept.
ROW_COUNTS = "rows"

Array = npt.NDArray[Any]
# Arrays by their names.
Arrays = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The SQL of the columns of a bucket's rows, and of the conditions in their bits.

    For example, `ColumnMap({"__c0": "price * 2"}, ("price > 5", "kind = 'a'"))`.
    """

    # The SQL of each column, by its name. Columns of bits are left out.
    columns: Mapping[str, str]
    # The SQL of each row condition, in the order of their bits.
    bits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BucketState:
    """The keys, rows and search states of a bucket between two micro-batches."""

    # The watermark up to which rows have been sorted, in microseconds; None at the beginning.
    ordered_until: int | None
    # The states of the searches, see `key_states.write_key_states`, and ROW_COUNTS.
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


def write_bucket_state(bucket_state: BucketState, query_digest: str) -> bytes:
    """Return the state of a bucket as bytes.

    Args:
        bucket_state: the state.
        query_digest: a digest of the query to which the state belongs.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in bucket_state.arrays.items()}
    header = {
        "format": FORMAT,
        "query": query_digest,
        "passed": bucket_state.ordered_until,
        "columns": bucket_state.column_map.columns,
        "bits": bucket_state.column_map.bits,
        "versions": {name: astuple(version) for name, version in bucket_state.versions.items()},
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    header_bytes = json.dumps(header).encode()
    out = BytesIO()
    out.write(len(header_bytes).to_bytes(LENGTH_BYTES, "little"))
    out.write(header_bytes)
    for array in arrays.values():
        out.write(array.tobytes())
    for table in (bucket_state.keys, bucket_state.rows):
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()


def read_bucket_state(data: bytes, query_digest: str) -> BucketState:
    """Read the state of a bucket from bytes.

    Args:
        data: the bytes that `write_bucket_state` has returned.
        query_digest: a digest of the query that reads the state.

    Raises:
        MatchRecognizeRunError: another query or another version of matchrec wrote the bytes.
    """
    offset = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    header: Mapping[str, Any] = json.loads(data[LENGTH_BYTES:offset])
    if (header["format"], header["query"]) != (FORMAT, query_digest):
        raise checkpoint_of_other_query()
    arrays: dict[str, Array] = {}
    for name, dtype, shape in header["arrays"]:
        array = np.frombuffer(data, np.dtype(dtype), int(np.prod(shape)), offset).reshape(shape)
        arrays[name] = array.copy()  # searches write to their states, and `data` is read-only
        offset += array.nbytes
    source = pa.BufferReader(pa.py_buffer(data).slice(offset))
    keys = pa.ipc.open_stream(source).read_all()
    rows = pa.ipc.open_stream(source).read_all()
    return BucketState(
        ordered_until=header["passed"],
        arrays=arrays,
        keys=keys,
        rows=rows,
        column_map=ColumnMap(header["columns"], tuple(header["bits"])),
        versions={name: Version(*fields) for name, fields in header["versions"].items()},
    )
