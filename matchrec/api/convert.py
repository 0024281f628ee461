"""`convert`: a query of one product as another one reads it."""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.api.signatures import DIALECT
from matchrec.arguments import TEXT, checked
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.products import PRODUCTS
from matchrec.frontends.dialects.translate import translate_query
from matchrec.source import Source


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted query. notes: what is lost or means something else there, with its place."""

    text: str
    notes: tuple[Note, ...]
    source: Source

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"-- {line}" for line in self._lines())])

    def _lines(self) -> list[str]:
        return [line for note in self.notes for line in note.shown(self.source).split("\n")]


@checked(text=TEXT, read=DIALECT, write=DIALECT)
def convert(text: str, *, read: str = "spark", write: str = "spark") -> Conversion:
    """A query in the SQL of `read` as a query in the SQL of `write`.

    read, write: "spark", "databricks", "snowflake", "oracle", "trino", "flink", "bigquery", "azure"
    (read only), or "standard": Spark SQL without our extensions of the clause. What need not change
    stays as it was written, comments and layout too. Raises MatchRecognizeError for what is no SQL
    of `read`, and for what `write` cannot say.

    >>> print(convert("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) "
    ...               "DEFINE B AS x > PREV(x))", write="snowflake").text)
    SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts NULLS FIRST PATTERN (A B) DEFINE B AS x > LAG(x))
    """
    translation = translate_query(text, PRODUCTS[read], PRODUCTS[write])
    return Conversion(translation.text, translation.notes, Source(text))
