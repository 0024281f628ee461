"""What is stored of a key between two micro-batches, as bytes.

    length of the header | header, JSON | arrays, one after the other | rows, an Arrow stream

The header names what wrote it: the state of another query is refused, not misread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matchrec.errors.streaming import state_of_another_query

FORMAT = 1
LENGTH = 4  # bytes of the length of the header
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Memory:
    """A key between two micro-batches.

    passed: the watermark up to which rows have been put in order, in microseconds, or None. arrays:
    the state of the search, by name. rows: those that it still needs, then those that wait.
    """

    passed: int | None
    arrays: Arrays
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
    with pa.ipc.new_stream(out, memory.rows.schema) as writer:
        writer.write_table(memory.rows)
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
    with pa.ipc.open_stream(pa.py_buffer(data[begin:])) as reader:
        rows = reader.read_all()
    return Memory(header["passed"], arrays, rows)
