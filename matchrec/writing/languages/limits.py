"""What SASE+ and SQL can say and other languages cannot, refused with its place."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import writing as errors
from matchrec.frontends.dialects.notes import Note
from matchrec.plan.clauses import EventSelection, SortItem
from matchrec.writing.columns import plain
from matchrec.writing.reading import Reading


def refuse_sase_only(reading: Reading, language: str) -> None:
    """Negations of strict contiguity, windows of events and conditions on whole matches."""
    plan, places = reading.plan, reading.places
    for absence in plan.absences:
        if plan.selection is EventSelection.STRICT_CONTIGUITY:
            what = "a negation of SASE+ under strict contiguity"
            hint = "between two events there is none: leave it out"
            ends = absence.after is None or absence.before is None
            raise errors.cannot_write(language, what, absence.span, None if ends else hint)
    if plan.within_rows is not None:
        raise errors.cannot_write(language, "WITHIN a number of events", places.window)
    for definition in plan.definitions:
        if definition.variable == plan.closing:
            what = "a condition on the whole match"
            hint = "make it a column of RETURN, and test that after the match"
            raise errors.cannot_write(language, what, definition.condition.span, hint)


def refuse_gaps(reading: Reading, language: str) -> None:
    """Windows between two variables."""
    for gap in reading.plan.gaps:
        if gap.to is not None:
            what = "WITHIN FROM a variable TO another one"
            raise errors.cannot_write(language, what, gap.span, "write a condition in DEFINE")


def refuse_directions(items: tuple[SortItem, ...], language: str) -> None:
    """Events are sorted by expressions that ascend."""
    for item in items:
        if item.descending:
            what = f"ORDER BY {item.expression.text} DESC"
            hint = "sort by an expression that ascends, such as a negative number"
            raise errors.cannot_write(language, what, item.expression.span, hint)


def notes_on_nulls(items: tuple[SortItem, ...]) -> Iterator[Note]:
    """Events without a value to sort by come first, as Spark sorts."""
    for item in items:
        if item.puts_nulls_last and item.expression.span is not None:
            message = (
                f"where `{plain(item.expression.text)}` is NULL, events come first there, here last"
            )
            yield Note(message, item.expression.span)
