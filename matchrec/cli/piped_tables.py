"""Tables whose rows come through a pipe, such as `--table t=-`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.cli.files import find_format, strip_compression
from matchrec.cli.messages import show_busy
from matchrec.cli.pipes import STANDARD_INPUT, copy_pipe
from matchrec.cli.tables import Table, make_temporary_folder
from matchrec.errors import MatchRecognizeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The hint of the error `not-in-utf8`: a command that converts a file. The group has the words
# before the name of the file.
CONVERSION = re.compile(r"(iconv -f \S+ -t \S+) .*")


@dataclass(slots=True)
class PipedTable:
    """A name that the query uses, and the pipe with its rows."""

    name: str
    # The pipe, as the user wrote it.
    path: str
    # The format, one of `PIPED_FORMATS`; None to find it in the content.
    input_format: str | None = None
    # The delimiter of CSV; None to detect it.
    delimiter: str | None = None
    # Whether the first line of CSV names the columns.
    header: bool = True
    # The file with the content of the pipe; None before it is read.
    copy: Path | None = None

    def register(self, spark: SparkSession, *, only_schema: bool = False) -> None:
        """Make the rows a temporary view with the table's name. The pipe is read the first time.

        Args:
            spark: the session that gets the view.
            only_schema: make the view without rows, if only its columns matter.

        Raises:
            MatchRecognizeError: the rows cannot be read, or have no column.
        """
        if self.copy is None:
            with show_busy(f"Reading {self.path}"):
                self.copy = copy_pipe(self.path, make_temporary_folder(), self.input_format)
        file_format = find_format(self.copy)
        table = Table(
            self.name, (self.copy,), file_format, delimiter=self.delimiter, header=self.header
        )
        with name_pipe_in_errors(self.copy, self.path):
            table.register(spark, only_schema=only_schema)


@contextmanager
def name_pipe_in_errors(copy: Path, path: str) -> Iterator[None]:
    """Let errors that are raised in the `with` block name the pipe instead of its copy."""
    try:
        yield
    except MatchRecognizeError as error:
        is_standard_input = path in STANDARD_INPUT
        if is_standard_input:
            error.message = error.message.replace(f"the file `{copy}` of", "standard input for")
        error.message = error.message.replace(str(copy), path)
        error.notes = tuple(note.replace(str(copy), path) for note in error.notes)
        if error.hint is not None:
            error.hint = error.hint.replace(str(strip_compression(copy)), path)
        if is_standard_input and error.code == "not-in-utf8" and error.hint is not None:
            error.hint = CONVERSION.sub(r"\1 | matchrec ...", error.hint)
        raise
