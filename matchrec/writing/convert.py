"""From what was read to text in another language, which is read again to make sure of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.frontends.dialects.edits import Note
from matchrec.frontends.dialects.products import SPARK, Product
from matchrec.frontends.dialects.translate import Translation, translate_query
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source
from matchrec.writing import pattern, sase, sql
from matchrec.writing.forms import as_preferred, differing
from matchrec.writing.reading import START, ReadQuery

HINTS = {sase.LANGUAGE: "it tests each condition at the last event that this reads"}


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
        return "\n".join([self.text, *(f"{self._comment} {line}" for line in self._lines())])

    @property
    def _comment(self) -> str:
        return "#" if self.text.startswith("from ") else "--"

    def _lines(self) -> list[str]:
        return [line for note in self.notes for line in note.shown(self.source).split("\n")]


def to_sql(reading: ReadQuery, table: str, product: Product) -> Conversion:
    """The query in the SQL of a product."""
    with shown_in(reading.source):
        plan, notes = sql.for_sql(reading)
        if product is not SPARK:
            plan = as_preferred(plan)
        text = sql.write_sql(plan, table)
        check(reading, plan, sql.LANGUAGE, lambda: sql.read_again(text))
    if product is SPARK:
        return _converted(reading, text, notes)
    translation = _translated(text, product)
    there = tuple(replace(note, span=START) for note in translation.notes)
    return _converted(reading, translation.text, (*notes, *there))


def _translated(text: str, product: Product) -> Translation:
    """Our Spark SQL in the SQL of another product."""
    try:
        return translate_query(text, SPARK, product)
    except MatchRecognizeError as error:
        error.notes = (*error.notes, "this line is of the query as Spark SQL")
        raise


def to_sase(reading: ReadQuery, type_column: str) -> Conversion:
    """The query as SASE+ text."""
    with shown_in(reading.source):
        query, notes = sase.for_sase(reading, type_column)
        text = sase.write_sase(query)
        check(reading, query.plan, sase.LANGUAGE, lambda: sase.read_again(text, query))
    return _converted(reading, text, notes)


def to_pattern(reading: ReadQuery) -> Conversion:
    """The query as Python code."""
    with shown_in(reading.source):
        plan, notes = pattern.for_pattern(reading)
        written = pattern.write_pattern(plan)
        check(reading, plan, pattern.LANGUAGE, lambda: pattern.read_again(written, plan))
    return _converted(reading, pattern.as_code(written), notes)


def check(
    reading: ReadQuery, plan: MatchPlan, language: str, read_again: Callable[[], MatchPlan]
) -> None:
    """What was written, read again, is the plan that was meant; else the language cannot say it."""
    try:
        part = differing(plan, read_again())
    except MatchRecognizeError as error:
        raise errors.cannot_write(language, f"this: {error.message}", START) from error
    if part is not None:
        found = (one for one in plan.definitions if one.variable == part)
        definition = next(found, None)
        what = f"the condition of `{part}`" if definition else part
        span = definition.condition.span if definition else reading.places.pattern
        hint = HINTS.get(language) if definition else None
        raise errors.means_something_else(language, what, span, hint)


def _converted(reading: ReadQuery, text: str, notes: tuple[Note, ...]) -> Conversion:
    source, _ = reading.source.written(START)
    placed = (replace(note, span=reading.source.written(note.span)[1]) for note in notes)
    return Conversion(text, (*reading.notes, *placed), source)
