"""The row at which a run-time error happened, and the text by which the error leaves a worker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

# How many characters of a partition's value a message shows.
LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True)
class RowLocation:
    """A row of a partition, as an error names it."""

    # For each key of PARTITION BY, as SQL: its value in the partition.
    keys: Mapping[str, object]
    # The number of the row in its partition, from 1; None if it is not known.
    row_number: int | None
    # Whether `row_number` does not count irrelevant rows, which Spark has not sent.
    relevant_only: bool = False
    # The time of the row in UTC, for a row of a stream; otherwise None.
    time: str | None = None
    # For each key of ORDER BY, as SQL: its value in the row. Empty if the worker has no values.
    order: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the row as a sentence names it: `in the partition with sym = 'X', row 3 (ts = 7)`.

        If the number of the row is not known, the text names only the partition.
        """
        keys = ", ".join(f"{text} = {show_value(value)}" for text, value in self.keys.items())
        partition = f"the partition with {keys}" if keys else "the only partition"
        if self.time is not None:  # a row's number changes while a stream goes on
            return f"in {partition}, at {self.time} in UTC"
        if self.row_number is None:
            return f"in {partition}"
        counted_rows = " of those that are searched" if self.relevant_only else ""
        values = ", ".join(f"{text} = {show_value(value)}" for text, value in self.order.items())
        order_values = f" ({values})" if values else ""
        return f"in {partition}, row {self.row_number}{counted_rows}{order_values}"

    @property
    def partition(self) -> dict[str, object]:
        """The values of the partition's keys, by the names of their columns."""
        return {unquote_column(text): value for text, value in self.keys.items()}


def show_value(value: object) -> str:
    """Return a value as a message shows it, cut off if it is long.

    >>> show_value("X"), show_value(Decimal("1.50")), show_value(date(2026, 1, 31))
    ("'X'", '1.50', "'2026-01-31'")
    """
    if isinstance(value, Decimal):
        text = str(value)
    else:
        text = repr(str(value) if isinstance(value, date) else value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def unquote_column(text: str) -> str:
    """Return the name of a column without its backticks; any other text as it is.

    >>> unquote_column("`day``s`"), unquote_column("`a`.`b`"), unquote_column("id % 2")
    ('day`s', '`a`.`b`', 'id % 2')
    """
    name = text[1:-1].replace("``", "\0")
    is_column = len(text) > 1 and text[0] == text[-1] == "`" and "`" not in name
    return name.replace("\0", "`") if is_column else text


# The fields of an error inside the text of another error.
#
# The driver gets the error of a Python worker as text, between a traceback and Spark's own words.
# So the last line of the error repeats its fields, as JSON.

# The beginning of this line.
MARK = "for MatchRecognizeRunError.from_exception: "


def write_fields(fields: Mapping[str, object]) -> str:
    """Return fields as one line of text. Values that JSON lacks, such as dates, become texts."""
    return MARK + json.dumps(fields, default=str)


def read_fields(text: str) -> dict[str, Any] | None:
    """Return the fields of the first complete error in a text; None if the text has none.

    >>> read_fields(f"[JOB_FAILED] it failed: {write_fields({'row': 1})} SQLSTATE: 39000")
    {'row': 1}
    """
    for part in text.split(MARK)[1:]:
        try:
            fields, _ = json.JSONDecoder().raw_decode(part)
        except json.JSONDecodeError:  # Spark has cut the text off
            continue
        return dict(fields)
    return None
