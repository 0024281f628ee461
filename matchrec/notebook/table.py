"""The first rows of a DataFrame, as a notebook and a terminal show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.dataclass import dataclass
from matchrec.pictures.html import paragraph, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a cell. dataframe: all of it; rows: the first ones, as Spark casts them."""

    dataframe: DataFrame
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    more: bool

    @property
    def note(self) -> str:
        """How many rows are shown."""
        count = len(self.rows)
        rows = "row" if count == 1 else "rows"
        return f"the first {count} {rows}; --limit shows more" if self.more else f"{count} {rows}"

    def _repr_html_(self) -> str:
        return table(self.names, self.rows, self.numeric) + paragraph(self.note)

    def __repr__(self) -> str:
        return f"<Result: {', '.join(self.names)}; {self.note}>"


def first_rows(frame: DataFrame, limit: int) -> Result:
    """Runs the query as far as it must for so many rows."""
    numeric = tuple(kind.split("(")[0] in NUMBERS for _, kind in frame.dtypes)
    places = [f"c{at}" for at in range(len(frame.columns))]  # a name may occur twice
    unique = frame.toDF(*places)
    found = unique.select(*(unique[place].cast("string") for place in places)).take(limit + 1)
    rows = tuple(tuple("NULL" if value is None else value for value in row) for row in found)
    return Result(frame, tuple(frame.columns), rows[:limit], numeric, len(rows) > limit)
