"""Rows in order that wait in a file, since memory has no room for them.

A file has no name from the beginning where the system allows that, as Linux does: when it is
closed, or its process is killed, nothing is left.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from tempfile import TemporaryFile
from typing import IO

import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.errors.environment import no_room_on_disk

FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Spill:
    """Rows in order in a file, batch by batch."""

    file: IO[bytes]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, from the first on."""
        self.file.seek(0)
        with pa.ipc.open_stream(self.file) as reader:
            yield from reader

    def close(self) -> None:
        """Remove the file."""
        self.file.close()


def spill(tables: Iterator[pa.Table], bytes_a_batch: int) -> Spill:
    """Write tables, at least one, to a file, in batches of about so many bytes.

    Raises MatchRecognizeRunError where the disk is full.
    """
    place = folder()
    with ExitStack() as undo, saying_where(place):
        file = undo.enter_context(TemporaryFile(prefix="matchrec-", dir=place))
        first = next(tables)
        with pa.ipc.new_stream(file, first.schema) as writer:
            for table in chain([first], tables):
                rows = bytes_a_batch * table.num_rows // max(1, table.nbytes)
                writer.write_table(table, max_chunksize=max(1, rows))
        undo.pop_all()
    return Spill(file)


@contextmanager
def saying_where(place: str | None) -> Iterator[None]:
    """Raises MatchRecognizeRunError where a disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise no_room_on_disk(place) from error
        raise


def folder() -> str | None:
    """Where Spark has its workers write, one of the folders for each process; else the system's."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    able = [one for one in folders if os.access(one, os.W_OK)]
    return able[os.getpid() % len(able)] if able else None
