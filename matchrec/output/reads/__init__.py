"""Reads: the values that the output of a match is made of, one column each.

What stands around them in a measure is Spark's to evaluate afterwards. A read says of itself what
its values are, when they may be NULL, how one would write it, and whether chains of shared rows
answer it; the workers' `gather` fills it. `column` is an index among the columns that Spark
computed before the match.
"""

from matchrec.output.reads.aggregates import (
    ReadAggregate,
    ReadAverage,
    ReadCollected,
    ReadCount,
    ReadExtreme,
    ReadSum,
)
from matchrec.output.reads.of_matches import (
    PointerField,
    ReadIsMatched,
    ReadKind,
    ReadMatchNumber,
    ReadNothing,
    ReadPointer,
)
from matchrec.output.reads.of_rows import (
    ReadAt,
    ReadClassifierAt,
    ReadMatch,
    ReadMatchedRows,
    ReadPosition,
    ReadRow,
)
from matchrec.output.reads.read import Form, Nullability, OfColumn, OfMatchedRows, Read, ReadType

__all__ = [
    "Form",
    "Nullability",
    "OfColumn",
    "OfMatchedRows",
    "PointerField",
    "Read",
    "ReadAggregate",
    "ReadAt",
    "ReadAverage",
    "ReadClassifierAt",
    "ReadCollected",
    "ReadCount",
    "ReadExtreme",
    "ReadIsMatched",
    "ReadKind",
    "ReadMatch",
    "ReadMatchNumber",
    "ReadMatchedRows",
    "ReadNothing",
    "ReadPointer",
    "ReadPosition",
    "ReadRow",
    "ReadSum",
    "ReadType",
]
