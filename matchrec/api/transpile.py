"""`transpile`: write a query as SQL of a product. The query is SQL, a SASE+ text or a Pattern.

`convert_query` does the work for `transpile`, for `Query.to_sql` and for the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from matchrec.api.argument_kinds import ARGUMENTS, QUERY, SOURCE_LANGUAGE, TARGET_DIALECT
from matchrec.api.text_kinds import SASE_START, reject_file_name
from matchrec.arguments import TEXTS, SourceLanguage, TargetDialect, check_arguments
from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import PRODUCTS
from matchrec.dialects.translate import translate_query
from matchrec.dialects.writing.convert import Conversion, convert_to_sql
from matchrec.dialects.writing.read_queries import read_pattern, read_sase
from matchrec.errors import arguments as argument_errors
from matchrec.errors import calls as errors
from matchrec.errors.idle_arguments import argument_not_for_conversion
from matchrec.errors.kinds import with_source
from matchrec.errors.surface import current_surface, use_surface
from matchrec.errors.warn_caller import warn_caller
from matchrec.patterns.sase import StreamOptions
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan.clauses import MatchOutput
from matchrec.public_names import public
from matchrec.source import Source, Span
from matchrec.syntax.key_arguments import read_order_by, read_partition_by
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import find_data_frames

__all__ = ["Conversion", "transpile"]

# The kinds of arguments that may be Columns in other calls. Here they are only texts, because there
# is no DataFrame to which a Column could belong.
STREAM_ARGUMENTS = {"order_by": TEXTS, "partition_by": TEXTS}


@public
@check_arguments(
    query=QUERY, read=SOURCE_LANGUAGE, write=TARGET_DIALECT, **{**ARGUMENTS, **STREAM_ARGUMENTS}
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
        write: one of the same products, except "azure". "standard" is Spark SQL
            with the clause of SQL:2016, without matchrec's extensions.
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
    with rename_dialect_to_read():
        return convert_query(
            ConversionRequest(
                query=query,
                read=read,
                write=write,
                events=events,
                order_by=order_by,
                partition_by=partition_by,
                type_column=type_column,
            )
        )


def rename_dialect_to_read() -> AbstractContextManager[None]:
    """Return a context whose errors call the option for the dialect `read`, as `transpile` does."""
    return use_surface(current_surface().rename_options(dialect="read"))


@dataclass(frozen=True, kw_only=True)
class ConversionRequest:
    """A query that is to be written as SQL, with the arguments of `transpile`."""

    # The text of the query, or a Pattern.
    query: str | Pattern
    # The language of the text, which `SOURCE_LANGUAGE` accepts.
    read: str
    # The product whose SQL is written.
    write: str
    # The name of the table of events.
    events: str = "events"
    # The expressions that sort the events, as SQL. SASE+ and a Pattern need them.
    order_by: str | Sequence[str] = ()
    # The expressions that divide the events into partitions, as SQL.
    partition_by: str | Sequence[str] = ()
    # The column whose value is the type of an event.
    type_column: str = "event_type"
    # The output, as for `match_sase` and `match_pattern`. `transpile` has no such argument.
    output: str = "matches"


def convert_query(request: ConversionRequest) -> Conversion:
    """Write a query as SQL, as `transpile` does.

    Raises:
        MatchRecognizeError: the query cannot be read, or a part of it cannot be written.
    """
    query = request.query
    if isinstance(query, Pattern):
        warn_about_unused_arguments(request)
        if request.read != "spark":
            raise errors.pattern_as_text()
        read_query = read_pattern(query, build_stream_options(request))
        return convert_to_sql(read_query, request.events, PRODUCTS[request.write])
    reject_file_name(query)
    if request.read in PRODUCTS:
        reject_sase(query)
        warn_about_unused_arguments(request)
        return convert_sql(query, request.read, request.write)
    read_query = read_sase(query, build_stream_options(request))
    return convert_to_sql(read_query, request.events, PRODUCTS[request.write])


def convert_sql(query: str, read: str, write: str) -> Conversion:
    """Write a query in the SQL of one product as SQL of another one.

    Args:
        query: the query.
        read: the product whose SQL the query is.
        write: the product whose SQL is written.

    Raises:
        MatchRecognizeError: the query cannot be read, or a part of it cannot be written.
    """
    translation = translate_query(query, PRODUCTS[read], PRODUCTS[write])
    notes = (*find_frame_notes(query, write), *translation.notes)
    return Conversion(translation.text, notes, Source(query))


def build_stream_options(request: ConversionRequest) -> StreamOptions:
    """Return how the events of SASE+ or of a Pattern are sorted and divided, and the output.

    Raises:
        MatchRecognizePlanError: there is no `order_by`, or an argument is not SQL.
    """
    if not request.order_by:
        raise argument_errors.empty_order_by()
    leaves_out_overlaps = request.output == "non_overlapping"
    return StreamOptions(
        order_by=read_order_by(request.order_by),
        partition_by=read_partition_by(request.partition_by),
        type_column=request.type_column,
        output=MatchOutput.NON_OVERLAPPING if leaves_out_overlaps else MatchOutput.ALL,
    )


def reject_sase(text: str) -> None:
    """Check that a text that is read as SQL is not SASE+.

    Raises:
        MatchRecognizePlanError: the text begins as SASE+ does.
    """
    beginning = SASE_START.match(text)
    if beginning is not None:
        span = Span(beginning.start(1), beginning.end(1))
        raise with_source(errors.sase_read_as_sql(span), Source(text))


def warn_about_unused_arguments(request: ConversionRequest) -> None:
    """Warn about each argument of a request that the user has passed and the query does not use.

    Args:
        request: a request with SQL or a Pattern.
    """
    is_passed_by_argument = {
        "events": request.events != ConversionRequest.events,
        "order_by": bool(request.order_by),
        "partition_by": bool(request.partition_by),
        "type_column": request.type_column != ConversionRequest.type_column,
        "output": request.output != ConversionRequest.output,
    }
    is_pattern = isinstance(request.query, Pattern)
    for argument, is_passed in is_passed_by_argument.items():
        if not is_passed:
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
