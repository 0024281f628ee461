"""The result of a cell as the notebook shows it: a table of its first rows, and a note."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from matchrec.errors.wording import show_count
from matchrec.explain.pictures.html import build_html_table, write_paragraph


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a query in a cell. The notebook shows its first rows."""

    # The whole result.
    dataframe: DataFrame
    # The names of the columns.
    names: tuple[str, ...]
    # The first rows, as texts.
    rows: tuple[tuple[str, ...], ...]
    # Whether the result has more rows than `rows`.
    has_more_rows: bool
    # Whether the rows come from matches, so that the result may be empty because nothing matched.
    has_matches: bool = False

    @property
    def note(self) -> str:
        """Return the note below the rows: how many rows are shown, and how to see more."""
        count = len(self.rows)
        if self.has_matches and not count:
            return "0 rows; --coverage shows how far rows get, --why shows what stops them"
        rows = show_count(count, "row")
        return f"showing {rows}; --limit N shows more" if self.has_more_rows else rows

    def _repr_html_(self) -> str:
        """Return a table of the rows for notebooks."""
        return build_html_table(self.names, self.rows) + write_paragraph(self.note)

    def __repr__(self) -> str:
        """Return the names of the columns and the note, without the rows."""
        return f"<Result: {', '.join(self.names)}; {self.note}>"
