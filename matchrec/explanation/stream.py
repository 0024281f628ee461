"""What is kept of each partition of a stream between two micro-batches."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.compile.executable import Executable


def stream_lines(executable: Executable) -> Iterator[str]:
    """What is kept, and how much that can be."""
    yield "kept of each partition: rows that the watermark has not passed, and"
    if executable.task.selects:
        yield "the runs that have begun, with the rows that they lead to"
    else:
        before = executable.lookaround.before if executable.lookaround else 0
        beside = f", and {before} before it" * bool(before)
        yield f"the rows from the first undecided starting row on{beside}"
    yield bound_line(executable)


def bound_line(executable: Executable) -> str:
    """What bounds it."""
    longest = executable.task.pattern.longest
    if executable.task.windowed:
        return "bounded by the window: a run ends when the watermark passes its end"
    if executable.is_bounded:
        return f"bounded by the length of a match: at most {longest:,} rows"
    return "without a bound: a run may wait for any number of rows"
