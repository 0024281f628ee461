"""Where an error of the rows is: a row of a partition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True)
class RowPlace:
    """A row. keys: of its partition, by their SQL text. row_number: in its partition, from 1; None
    where that is not known.

    relevant_only: irrelevant rows are not counted. time: of a row of a stream, in UTC.
    """

    keys: Mapping[str, object]
    row_number: int | None
    relevant_only: bool = False
    time: str | None = None

    def __str__(self) -> str:
        named = ", ".join(f"{text} = {shown(value)}" for text, value in self.keys.items())
        partition = f"the partition with {named}" if named else "the only partition"
        if self.time is not None:  # what one finds again, while a stream goes on
            return f"in {partition}, at {self.time} in UTC"
        if self.row_number is None:
            return f"in {partition}"
        among = " of those that are searched" if self.relevant_only else ""
        return f"in {partition}, row {self.row_number}{among}"

    @property
    def partition(self) -> dict[str, object]:
        return {column_name(text): value for text, value in self.keys.items()}


def shown(value: object) -> str:
    """A value as Python writes it, the end left out where it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def column_name(text: str) -> str:
    """The name that a quoted column has; any other text as it is.

    >>> column_name("`day``s`"), column_name("`a`.`b`"), column_name("id % 2")
    ('day`s', '`a`.`b`', 'id % 2')
    """
    name = text[1:-1].replace("``", "\0")
    is_column = len(text) > 1 and text[0] == text[-1] == "`" and "`" not in name
    return name.replace("\0", "`") if is_column else text


# The fields of an error inside the text of another one.
#
# An error that a Python worker raises comes to the driver as text, between a traceback and what
# Spark says around it. So its last line has its fields once more, as JSON.

MARK = "for MatchRecognizeRunError.from_exception: "


def written(fields: Mapping[str, object]) -> str:
    """The fields as one line of text; a value that JSON does not have becomes its text."""
    return MARK + json.dumps(fields, default=str)


def read(text: str) -> dict[str, Any] | None:
    """The fields of the first error that a text carries as a whole, or None.

    >>> read(f"[JOB_FAILED] it failed: {written({'row': 1})} SQLSTATE: 39000")
    {'row': 1}
    """
    for part in text.split(MARK)[1:]:
        try:
            fields, _ = json.JSONDecoder().raw_decode(part)
        except json.JSONDecodeError:  # cut off on its way
            continue
        return dict(fields)
    return None
