"""Read files of texts with expected answers. `--update` rewrites the answers.

A file has records of this form:

    # a comment that belongs to the record
    given text, one or more lines
    ----
    expected text, one or more lines
    ====
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

BETWEEN = "----"
END = "===="


@dataclass(frozen=True, slots=True)
class Record:
    """A text with its expected answer."""

    comment: str  # the lines above the text, each with `#`
    given: str
    expected: str

    def __str__(self) -> str:
        head = f"{self.comment}\n" if self.comment else ""
        return f"{head}{self.given}\n{BETWEEN}\n{self.expected}\n{END}\n"


def read(path: Path) -> list[Record]:
    """Return the records of a file."""
    return [_record(text) for text in path.read_text(encoding="utf-8").split(f"\n{END}\n") if text]


def _record(text: str) -> Record:
    """Read one record of a file."""
    given, _, expected = text.partition(f"\n{BETWEEN}\n")
    lines = given.split("\n")
    comments = 0
    while lines[comments].startswith("#"):
        comments += 1
    return Record("\n".join(lines[:comments]), "\n".join(lines[comments:]), expected)


def check(
    path: Path,
    answer: Callable[[str], str],
    update: bool,
    choose: Callable[[Sequence[Record]], Sequence[Record]] = list,
) -> None:
    """Check that the answer to each record is its expected text.

    Args:
        path: the file of the records.
        answer: returns the answer to a text.
        update: whether to write the answers to the file instead, as the expected texts.
        choose: returns the records that are checked. With `update`, all records are rewritten.
    """
    records = read(path) if update else choose(read(path))
    answers = [Record(record.comment, record.given, answer(record.given)) for record in records]
    if update:
        path.write_text("".join(str(record) for record in answers), encoding="utf-8")
        return
    assert records
    for record, answer_record in zip(records, answers, strict=True):
        assert str(answer_record) == str(record)
