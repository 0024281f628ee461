"""`sase` and what belongs to it: the language of event patterns over DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.api.inputs import relation_of, streams_of
from matchrec.api.remarks import Remarks, explained, remarks_in, warn
from matchrec.api.signatures import ARGUMENTS
from matchrec.arguments import DATAFRAME, OneOf, checked
from matchrec.dataclass import dataclass
from matchrec.errors.calls import not_compressible
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import SASE, reading
from matchrec.explanation import Explanation
from matchrec.frontends.sase import compile_sase
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan, as_graph
from matchrec.source import Source
from matchrec.spark.after.expand import mark_graph, unwind_graph
from matchrec.spark.environment import check_session
from matchrec.spark.errors.diagnose import check_type_column
from matchrec.spark.execute import ClauseResult, execute
from matchrec.spark.question import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.spark.counters import Counters


FORM = OneOf(("verbose", "compressed"))


@checked(form=FORM, **ARGUMENTS)
def sase(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    text: str,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    output: str = "all",
    form: str = "verbose",
    engine: str = "auto",
    transport: str = "auto",
    sort: str = "auto",
    counters: Counters | None = None,
) -> DataFrame:
    """The matches of a SASE+ query over a DataFrame of events.

    order_by: what the events are sorted by, the first of it is what WITHIN measures. partition_by:
    what divides them into streams. Both are SQL over one row. type_column: its value is an event's
    type. output: "all" or "non_overlapping" matches.

    form "verbose": one row per match, the partition columns, then what RETURN says, or else for
    each variable an array of its events. form "compressed": the shared buffer of all matches, one
    row per pointer, for `unwind`. A worker gives matches in the order in which they are complete,
    but rows of a DataFrame have no order: sort by what RETURN says.

    Otherwise as `sql`.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> matchrec.sase(events, '''
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
    streams = streams_of(df, order_by, partition_by)
    query = SaseCall(df, text, *streams, type_column, sase_output(output, form))
    result = query.execute(Options(engine, transport, sort, counters))
    warn(*query.remarks(result))
    return result.dataframe


@checked(form=FORM, **ARGUMENTS)
def explain_sase(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    text: str,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    output: str = "all",
    form: str = "verbose",
    engine: str = "auto",
    sort: str = "auto",
) -> Explanation:
    """What a SASE+ query compiles to and which engine runs it; arguments as of `sase`.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> print(matchrec.explain_sase(events, "PATTERN SEQ(Login a, Error b)", order_by="at"))
    row pattern
      `a` `b`
    ...
    """
    streams = streams_of(df, order_by, partition_by)
    query = SaseCall(df, text, *streams, type_column, sase_output(output, form))
    result = query.execute(Options(engine, sort=sort))
    return Explanation((explained(result, query.remarks(result)),))


@dataclass(frozen=True)
class SaseCall:
    """What `sase` is asked, apart from how it is run."""

    df: DataFrame
    text: str
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    type_column: str
    output: MatchOutput

    def plan(self) -> MatchPlan:
        """What the text means."""
        return compile_sase(
            self.text, self.order_by, self.partition_by, self.type_column, self.output
        )

    def execute(self, options: Options) -> ClauseResult:
        """The result, and what explains it."""
        with shown_in(Source(self.text), SASE):
            plan = self.plan()
            check_session(self.df.sparkSession)
            check_type_column(self.df, self.type_column, plan)
            result = execute(as_graph(plan), relation_of(self.df), None, options)
            if self.output is not MatchOutput.GRAPH:
                return result
            return replace(result, dataframe=mark_graph(result.dataframe, plan))

    def remarks(self, result: ClauseResult) -> Remarks:
        """Warnings about the query."""
        with reading(SASE):
            return remarks_in(result.written, Source(self.text))


@checked(graph=DATAFRAME)
def unwind(graph: DataFrame) -> DataFrame:
    """The matches that a DataFrame of `sase` in compressed form holds, as in verbose form.

    Rows of the graph may have been left out before, as long as each pointer that is left leads to
    one that is there.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> graph = matchrec.sase(
    ...     events, "PATTERN SEQ(Login a, Error b) WHERE skip_till_any_match",
    ...     order_by="at", form="compressed")
    >>> matchrec.unwind(graph).orderBy("b").show()
    +------------+------------+
    |           a|           b|
    +------------+------------+
    |[{1, Login}]|[{2, Error}]|
    |[{1, Login}]|[{3, Error}]|
    +------------+------------+
    """
    check_session(graph.sparkSession)
    return unwind_graph(graph)


def sase_output(output: str, form: str) -> MatchOutput:
    """Which matches `sase` is asked for."""
    if form == "verbose":
        return MatchOutput.ALL if output == "all" else MatchOutput.NON_OVERLAPPING
    if output != "all":
        raise not_compressible(output)
    return MatchOutput.GRAPH
