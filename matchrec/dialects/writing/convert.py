"""Convert a query that was read to the SQL of a product.

1. `read_queries` returns the plan of what the user wrote.
2. `prepare` turns it into a plan that SQL can express, or raises an error.
3. `clause_text` writes the plan as Spark SQL.
4. `check_meaning` reads that text again and compares the two plans.
5. `translate_query` translates the text to the SQL of the product.

The notes of steps 2 and 5 are a part of the result, and point at what the user wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import SPARK, Product
from matchrec.dialects.translate import Translation, translate_query
from matchrec.dialects.writing import shapes
from matchrec.dialects.writing.clause_text import write_sql
from matchrec.dialects.writing.origins import PartOrigin, find_origins, trace_to_user
from matchrec.dialects.writing.preferred import prefer_matches
from matchrec.dialects.writing.prepare import prepare_for_sql
from matchrec.dialects.writing.read_queries import START, LoweredQuery
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.kinds import locate_errors, with_source
from matchrec.plan.match_plan import MatchPlan
from matchrec.public_names import public
from matchrec.source import Source, Span
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import find_data_frames

# The event selection of a SASE+ query that may skip events.
SELECTION_STRATEGY = re.compile(r"\bskip_till_(?:next|any)_match\b", re.IGNORECASE)

# The note on an error about a part of SQL that the user did not write.
NOTE_ON_TRANSLATION = "the line is in the query after its translation to Spark SQL"


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Conversion:
    """A query written in the SQL of a product, from `transpile` or `Query.to_sql`.

    It prints as the text without the line breaks at its end, then the notes as comments.

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
        lines = [self.text.rstrip()]
        for note in self.notes:
            lines += [f"-- {line}" for line in note.show(self.source).split("\n")]
        return "\n".join(lines)

    # A cell of a notebook shows the SQL, as `print` does.
    __repr__ = __str__


def convert_to_sql(query: LoweredQuery, table: str, product: Product) -> Conversion:
    """Convert a query to the SQL of a product.

    Args:
        query: the query.
        table: the name of the table with its events, as the SQL will have it.
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
    origins = find_origins(query, plan, text)
    translation = _translate(query, origins, text, product)
    translation_notes = [
        replace(note, span=trace_to_user(origins, text, note.span, query.source) or START)
        for note in translation.notes
    ]
    source, _ = query.source.trace_to_author(START)
    located_notes = []
    for note in (*notes, *translation_notes):
        _, span = query.source.trace_to_author(note.span)
        located_notes.append(replace(note, span=span))
    return Conversion(translation.text, tuple(located_notes), source)


def _translate(
    query: LoweredQuery, origins: list[PartOrigin], text: str, product: Product
) -> Translation:
    """Translate the Spark SQL that was written to the SQL of a product.

    Args:
        query: the query that the user wrote, for errors.
        origins: what the user wrote for the parts of `text`.
        text: the Spark SQL that was written for it.
        product: the product.

    Raises:
        MatchRecognizeError: the SQL of the product cannot express a part of the query.
    """
    try:
        return translate_query(text, SPARK, product)
    except MatchRecognizeError as error:
        is_selection = any(
            text[span.start : span.end].upper().startswith("SKIP TILL") for span in error.spans
        )
        if is_selection:
            _locate_selection(error, query)
        else:
            _locate_in_query(error, origins, text, query.source)
        raise


def _locate_in_query(
    error: MatchRecognizeError, origins: list[PartOrigin], text: str, source: Source
) -> None:
    """Change an error about written SQL so that it points at what the user wrote.

    If the user did not write the part, a note says that the line is of the translation.

    Args:
        error: the error, which is changed.
        origins: what the user wrote for the parts of `text`.
        text: the Spark SQL that was written.
        source: what the user wrote.
    """
    spans = [trace_to_user(origins, text, span, source) for span in error.spans]
    users_spans = tuple(span for span in spans if span is not None)
    if users_spans:
        error.spans = users_spans
        error.source = None
        with_source(error, source)
    else:
        error.notes = (*error.notes, NOTE_ON_TRANSLATION)


def _locate_selection(error: MatchRecognizeError, query: LoweredQuery) -> None:
    """Change an error about an event selection so that it points at what the user wrote.

    Args:
        error: the error, which is changed.
        query: the query that the user wrote.
    """
    error.source = query.source
    strategy = SELECTION_STRATEGY.search(query.source.text)
    if strategy is not None:
        error.spans = (Span(*strategy.span()),)
    elif query.pattern_span != START:
        error.spans = (query.pattern_span,)
        note = "without a strategy in WHERE, the strategy is skip_till_next_match"
        error.notes = (*error.notes, note)
        error.hint = error.hint or "write WHERE strict_contiguity if a match may skip no events"
    else:  # a Pattern, whose source has only its conditions
        error.spans = ()
        note = "stages that followed_by and followed_by_any add may skip events"
        error.notes = (*error.notes, note)


def check_meaning(query: LoweredQuery, plan: MatchPlan, text: str) -> None:
    """Check that the written text has the plan from which it was written.

    Args:
        query: the query that the user wrote, for errors.
        plan: the plan.
        text: the text that was written for it.

    Raises:
        MatchRecognizeError: the text cannot be read, or has another plan.
    """
    try:
        part = shapes.find_differing_part(plan, _read_again(text))
    except MatchRecognizeError as error:
        raise errors.no_equivalent_in_sql(
            START, what=f"this: {error.message}", hint=None
        ) from error
    if part is not None:
        what = f"{part.name}, which would have other matches in SQL"
        raise errors.no_equivalent_in_sql(part.span or query.pattern_span, what=what, hint=None)


def _read_again(text: str) -> MatchPlan:
    """Return the plan of a written text, which has one clause."""
    frames = [frame.name for frame in find_data_frames(read_tokens(text).tokens)]
    (site,) = parse_sql(text, frames).sites
    return lower_clause(site.clause)
