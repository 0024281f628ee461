"""Convert a query that was read to the SQL of a product.

1. `read_sase` or `read_pattern` returns the plan of what the user wrote.
2. `prepare_for_sql` turns it into a plan that SQL can express, or raises an error.
3. The plan is written as Spark SQL.
4. `check_meaning` reads that text again and compares the two plans.
5. The text is translated to the SQL of the product, see `dialects.translate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import SPARK, Product
from matchrec.dialects.translate import Translation, translate_query
from matchrec.dialects.writing import shapes
from matchrec.dialects.writing.names import (
    WORD,
    quote_column,
    remove_needless_quotes,
    rename_variables,
)
from matchrec.dialects.writing.stages import insert_negations, lower_to_clause
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import locate_errors
from matchrec.patterns.sase import Streams, compile_sase
from matchrec.patterns.sase.parser import parse_once
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.plan import expression
from matchrec.plan.clauses import EventSelection, MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_name, show_pattern
from matchrec.plan.show import show_scalar
from matchrec.source import Source, Span
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import find_frames

# The span of notes and errors about the whole query.
START = Span(0, 1)

# A variable of SASE+ for the first or the i-th event of a loop, such as `a[1]`.
_ELEMENT = re.compile(r"(\w+)\[(1|i)\]")


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query to convert, as `read_sase` or `read_pattern` has read it."""

    # What the query means.
    plan: MatchPlan
    # What the user wrote.
    source: Source
    # The span of its row pattern.
    pattern: Span = START


def read_sase(text: str, streams: Streams) -> ReadQuery:
    """Read a SASE+ query.

    Raises:
        MatchRecognizeError: the query is wrong.
    """
    plan = compile_sase(text, streams)
    return ReadQuery(plan, Source(text), parse_once(text, None).sequence_span)


def read_pattern(pattern: Pattern, streams: Streams) -> ReadQuery:
    """Read a Pattern.

    Raises:
        MatchRecognizeUnsupportedError: SQL cannot express a part of it.
    """
    query = PatternQuery(pattern, streams.order_by, streams.partition_by, ())
    plan, source = lower_to_clause(query)
    if pattern.most_matches is not None:  # a clause numbers its matches in another order
        raise errors.option_not_convertible(option=f"first_matches({pattern.most_matches})")
    if pattern.skip.to is SkipTo.PAST_LAST_ROW and shapes.starts_one_match(plan):
        plan = replace(plan, output=MatchOutput.NON_OVERLAPPING)
    elif pattern.skip.to is not None:
        raise errors.option_not_convertible(option=f"after_match({pattern.skip!r})")
    return ReadQuery(plan, source)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A query written in the SQL of a product, from `transpile` or `Query.to_sql`.

    It prints as the text, then the notes as comments.

    Attributes:
        text: the converted query.
        notes: what is lost, and what means something else in the product, each with its location.
        source: the query as it was, which the notes point to.

    >>> converted = matchrec.transpile("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) "
    ...                              "DEFINE B AS x > PREV(x))", write="trino")
    >>> print(converted.text)
    SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts NULLS FIRST PATTERN (A B) DEFINE B AS x > PREV(x))
    """

    text: str
    notes: tuple[TranslationNote, ...]
    source: Source

    def __str__(self) -> str:
        lines = [self.text]
        for note in self.notes:
            lines += [f"-- {line}" for line in note.show(self.source).split("\n")]
        return "\n".join(lines)


def convert_to_sql(reading: ReadQuery, table: str, product: Product) -> Conversion:
    """Convert a query to the SQL of a product.

    Args:
        reading: the query.
        table: the name of the table of its events.
        product: the product.

    Raises:
        MatchRecognizeError: the SQL of the product cannot express a part of the query.
    """
    with locate_errors(reading.source):
        plan, notes = prepare_for_sql(reading)
        if product is not SPARK:
            plan = shapes.prefer_matches(plan)
        text = write_sql(plan, table)
        check_meaning(reading, plan, text)
    translation = _translate(text, product)
    # The user did not write the text that was translated, so notes on it have no better place.
    translation_notes = [replace(note, span=START) for note in translation.notes]
    source, _ = reading.source.trace_to_author(START)
    located_notes = []
    for note in (*notes, *translation_notes):
        _, span = reading.source.trace_to_author(note.span)
        located_notes.append(replace(note, span=span))
    return Conversion(translation.text, tuple(located_notes), source)


def _translate(text: str, product: Product) -> Translation:
    """Translate the Spark SQL that was written to the SQL of a product.

    Raises:
        MatchRecognizeError: the SQL of the product cannot express a part of it.
    """
    try:
        return translate_query(text, SPARK, product)
    except MatchRecognizeError as error:
        error.notes = (*error.notes, "the line is in the query after its translation to Spark SQL")
        raise


def check_meaning(reading: ReadQuery, plan: MatchPlan, text: str) -> None:
    """Check that the written text has the plan from which it was written.

    Args:
        reading: the query that the user wrote, for errors.
        plan: the plan.
        text: the text that was written for it.

    Raises:
        MatchRecognizeError: it cannot be read, or has another plan.
    """
    try:
        part = shapes.find_differing_part(plan, _read_again(text))
    except MatchRecognizeError as error:
        raise errors.no_equivalent_in_sql(
            START, what=f"this: {error.message}", hint=None
        ) from error
    if part is None:
        return
    span = reading.pattern
    for definition in plan.definitions:
        if shapes.name_condition(definition.variable) == part:
            span = definition.condition.span
            break
    what = f"{part}, which would have other matches in SQL"
    raise errors.no_equivalent_in_sql(span, what=what, hint=None)


def _read_again(text: str) -> MatchPlan:
    """Return the plan of the written text."""
    frames = [name for name, _ in find_frames(read_tokens(text).tokens)]
    (site,) = parse_sql(text, frames).sites
    return lower_clause(site.clause)


def prepare_for_sql(reading: ReadQuery) -> tuple[MatchPlan, tuple[TranslationNote, ...]]:
    """Return a plan that SQL can express, and notes on what is lost.

    Raises:
        MatchRecognizeError: the matches would differ.
    """
    plan = reading.plan
    reject_negations(plan)
    reject_undefinable_conditions(plan)
    measures = [measure for measure in plan.measures if not shapes.reads_whole_rows(measure.value)]
    kept = replace(plan, measures=tuple(measures), partition_by=plan.keys, equivalence_keys=())
    renamed = rename_variables(kept, choose_names(kept))
    return renamed, tuple(_note_losses(reading))


def reject_negations(plan: MatchPlan) -> None:
    """Raise an error for a negation under strict contiguity.

    Raises:
        MatchRecognizeError: there is one.
    """
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        return
    for absence in plan.absences:
        what = "a negation of SASE+ under strict contiguity"
        is_between_events = absence.after is not None and absence.before is not None
        hint = "remove it: under strict contiguity no event is between two events"
        raise errors.no_equivalent_in_sql(
            absence.span, what=what, hint=hint if is_between_events else None
        )


def reject_undefinable_conditions(plan: MatchPlan) -> None:
    """Raise an error for a condition that DEFINE cannot have.

    Raises:
        MatchRecognizeError: it is about the whole match, or aggregates only the rows before.
    """
    for definition in plan.definitions:
        condition = definition.condition
        if definition.variable == plan.match_condition:
            what = "a condition on the whole match"
            hint = "return the value as a column, and test it in a query over the result"
            raise errors.no_equivalent_in_sql(condition.span, what=what, hint=hint)
        for reference in condition.references:
            if isinstance(reference, expression.Aggregate) and reference.excludes_current_row:
                what = (
                    "an aggregate over the earlier rows only: in DEFINE it includes the current row"
                )
                raise errors.no_equivalent_in_sql(reference.span, what=what, hint=None)


def _note_losses(reading: ReadQuery) -> Iterator[TranslationNote]:
    """Yield notes on what differs in the output."""
    plan = reading.plan
    for key in plan.equivalence_keys:
        if key.span is not None:
            yield TranslationNote(
                f"`{key.text.strip('`')}` becomes a column of the result", key.span
            )
    if any(shapes.reads_whole_rows(measure.value) for measure in plan.measures):
        message = "whole events are not columns of the result: name their attributes in RETURN"
        yield TranslationNote(message, reading.pattern)


def choose_names(plan: MatchPlan) -> dict[str, str]:
    """Return new names for variables, in upper case so that they need no quotes.

    `a[1]` becomes A_1. A variable whose name would clash with another one keeps its own.
    """
    variables = [*plan.variables, *plan.unions]
    candidates = {name: _ELEMENT.sub(r"\1_\2", name).upper() for name in variables}
    all_candidates = list(candidates.values())
    names = {}
    for name, candidate in candidates.items():
        is_unique = all_candidates.count(candidate) == 1
        is_free = candidate not in variables or candidate == name
        if WORD.fullmatch(candidate) and is_unique and is_free:
            names[name] = candidate
    return names


def write_sql(plan: MatchPlan, table: str) -> str:
    """Return a query of Spark SQL with a clause.

    Args:
        plan: the plan, as `prepare_for_sql` returns it.
        table: the name of the table.
    """
    body = "\n  ".join(_write_parts(plan))
    return f"SELECT * FROM {table} MATCH_RECOGNIZE (\n  {body}\n)"


def _write_parts(plan: MatchPlan) -> Iterator[str]:
    """Yield the parts of the clause, in its order."""
    if plan.partition_by:
        keys = []
        for key in plan.partition_by:
            name = "" if key.name is None else f" AS {quote_column(key.name)}"
            keys.append(f"{key.text}{name}")
        yield f"PARTITION BY {', '.join(keys)}"
    if plan.order_by:
        yield f"ORDER BY {', '.join(item.expression.text for item in plan.order_by)}"
    yield from _write_list(
        "MEASURES",
        (
            f"{_write_scalar(measure.value)} AS {quote_column(measure.name)}"
            for measure in plan.measures
        ),
    )
    if plan.output is MatchOutput.PREFERRED and plan.after_match.to is not SkipTo.PAST_LAST_ROW:
        yield plan.after_match.words
    yield " ".join([f"PATTERN ({show_pattern(insert_negations(plan))})", *_list_selection(plan)])
    windows = list(_list_windows(plan))
    if windows:
        yield f"WITHIN {', '.join(windows)}"
    yield from _write_list("SUBSET", _list_subsets(plan))
    yield from _write_list(
        "DEFINE",
        (
            f"{show_name(definition.variable)} AS {_write_scalar(definition.condition)}"
            for definition in plan.definitions
        ),
    )


def _list_selection(plan: MatchPlan) -> Iterator[str]:
    """Yield the options after the row pattern. The matches of the standard need none."""
    if plan.output is not MatchOutput.PREFERRED:
        yield plan.selection.value
        yield plan.output.value
    if plan.first_matches is not None:
        yield plan.first_matches.words


def _list_windows(plan: MatchPlan) -> Iterator[str]:
    """Yield the windows of a match."""
    if plan.within is not None:
        yield plan.within.interval.text
    if plan.within_rows is not None:
        yield f"{plan.within_rows} ROWS"


def _list_subsets(plan: MatchPlan) -> Iterator[str]:
    """Yield the definitions of the union variables that a condition or measure reads."""
    read = shapes.find_read_variables(plan)
    for subset in plan.subsets:
        if subset.name in read:
            members = ", ".join(show_name(member) for member in subset.members)
            yield f"{show_name(subset.name)} = ({members})"


def _write_list(keyword: str, items: Iterable[str]) -> Iterator[str]:
    """Yield a part of the clause, with an item on each line; nothing if there are no items."""
    indent = " " * (len(keyword) + 3)
    text = f",\n{indent}".join(items)
    if text:
        yield f"{keyword} {text}"


def _write_scalar(scalar: expression.Scalar) -> str:
    """Return the text of an expression whose columns have no more quotes than they need."""

    def tidy(column: expression.ColumnReference) -> expression.ColumnReference:
        """Return the column without needless quotes."""
        return replace(column, argument=remove_needless_quotes(column.argument))

    return show_scalar(expression.map_column_references(scalar, tidy))
