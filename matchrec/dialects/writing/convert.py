"""Convert a query that was read to the SQL of a product.

1. `read_sase` or `read_pattern` returns the plan of what the user wrote.
2. `prepare_for_sql` turns it into a plan that SQL can express, or raises an error.
3. `write_sql` writes the plan as Spark SQL.
4. `check_meaning` reads that text again and compares the two plans.
5. `translate_query` translates the text to the SQL of the product.

The notes of steps 2 and 5 are a part of the result, and point at what the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import SPARK, Product
from matchrec.dialects.translate import Translation, translate_query
from matchrec.dialects.writing import shapes
from matchrec.dialects.writing.clause_text import write_sql
from matchrec.dialects.writing.names import WORD, rename_variables
from matchrec.dialects.writing.preferred import prefer_matches, starts_one_match
from matchrec.dialects.writing.stages import lower_to_clause
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
from matchrec.source import Source, Span
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import find_data_frames

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
    # The row pattern in `source`; `START` for a Pattern, whose source has only its conditions.
    pattern_span: Span = START


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
    if pattern.skip.to is SkipTo.PAST_LAST_ROW and starts_one_match(plan):
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


def convert_to_sql(query: ReadQuery, table: str, product: Product) -> Conversion:
    """Convert a query to the SQL of a product.

    Args:
        query: the query.
        table: the name of the table of its events.
        product: the product.

    Raises:
        MatchRecognizeError: the SQL of the product cannot express a part of the query.
    """
    with locate_errors(query.source):
        plan, notes = prepare_for_sql(query)
        if product is not SPARK:
            plan = prefer_matches(plan)
        text = write_sql(plan, table)
        check_meaning(query, plan, text)
    translation = _translate(text, product)
    # The user did not write the text that was translated, so notes on it have no better place.
    translation_notes = [replace(note, span=START) for note in translation.notes]
    source, _ = query.source.trace_to_author(START)
    located_notes = []
    for note in (*notes, *translation_notes):
        _, span = query.source.trace_to_author(note.span)
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


def check_meaning(query: ReadQuery, plan: MatchPlan, text: str) -> None:
    """Check that the written text has the plan from which it was written.

    Args:
        query: the query that the user wrote, for errors.
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
    span = query.pattern_span
    for definition in plan.definitions:
        if shapes.name_condition(definition.variable) == part:
            span = definition.condition.span
            break
    what = f"{part}, which would have other matches in SQL"
    raise errors.no_equivalent_in_sql(span, what=what, hint=None)


def _read_again(text: str) -> MatchPlan:
    """Return the plan of a written text, which has one clause."""
    frames = [frame.name for frame in find_data_frames(read_tokens(text).tokens)]
    (site,) = parse_sql(text, frames).sites
    return lower_clause(site.clause)


def prepare_for_sql(query: ReadQuery) -> tuple[MatchPlan, tuple[TranslationNote, ...]]:
    """Return a plan that SQL can express, and notes on what is lost.

    Raises:
        MatchRecognizeError: the matches would differ.
    """
    plan = query.plan
    reject_negations(plan)
    reject_undefinable_conditions(plan)
    measures = [measure for measure in plan.measures if not reads_whole_rows(measure.value)]
    # SQL has no equivalence keys of SASE+, but PARTITION BY divides the rows in the same way.
    expressible = replace(
        plan, measures=tuple(measures), partition_by=plan.partition_keys, equivalence_keys=()
    )
    renamed = rename_variables(expressible, choose_names(expressible))
    return renamed, tuple(_note_losses(query))


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


def _note_losses(query: ReadQuery) -> Iterator[TranslationNote]:
    """Yield notes on the columns that the result gets or loses because it is written as SQL."""
    plan = query.plan
    for key in plan.equivalence_keys:
        if key.span is not None:
            yield TranslationNote(
                f"`{key.text.strip('`')}` becomes a column of the result", key.span
            )
    if any(reads_whole_rows(measure.value) for measure in plan.measures):
        message = "whole events are not columns of the result: name their attributes in RETURN"
        yield TranslationNote(message, query.pattern_span)


def reads_whole_rows(value: expression.Scalar) -> bool:
    """Return whether a value aggregates whole rows, that is, all columns that the table has."""
    for reference in value.references:
        if not isinstance(reference, expression.Aggregate):
            continue
        for inner in expression.list_inner_references(reference):
            if isinstance(inner, expression.ColumnReference) and inner.argument.endswith("(*)"):
                return True
    return False


def choose_names(plan: MatchPlan) -> dict[str, str]:
    """Return new names for variables, by the old ones: in upper case, so that they need no quotes.

    `a` becomes A, and `a[1]` becomes A_1. A variable is not in the result, and keeps its name, if
    the new name is no word or would clash with another variable.
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
