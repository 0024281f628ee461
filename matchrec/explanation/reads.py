"""What the output reads, as one would write it."""

from __future__ import annotations

from typing_extensions import assert_never

from matchrec.compile.executable import Executable
from matchrec.output.reads import (
    Read,
    ReadAt,
    ReadAverage,
    ReadClassifierAt,
    ReadCollected,
    ReadCount,
    ReadExtreme,
    ReadIsMatched,
    ReadKind,
    ReadMatchedRows,
    ReadMatchNumber,
    ReadNothing,
    ReadPointer,
    ReadPosition,
    ReadRow,
    ReadSum,
)
from matchrec.plan.show import (
    show_aggregate,
    show_classifier,
    show_navigation,
    show_semantics,
)


def show_part(piece: str | int, executable: Executable, columns: list[str]) -> str:
    """A piece of text, or a read as one would write it."""
    return piece if isinstance(piece, str) else show_read(executable.reads[piece], columns)


def show_read(read: Read, columns: list[str]) -> str:
    """A read as one would write it; columns: the texts of the columns that cross."""
    match read:
        case ReadRow(column):
            return columns[column]
        case ReadAt(column, navigation):
            return show_semantics(
                navigation.semantics, show_navigation(navigation, columns[column])
            )
        case ReadClassifierAt(navigation):
            return show_semantics(navigation.semantics, show_classifier(navigation))
        case ReadKind():
            return "kind of match"
        case ReadMatchNumber():
            return "MATCH_NUMBER()"
        case ReadMatchedRows():
            return "the rows of the match"
        case ReadPointer(field):
            return f"the pointer's {field.value}"
        case ReadPosition():
            return "the position in the match"
        case ReadNothing():
            return "nothing"
        case ReadIsMatched():
            return "whether the row is matched"
        case ReadCollected():
            text = show_aggregate("collect_list", read.variable, columns[read.column])
            return show_semantics(read.semantics, text)
        case ReadCount() | ReadSum() | ReadAverage() | ReadExtreme():
            argument = "*" if read.column is None else columns[read.column]
            text = show_aggregate(function_of(read), read.variable, argument)
            return show_semantics(read.semantics, text)
        case _:
            assert_never(read)


def function_of(read: ReadCount | ReadSum | ReadAverage | ReadExtreme) -> str:
    """The name of the aggregate function."""
    match read:
        case ReadCount():
            return "count"
        case ReadSum():
            return "sum"
        case ReadAverage():
            return "avg"
        case ReadExtreme(greatest=greatest):
            return "max" if greatest else "min"
        case _:
            assert_never(read)
