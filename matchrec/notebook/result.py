"""The rows that a cell shows below itself."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from matchrec.errors.wording import show_count
from matchrec.explain.pictures.html import build_html_table, write_paragraph


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a cell."""

    dataframe: DataFrame
    names: tuple[str, ...]  # of the columns
    rows: tuple[tuple[str, ...], ...]  # the first ones, as texts
    more: bool  # whether there are more rows
    asks_for_matches: bool = False  # whether there may be no rows because nothing matched

    @property
    def note(self) -> str:
        """Return how many rows are shown, and what to do if these are not enough."""
        count = len(self.rows)
        if self.asks_for_matches and not count:
            return "0 rows; --coverage shows how far rows get, --why shows what stops them"
        rows = show_count(count, "row")
        return f"showing {rows}; --limit N shows more" if self.more else rows

    def _repr_html_(self) -> str:
        """Return a table of the rows for notebooks."""
        return build_html_table(self.names, self.rows) + write_paragraph(self.note)

    def __repr__(self) -> str:
        return f"<Result: {', '.join(self.names)}; {self.note}>"
