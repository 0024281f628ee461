"""From what was read to the SQL of a product, which is read again to make sure of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from matchrec.dialects.edits import Note
from matchrec.dialects.products import SPARK, Product
from matchrec.dialects.translate import translate_query
from matchrec.dialects.writing import forms
from matchrec.dialects.writing.names import (
    WORD,
    quote_column,
    remove_needless_quotes,
    rename_variables,
)
from matchrec.dialects.writing.stages import insert_negations, lower_to_clause
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import shown_in
from matchrec.patterns.sase import Streams, compile_sase
from matchrec.patterns.sase.parser import parse_once
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.lower import PatternQuery
from matchrec.plan import expression
from matchrec.plan.clauses import EventSelection, MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show, show_name
from matchrec.plan.show import show_scalar
from matchrec.source import Source, Span
from matchrec.syntax.locate import parse
from matchrec.syntax.lower import lower
from matchrec.syntax.tokens import find_frames, read_tokens

START = Span(0, 1)


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query that was read. pattern: where its row pattern stands."""

    plan: MatchPlan
    source: Source
    pattern: Span = START


def read_sase(text: str, streams: Streams) -> ReadQuery:
    plan = compile_sase(text, streams)
    return ReadQuery(plan, Source(text), parse_once(text, None).sequence_span)


def read_pattern(pattern: Pattern, streams: Streams) -> ReadQuery:
    """A Pattern. Raises for a call of the whole pattern that SQL does not have."""
    query = PatternQuery(pattern, streams.order_by, streams.partition_by, ())
    plan, source = lower_to_clause(query)
    if pattern.most_matches is not None:  # numbered in another order
        raise errors.unconverted_option(option=f"first_matches({pattern.most_matches})")
    if pattern.skip.to is SkipTo.PAST_LAST_ROW and forms.starts_one_match(plan):
        plan = replace(plan, output=MatchOutput.NON_OVERLAPPING)
    elif pattern.skip.to is not None:
        raise errors.unconverted_option(option=f"after_match({pattern.skip!r})")
    return ReadQuery(plan, source)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A query written in the SQL of a product, from `transpile` or `Query.to_sql`.

    It prints as the text, then the notes as comments.

    Attributes:
        text: the converted query.
        notes: what is lost or has another meaning in the product, each with its location.
        source: the query as it was, which the notes point to.

    >>> converted = matchrec.transpile("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) "
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
        plan, notes = prepare_for_sql(reading)
        if product is not SPARK:
            plan = forms.prefer_matches(plan)
        body = "\n  ".join(_lines(plan))
        text = f"SELECT * FROM {table} MATCH_RECOGNIZE (\n  {body}\n)"
        check_meaning(reading, plan, text)
    try:
        translation = translate_query(text, SPARK, product)
    except MatchRecognizeError as error:
        error.notes = (*error.notes, "this line is of the query as Spark SQL")
        raise
    there = tuple(replace(note, span=START) for note in translation.notes)
    source, _ = reading.source.written(START)
    placed = (replace(note, span=reading.source.written(note.span)[1]) for note in (*notes, *there))
    return Conversion(translation.text, tuple(placed), source)


def check_meaning(reading: ReadQuery, plan: MatchPlan, text: str) -> None:
    """Raises unless the text that was written, read again, is the plan that was meant."""
    ours = dict(forms.list_parts(plan))
    try:
        (site,) = parse(text, [name for name, _ in find_frames(read_tokens(text).tokens)]).sites
        theirs = dict(forms.list_parts(lower(site.clause)))
    except MatchRecognizeError as error:
        raise errors.cannot_write(START, what=f"this: {error.message}", cure=None) from error
    part = next((name for name in ours | theirs if ours.get(name) != theirs.get(name)), None)
    if part is not None:
        found = (each for each in plan.definitions if forms.name_condition(each.variable) == part)
        span = next((each.condition.span for each in found), reading.pattern)
        what = f"{part}, which would mean something else there"
        raise errors.cannot_write(span, what=what, cure=None)


def prepare_for_sql(reading: ReadQuery) -> tuple[MatchPlan, tuple[Note, ...]]:
    """The plan that SQL can say, and notes on what it cannot; refuses what changes the matches."""
    plan, notes = reading.plan, list[Note]()
    reject_inexpressible(plan)
    for key in plan.equal:
        if key.span is not None:
            notes.append(Note(f"`{key.text.strip('`')}` becomes a column of the result", key.span))
    measures = tuple(one for one in plan.measures if not forms.reads_whole_rows(one.value))
    if len(measures) < len(plan.measures):
        message = "the events do not come out: MEASURES takes columns by name, as RETURN does"
        notes.append(Note(message, reading.pattern))
    kept = replace(plan, measures=measures, partition_by=plan.keys, equal=())
    known = [*kept.variables, *kept.unions]
    wanted = {name: re.sub(r"(\w+)\[(1|i)\]", r"\1_\2", name).upper() for name in known}
    new = list(wanted.values())
    names = {  # in upper case, without quotes: `a[1]` is A_1; those that would clash stay
        name: one
        for name, one in wanted.items()
        if WORD.fullmatch(one) and new.count(one) == 1 and (one not in known or one == name)
    }
    return rename_variables(kept, names), tuple(notes)


def reject_inexpressible(plan: MatchPlan) -> None:
    for absence in plan.absences:
        if plan.selection is EventSelection.STRICT_CONTIGUITY:
            what = "a negation of SASE+ under strict contiguity"
            hint = "between two events there is none: leave it out"
            ends = absence.after is None or absence.before is None
            raise errors.cannot_write(absence.span, what=what, cure=None if ends else hint)
    for definition in plan.definitions:
        if definition.variable == plan.closing:
            what = "a condition on the whole match"
            hint = "make it a column of RETURN, and test that after the match"
            raise errors.cannot_write(definition.condition.span, what=what, cure=hint)
        for reference in definition.condition.references:
            if isinstance(reference, expression.Aggregate) and reference.so_far:
                what = "an aggregate over the rows before: in DEFINE it includes the row itself"
                raise errors.cannot_write(reference.span, what=what, cure=None)


def _lines(plan: MatchPlan) -> Iterator[str]:
    if plan.partition_by:
        keys = ((key.text, key.name) for key in plan.partition_by)
        named = (text if name is None else f"{text} AS {quote_column(name)}" for text, name in keys)
        yield f"PARTITION BY {', '.join(named)}"
    if plan.order_by:
        yield f"ORDER BY {', '.join(item.expression.text for item in plan.order_by)}"
    values = ((_scalar(measure.value), quote_column(measure.name)) for measure in plan.measures)
    yield from _list("MEASURES", (f"{value} AS {name}" for value, name in values))
    if plan.output is MatchOutput.PREFERRED and plan.after_match.to is not SkipTo.PAST_LAST_ROW:
        yield plan.after_match.words
    said = [f"PATTERN ({show(insert_negations(plan))})"]
    if plan.output is not MatchOutput.PREFERRED:  # the matches of the standard
        said += [plan.selection.value, plan.output.value]
    said += [] if plan.first_matches is None else [plan.first_matches.words]
    yield " ".join(said)
    windows = [] if plan.within is None else [plan.within.interval.text]
    windows += [] if plan.within_rows is None else [f"{plan.within_rows} ROWS"]
    if windows:
        yield f"WITHIN {', '.join(windows)}"
    read = forms.find_read_variables(plan)
    subsets = (subset for subset in plan.subsets if subset.name in read)
    members = ((show_name(s.name), ", ".join(map(show_name, s.members))) for s in subsets)
    yield from _list("SUBSET", (f"{name} = ({of})" for name, of in members))
    conditions = ((show_name(d.variable), _scalar(d.condition)) for d in plan.definitions)
    yield from _list("DEFINE", (f"{name} AS {condition}" for name, condition in conditions))


def _list(keyword: str, items: Iterator[str]) -> Iterator[str]:
    """A part of the clause with an item a line; nothing without items."""
    if written := f",\n{' ' * (len(keyword) + 3)}".join(items):
        yield f"{keyword} {written}"


def _scalar(scalar: expression.Scalar) -> str:
    """An expression whose columns have no more quotes than they need."""
    tidied = expression.with_columns(
        scalar, lambda one: replace(one, argument=remove_needless_quotes(one.argument))
    )
    return show_scalar(tidied)
