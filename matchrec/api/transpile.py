"""`transpile`: a query of a product, SASE+ or a Pattern in the SQL of a product."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from matchrec.api.argument_kinds import ARGUMENTS, QUERY, SOURCE_LANGUAGE, TARGET_DIALECT
from matchrec.api.text_kinds import reject_file_name
from matchrec.arguments import TEXTS, SourceLanguage, TargetDialect, check_arguments
from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import PRODUCTS
from matchrec.dialects.translate import translate_query
from matchrec.dialects.writing.convert import Conversion, convert_to_sql
from matchrec.dialects.writing.read_queries import read_pattern, read_sase
from matchrec.errors import arguments as argument_errors
from matchrec.errors import calls as errors
from matchrec.errors.language import current_surface, use_surface
from matchrec.errors.warn_caller import warn_caller
from matchrec.errors.warnings import argument_not_for_conversion
from matchrec.patterns.sase import StreamOptions
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan.clauses import MatchOutput
from matchrec.public_names import public
from matchrec.source import Source
from matchrec.syntax.key_arguments import read_order_by, read_partition_by
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import find_data_frames

__all__ = ["Conversion", "transpile"]

# Texts only, because there is no DataFrame whose Columns they could be.
STREAMS = {"order_by": TEXTS, "partition_by": TEXTS}


@public
@check_arguments(
    query=QUERY, read=SOURCE_LANGUAGE, write=TARGET_DIALECT, **{**ARGUMENTS, **STREAMS}
)
def transpile(  # noqa: PLR0913 -- public signature
    query: str | Pattern,
    *,
    read: SourceLanguage = "spark",
    write: TargetDialect = "spark",
    events: str = "events",
    order_by: str | Sequence[str] = (),
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
) -> Conversion:
    """Write a query as SQL of the product `write`. The query is text, or a Pattern.

    If the query is SQL, the parts that need not change keep their words, comments and layout.
    `transpile` needs no Spark. To write a `Query`, which already knows its rows and its output,
    call `Query.to_sql`.

    Args:
        query: the text of the query, or a Pattern.
        read: the language of the text: "spark", "databricks", "snowflake", "oracle", "trino",
            "flink", "bigquery", "azure", "standard", or "sase" for SASE+.
        write: one of the same products, except "azure". "standard" is Spark SQL without our
            extensions of the clause.
        events: the name of the table of events. SASE+ and a Pattern need it.
        order_by: as for `match_sase` and `match_pattern`. SASE+ and a Pattern need it.
        partition_by: as for `match_sase` and `match_pattern`.
        type_column: as for `match_sase`.

    Raises:
        MatchRecognizeError: the query cannot be read, or a part of it cannot be written.

    >>> print(matchrec.transpile("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) "
    ...                        "DEFINE B AS x > PREV(x))", write="snowflake").text)
    SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts NULLS FIRST PATTERN (A B) DEFINE B AS x > LAG(x))
    """
    with call_dialect_read():
        return convert_query(query, read, write, events, order_by, partition_by, type_column)


def call_dialect_read() -> AbstractContextManager[None]:
    """Let errors raised inside call the dialect of the text `read`, as `transpile` does."""
    return use_surface(current_surface().rename_options(dialect="read"))


def convert_query(  # noqa: PLR0913 -- the arguments of `transpile`
    query: str | Pattern,
    read: str,
    write: str,
    events: str = "events",
    order_by: str | Sequence[str] = (),
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    output: str = "matches",
) -> Conversion:
    """Write a query as SQL, as `transpile` does.

    Args:
        query: as for `transpile`, like all arguments but the last one.
        read: the language of the text.
        write: the product whose SQL is written.
        events: the name of the table of events.
        order_by: what sorts the events.
        partition_by: what divides the events.
        type_column: the column whose value is the type of an event.
        output: as for `match_sase` and `match_pattern`.

    Raises:
        MatchRecognizeError: the query cannot be read, or a part of it cannot be written.
    """
    if isinstance(query, str):
        reject_file_name(query)
    if isinstance(query, Pattern) or read in PRODUCTS:
        warn_about_unused_arguments(
            is_pattern=isinstance(query, Pattern),
            events=events != "events",
            order_by=bool(order_by),
            partition_by=bool(partition_by),
            type_column=type_column != "event_type",
            output=output != "matches",
        )
    if isinstance(query, str) and read in PRODUCTS:
        translation = translate_query(query, PRODUCTS[read], PRODUCTS[write])
        notes = (*find_frame_notes(query, write), *translation.notes)
        return Conversion(translation.text, notes, Source(query))
    if isinstance(query, Pattern) and read != "spark":
        raise errors.pattern_as_text()
    if not order_by:
        raise argument_errors.empty_order_by()
    is_overlapping = output != "non_overlapping"
    match_output = MatchOutput.ALL if is_overlapping else MatchOutput.NON_OVERLAPPING
    stream_options = StreamOptions(
        read_order_by(order_by), read_partition_by(partition_by), type_column, match_output
    )
    if isinstance(query, str):
        reading = read_sase(query, stream_options)
    else:
        reading = read_pattern(query, stream_options)
    return convert_to_sql(reading, events, PRODUCTS[write])


def warn_about_unused_arguments(*, is_pattern: bool, **is_passed: bool) -> None:
    """Warn about each argument of `convert_query` that the query does not use.

    Args:
        is_pattern: whether the query is a Pattern; otherwise it is SQL.
        is_passed: by the name of an argument, whether its value differs from the default.
    """
    for argument, passed in is_passed.items():
        if not passed:
            continue
        warning = argument_not_for_conversion(argument=argument, is_pattern=is_pattern)
        if warning is not None:
            warn_caller(warning)


def find_frame_notes(query: str, write: str) -> list[TranslationNote]:
    """Return a note on each `{name}` of a query: only Spark replaces it by a DataFrame.

    Args:
        query: the query, which can be read.
        write: the product whose SQL is written.

    >>> [note.message for note in find_frame_notes("SELECT * FROM {ticks}", "trino")]
    ['`{ticks}` is a DataFrame of this program: write the name of a table']
    """
    if write == "spark" or "{" not in query:
        return []
    return [
        TranslationNote(
            f"`{{{frame.name}}}` is a DataFrame of this program: write the name of a table",
            frame.span,
        )
        for frame in find_data_frames(read_tokens(query).tokens)
    ]
