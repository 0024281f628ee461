"""`convert`: a query of one product or language as another one reads it."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.api.signatures import ARGUMENTS, QUERY, READS, WRITES
from matchrec.arguments import TEXTS, ReadLanguage, WrittenLanguage, checked
from matchrec.errors import calls as errors
from matchrec.frontends.dialects.products import PRODUCTS
from matchrec.frontends.dialects.translate import translate_query
from matchrec.frontends.expressions.expression import keys, orders
from matchrec.frontends.pattern.builder import Pattern
from matchrec.plan.clauses import MatchOutput
from matchrec.source import Source
from matchrec.writing.convert import Conversion, to_pattern, to_sase, to_sql
from matchrec.writing.pattern import as_code
from matchrec.writing.reading import ReadQuery, Streams, read_pattern, read_sase, read_sql

__all__ = ["Conversion", "convert"]

STREAMS = {"order_by": TEXTS, "partition_by": TEXTS}  # no DataFrame is there to have Columns
LANGUAGES = {"sase": "SASE+", "pattern": "a Pattern"}


@checked(query=QUERY, read=READS, write=WRITES, **{**ARGUMENTS, **STREAMS})
def convert(  # noqa: PLR0913 -- public signature
    query: str | Pattern,
    *,
    read: ReadLanguage = "spark",
    write: WrittenLanguage = "spark",
    table: str = "events",
    order_by: str | Sequence[str] = (),
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
) -> Conversion:
    """A query in the language of `read`, or a Pattern, as a query in the language of `write`.

    read, write: "spark", "databricks", "snowflake", "oracle", "trino", "flink", "bigquery", "azure"
    (read only), or "standard": Spark SQL without our extensions of the clause; "sase" for SASE+;
    write="pattern" for Python code that builds a Pattern. From SQL to SQL, what need not change
    stays as it was written, comments and layout too. Raises MatchRecognizeError for what cannot be
    read, and for what `write` cannot say.

    table, order_by, partition_by, type_column: what SQL says of its rows and `sase` and `detect`
    are passed; of use where SASE+ or a Pattern becomes SQL. Nothing here needs Spark; a `Query`,
    which knows its rows and its form, is converted by its own methods.

    >>> print(matchrec.convert("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) "
    ...                        "DEFINE B AS x > PREV(x))", write="snowflake").text)
    SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts NULLS FIRST PATTERN (A B) DEFINE B AS x > LAG(x))
    """
    return conversion(
        query,
        read,
        write,
        table,
        order_by=order_by,
        partition_by=partition_by,
        type_column=type_column,
    )


def conversion(  # noqa: PLR0913 -- the arguments of `convert`
    query: str | Pattern,
    read: str,
    write: str,
    table: str,
    *,
    order_by: str | Sequence[str] = (),
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    form: str = "all",
) -> Conversion:
    """The same. form: as of `sase` and `detect`."""
    if isinstance(query, str) and read in PRODUCTS and write in PRODUCTS:
        translation = translate_query(query, PRODUCTS[read], PRODUCTS[write])
        return Conversion(translation.text, translation.notes, Source(query))
    if isinstance(query, Pattern) and read != "spark":
        raise errors.pattern_as_text()
    if isinstance(query, Pattern) and write == "pattern":
        return Conversion(as_code(query), (), Source(""))
    output = MatchOutput.NON_OVERLAPPING if form == "non_overlapping" else MatchOutput.ALL
    order = orders(order_by) if order_by else ()
    streams = Streams(table, order, keys(partition_by), type_column, output)
    if write in PRODUCTS and not order:
        raise errors.no_order()
    reading = _reading(query, read, streams, LANGUAGES.get(write, ""))
    as_it_is = Conversion(str(query), (), reading.source)
    return as_it_is if read == write == "sase" else _written(reading, write, streams)


def _reading(query: str | Pattern, read: str, streams: Streams, language: str) -> ReadQuery:
    """The query as it is read. language: in which it will be written."""
    if isinstance(query, Pattern):
        return read_pattern(query, streams)
    if read == "sase":
        return read_sase(query, streams)
    return read_sql(query, PRODUCTS[read], language)


def _written(reading: ReadQuery, write: str, streams: Streams) -> Conversion:
    """The query as it is written in the language of `write`."""
    match write:
        case "sase":
            return to_sase(reading, streams.type_column)
        case "pattern":
            return to_pattern(reading)
        case _:
            return to_sql(reading, streams.table, PRODUCTS[write])
