"""From what was read to the SQL of a product, which is read again to make sure of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.frontends.dialects.edits import Note
from matchrec.frontends.dialects.products import SPARK, Product
from matchrec.frontends.dialects.translate import translate_query
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source
from matchrec.writing import sql
from matchrec.writing.forms import as_preferred, condition_of, differing
from matchrec.writing.sql import START, ReadQuery


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted query. notes: what is lost or means something else there, with its place.

    >>> converted = matchrec.convert("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) "
    ...                              "DEFINE B AS x > PREV(x))", write="trino")
    >>> print(converted.text)
    SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts NULLS FIRST PATTERN (A B) DEFINE B AS x > PREV(x))
    """

    text: str
    notes: tuple[Note, ...]
    source: Source

    def __str__(self) -> str:
        lines = (line for note in self.notes for line in note.shown(self.source).split("\n"))
        return "\n".join([self.text, *(f"-- {line}" for line in lines)])


def to_sql(reading: ReadQuery, table: str, product: Product) -> Conversion:
    with shown_in(reading.source):
        plan, notes = sql.for_sql(reading)
        if product is not SPARK:
            plan = as_preferred(plan)
        text = sql.write_sql(plan, table)
        check(reading, plan, text)
    try:
        translation = translate_query(text, SPARK, product)
    except MatchRecognizeError as error:
        error.notes = (*error.notes, "this line is of the query as Spark SQL")
        raise
    there = tuple(replace(note, span=START) for note in translation.notes)
    source, _ = reading.source.written(START)
    placed = (replace(note, span=reading.source.written(note.span)[1]) for note in (*notes, *there))
    return Conversion(translation.text, tuple(placed), source)


def check(reading: ReadQuery, plan: MatchPlan, text: str) -> None:
    """Raises unless the text that was written, read again, is the plan that was meant."""
    try:
        part = differing(plan, sql.read_again(text))
    except MatchRecognizeError as error:
        raise errors.cannot_write(START, what=f"this: {error.message}", cure=None) from error
    if part is not None:
        found = (each for each in plan.definitions if condition_of(each.variable) == part)
        span = next((each.condition.span for each in found), reading.pattern)
        what = f"{part}, which would mean something else there"
        raise errors.cannot_write(span, what=what, cure=None)
