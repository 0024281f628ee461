"""Every class of values that measures read has what fills its columns."""

from __future__ import annotations

import inspect

from matchrec.output import reads
from matchrec.output.reads import Read, ReadFact
from matchrec.worker.gather import FILL


def test_every_class_of_reads_is_filled() -> None:
    classes = {
        found
        for _, found in inspect.getmembers(reads, inspect.isclass)
        if issubclass(found, Read) and found not in (Read, ReadFact)
    }
    assert classes == FILL.keys()
