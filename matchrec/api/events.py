"""The public functions for events: `match_sase`, `match_pattern` and `explode_graph`.

sase_query      the query that `match_sase` runs, and that `query` returns
pattern_query   the query that `match_pattern` runs, and that `query` returns
event_input     what both have in common: events with an order and partitions
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from matchrec.api.argument_kinds import ARGUMENTS, EVENT_VALUES, PATTERN_OUTPUT, SASE_OUTPUT
from matchrec.api.event_input import Events
from matchrec.api.frames import Frame, cast_to_dataframe
from matchrec.api.inputs import ColumnsOrSql
from matchrec.api.pattern_query import build_pattern_query
from matchrec.api.sase_query import build_sase_query
from matchrec.arguments import (
    DATAFRAME,
    FLAG,
    TEXT,
    NamedArguments,
    PatternOutput,
    SaseOutput,
    check_arguments,
)
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import SASE
from matchrec.patterns.sase.query_mistakes import reject_sql
from matchrec.patterns.stages.builder import Pattern
from matchrec.public_names import public
from matchrec.source import Source
from matchrec.spark.after.graphs import unwind_graph
from matchrec.spark.environment import check_session
from matchrec.spark.request import Options


def reject_sql_text(_argument: str, text: str) -> str:
    """Check that a text is not SQL, and return it unchanged, as a converter of arguments.

    A user who passes SQL has usually not passed `order_by`, because SQL has its own. As a
    converter, this check comes before the one for missing arguments, so that the error is about
    the language.

    Args:
        _argument: the name of the argument, which every converter gets.
        text: the text.

    Raises:
        MatchRecognizeParseError: the text is SQL.
    """
    with locate_errors(Source(text), SASE):
        reject_sql(text)
    return text


SASE_TEXT = replace(TEXT, converter=reject_sql_text)


@public
@check_arguments(**{**ARGUMENTS, "text": SASE_TEXT, "args": EVENT_VALUES, "output": SASE_OUTPUT})
def match_sase(  # noqa: PLR0913 -- public signature
    df: Frame,
    text: str,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    type_column: str = "event_type",
    output: SaseOutput = "matches",
    options: Options | None = None,
) -> DataFrame:
    """Find the matches of a SASE+ query in a DataFrame of events.

    Args:
        df: the events, as a DataFrame of Spark, pandas, Polars or Arrow.
        text: the SASE+ query.
        args: a dict with the values of the `:name` parameters in the text, or None if it has none.
        order_by: what sorts the events, as SQL over one row, or as Columns of the DataFrame. WITHIN
            measures along the first item.
        partition_by: what divides the events into partitions, as SQL over one row, or as Columns of
            the DataFrame. Without it, all events are one partition.
        type_column: the column whose value is the type of an event.
        output: what the result contains. "matches" returns one row for each match: the partition
            columns, then the columns of RETURN, or without RETURN an array of events for each
            variable. "non_overlapping" returns the same columns, but of overlapping matches only
            the one that is complete first. "graph" returns all matches together, one row for
            each link from an event to the event that a match selected before it; `explode_graph`
            turns these rows into matches.
        options: how the query runs. None means the defaults.

    Returns:
        A DataFrame with the matches, in no particular order. Nothing runs until you call an action.
        To sort the matches, sort by columns of RETURN.

    Raises:
        MatchRecognizeError: the query has a mistake.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> matchrec.match_sase(events, '''
    ...     PATTERN SEQ(Login a, Error b)
    ...     WHERE skip_till_any_match(a, b) { a.at < b.at }
    ...     RETURN a.at AS login, b.at AS error
    ... ''', order_by="at").orderBy("error").show()
    +-----+-----+
    |login|error|
    +-----+-----+
    |    1|    2|
    |    1|    3|
    +-----+-----+
    """
    events = Events.build(cast_to_dataframe(df), order_by, partition_by)
    return build_sase_query(events, text, args, type_column, output, options=options).to_df()


@public
@check_arguments(**{**ARGUMENTS, "args": EVENT_VALUES, "output": PATTERN_OUTPUT, "timeouts": FLAG})
def match_pattern(  # noqa: PLR0913 -- public signature
    df: Frame,
    pattern: Pattern,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    output: PatternOutput = "matches",
    timeouts: bool = False,
    options: Options | None = None,
) -> DataFrame:
    """Find the matches of a Pattern in a DataFrame of events.

    Args:
        df: the events, as a DataFrame of Spark, pandas, Polars or Arrow.
        pattern: the Pattern.
        args: a dict with the values of the `:name` parameters in conditions, or None if they have
            none.
        order_by: what sorts the events, as SQL over one row, or as Columns of the DataFrame. The
            first item is the time, along which windows measure.
        partition_by: what divides the events into partitions, as SQL over one row, or as Columns of
            the DataFrame. Without it, all events are one partition.
        output: what the result contains. "matches" returns one row for each match: the partition
            columns, `match_number`, `start_time`, `end_time`, and for each stage an array of its
            events, which may be empty. "events" returns one row for each event of each match, with
            `match_number` and `stage`.
        timeouts: also return the runs that began a match and whose window ended before the match
            was complete. For such a run, `match_number` is NULL, and `timed_out_at` is the end of
            the window. For a match, `timed_out_at` is NULL.
        options: how the query runs. None means the defaults.

    Returns:
        A DataFrame with the matches, and with `timeouts` the runs that timed out. Nothing runs
        until you call an action.

    Raises:
        MatchRecognizeError: the pattern has a mistake.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> pattern = (matchrec.Pattern.begin("login").where("event_type = 'Login'")
    ...     .next("error").where("event_type = 'Error'"))
    >>> matchrec.match_pattern(events, pattern, order_by="at").show()
    +------------+----------+--------+------------+------------+
    |match_number|start_time|end_time|       login|       error|
    +------------+----------+--------+------------+------------+
    |           1|         1|       2|[{1, Login}]|[{2, Error}]|
    +------------+----------+--------+------------+------------+
    """
    events = Events.build(cast_to_dataframe(df), order_by, partition_by)
    return build_pattern_query(
        events, pattern, args, output, timeouts=timeouts, options=options
    ).to_df()


@public
@check_arguments(df=DATAFRAME)
def explode_graph(df: DataFrame) -> DataFrame:
    """Return the matches in a graph, one row for each match.

    Args:
        df: the result of `match_sase` with `output="graph"`. You may filter it first, but
            keep the previous event of each pointer.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> graph = matchrec.match_sase(
    ...     events, "PATTERN SEQ(Login a, Error b) WHERE skip_till_any_match",
    ...     order_by="at", output="graph")
    >>> matchrec.explode_graph(graph).orderBy("b").show()
    +------------+------------+
    |           a|           b|
    +------------+------------+
    |[{1, Login}]|[{2, Error}]|
    |[{1, Login}]|[{3, Error}]|
    +------------+------------+
    """
    check_session(df.sparkSession)
    return unwind_graph(df)
