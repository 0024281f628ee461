"""What is stored of a bucket of keys between two micro-batches, as bytes.

    length of the header | header, JSON | arrays, one after the other | keys | rows, Arrow streams

The header names what wrote it: the state of another query is refused, not misread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.errors.streaming import state_of_another_query

FORMAT = 2
LENGTH = 4  # bytes of the length of the header
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Memory:
    """A bucket between two micro-batches.

    passed: the watermark up to which rows have been put in order, in microseconds, or None. arrays:
    the state of the search, by name. keys: those that have any, a row each. rows: those that the
    search still needs, key after key, then those that wait.
    """

    passed: int | None
    arrays: Arrays
    keys: pa.Table
    rows: pa.Table


def dump(memory: Memory, query: str) -> bytes:
    """Write a memory as bytes. query: a digest of the query that it belongs to."""
    arrays = {name: np.ascontiguousarray(one) for name, one in memory.arrays.items()}
    header = {
        "format": FORMAT,
        "query": query,
        "passed": memory.passed,
        "arrays": [[name, one.dtype.str, one.shape] for name, one in arrays.items()],
    }
    text = json.dumps(header).encode()
    out = BytesIO()
    out.write(len(text).to_bytes(LENGTH, "little") + text)
    for one in arrays.values():
        out.write(one.tobytes())
    for table in (memory.keys, memory.rows):
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()


def load(data: bytes, query: str) -> Memory:
    """Read a memory from its bytes. Raises MatchRecognizeRunError for those of another query."""
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    header: Mapping[str, Any] = json.loads(data[LENGTH:begin])
    if (header["format"], header["query"]) != (FORMAT, query):
        raise state_of_another_query()
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, kind, shape in header["arrays"]:
        size = int(np.prod(shape))
        one = np.frombuffer(data, np.dtype(kind), size, begin).reshape(shape)
        arrays[name] = one.copy()
        begin += one.nbytes
    source = pa.BufferReader(pa.py_buffer(data).slice(begin))
    tables = [pa.ipc.open_stream(source).read_all() for _ in range(2)]
    return Memory(header["passed"], arrays, *tables)
