"""What is converted: its plan, its text, and the places of parts that a plan has no places for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import SASE
from matchrec.errors.sql.window import window_asked_about
from matchrec.frontends.dialects.edits import Note
from matchrec.frontends.dialects.products import SPARK, Product
from matchrec.frontends.dialects.translate import notes_on_measures, translate_query
from matchrec.frontends.lexing.tokens import find_frames, sqlglot_tokens
from matchrec.frontends.pattern.builder import Pattern
from matchrec.frontends.pattern.lower import PatternQuery
from matchrec.frontends.sase import compile_sase
from matchrec.frontends.sql.locate import parse as parse_query
from matchrec.frontends.sql.lower import lower
from matchrec.frontends.sql.nodes import MatchRecognize, Query, Site
from matchrec.plan.clauses import EventSelection, MatchOutput, RowsPerMatch, SkipTo, SortItem
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Origin, Source, Span
from matchrec.writing.forms import starts_one
from matchrec.writing.names import plain
from matchrec.writing.stages import as_clause

START = Span(0, 1)
SOME_ORDER = ("time",)
"""What events are sorted by where nobody said it, and nobody will see it."""


@dataclass(frozen=True, slots=True)
class Streams:
    """What SQL says of its events, and the other languages leave to the call; SQL over one row."""

    table: str = "events"
    order_by: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    type_column: str = "event_type"
    output: MatchOutput = MatchOutput.ALL

    @property
    def sorted_by(self) -> tuple[str, ...]:
        """The order, or one that stands for it."""
        return self.order_by or SOME_ORDER


@dataclass(frozen=True, slots=True)
class Places:
    """Where parts of a query stand that a plan has no places for."""

    pattern: Span = START
    window: Span = START
    output: Span = START
    measures: Span = START


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query that was read. notes: what reading it has lost."""

    plan: MatchPlan
    source: Source
    places: Places = Places()
    notes: tuple[Note, ...] = ()


def read_sase(text: str, streams: Streams) -> ReadQuery:
    """A SASE+ query."""
    from matchrec.frontends.sase.parser import parse  # it loads lark

    with shown_in(Source(text), SASE):
        plan = compile_sase(
            text, streams.sorted_by, streams.partition_by, streams.type_column, streams.output
        )
        query = parse(text)
    strategy = query.where.strategy_span if query.where else query.sequence_span
    window = (query.window and query.window.span) or START
    return ReadQuery(plan, Source(text), Places(query.sequence_span, window, strategy))


def read_pattern(pattern: Pattern, streams: Streams) -> ReadQuery:
    """A Pattern. Raises for a call of the whole pattern that other languages do not have."""
    query = PatternQuery(pattern, streams.sorted_by, streams.partition_by, ("*",))
    plan, source = as_clause(query)
    if pattern.most_matches is not None:  # numbered in another order
        raise errors.unconverted_option(f"first_matches({pattern.most_matches})")
    if pattern.skip.to is SkipTo.PAST_LAST_ROW and starts_one(plan):
        plan = replace(plan, output=MatchOutput.NON_OVERLAPPING)
    elif pattern.skip.to is not None:
        raise errors.unconverted_option(f"after_match({pattern.skip!r})")
    return ReadQuery(plan, source)


def read_sql(text: str, product: Product, language: str) -> ReadQuery:
    """The one clause of a query in the SQL of a product, to be written in a language."""
    query, notes = _query(text, product)
    with shown_in(query.source):
        if len(query.sites) != 1:
            span = query.sites[1].clause.span if query.sites else None
            raise errors.not_one_clause(language, len(query.sites), span)
        (site,) = query.sites
        if site.window is not None:
            raise window_asked_about("convert")
        clause = site.clause
        plan = replace(lower(replace(clause, rows_per_match=None)), partial=None)
        source = query.source
        lost = (*_lost(query, site, language), *notes_on_measures(plan, language))
        here = (replace(one, span=source.written(one.span)[1]) for one in lost)
        return ReadQuery(plan, source, _places(clause), (*notes, *here))


def _query(text: str, product: Product) -> tuple[Query, tuple[Note, ...]]:
    """The query as Spark SQL, and what is lost on the way there."""
    if product is SPARK:
        return parse_query(text, frames_of(text)), ()
    translation = translate_query(text, product, SPARK)
    origin = Origin(Source(text), translation.edited.before)
    return parse_query(
        translation.text, frames_of(translation.text), origin=origin
    ), translation.notes


def frames_of(text: str) -> list[str]:
    """The names in braces, each of which may be a DataFrame."""
    return [name for name, _ in find_frames(sqlglot_tokens(text))]


def _places(clause: MatchRecognize) -> Places:
    pattern = clause.pattern_span
    window = clause.windows[0].span if clause.windows else pattern
    skip = clause.after_match.span if clause.after_match else None
    measures = clause.measures[0].expression.span if clause.measures else pattern
    return Places(pattern, window, skip or pattern, measures)


def _lost(query: Query, site: Site, language: str) -> Iterator[Note]:
    """What stands around the parts of the clause that other languages have."""
    source, clause = query.source, site.clause
    yield Note(f"{language} has no FROM: pass these rows as the DataFrame of events", site.relation)
    around = source.text[: site.whole.start] + source.text[site.whole.end :]
    if around.upper().split() != ["SELECT", "*", "FROM"]:
        yield Note(f"{language} has no query around the pattern: it is left out", Span(0, 6))
    if clause.partition_by:
        keys = ", ".join(key.expression.text for key in clause.partition_by)
        span = clause.partition_by[0].span.to(clause.partition_by[-1].span)
        yield Note(f"{language} has no PARTITION BY: pass partition_by, with {keys}", span)
    if clause.order_by:
        items = ", ".join(key.expression.text for key in clause.order_by)
        span = clause.order_by[0].span.to(clause.order_by[-1].span)
        yield Note(f"{language} has no ORDER BY: pass order_by, with {items}", span)
    if clause.partial:
        span = clause.partial.span or clause.span
        yield Note(f"{language} has no {clause.partial.words}: only matches come out", span)
    rows = clause.rows_per_match
    if rows not in (None, RowsPerMatch.ONE_ROW):
        yield Note(f"{language} has no {rows.value}: it gives a row for each match", clause.span)


# What SASE+ and SQL can say and other languages cannot, refused with its place.


def refuse_sase_only(reading: ReadQuery, language: str) -> None:
    """Negations of strict contiguity and conditions on whole matches."""
    plan = reading.plan
    for absence in plan.absences:
        if plan.selection is EventSelection.STRICT_CONTIGUITY:
            what = "a negation of SASE+ under strict contiguity"
            hint = "between two events there is none: leave it out"
            ends = absence.after is None or absence.before is None
            raise errors.cannot_write(language, what, absence.span, None if ends else hint)
    for definition in plan.definitions:
        if definition.variable == plan.closing:
            what = "a condition on the whole match"
            hint = "make it a column of RETURN, and test that after the match"
            raise errors.cannot_write(language, what, definition.condition.span, hint)


def refuse_row_windows(reading: ReadQuery, language: str) -> None:
    """Windows of so many rows."""
    if reading.plan.within_rows is not None:
        what = "WITHIN a number of events"
        raise errors.cannot_write(language, what, reading.places.window)


def refuse_gaps(reading: ReadQuery, language: str) -> None:
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
