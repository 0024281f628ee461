"""A plan and a relation → a DataFrame: before the match, the match, after it.

Builds everything at once, so that every user error surfaces, and runs no job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from matchrec.compile.executable import Executable, Output
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import show_column
from matchrec.errors.run.origins import SqlOrigin, commented, with_origin
from matchrec.output.pieces import Piece
from matchrec.output.reads import ReadFact, show_read
from matchrec.plan.match_plan import MatchPlan, Use
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import quoted
from matchrec.shortcuts import taken
from matchrec.spark import wire
from matchrec.spark.after.aggregates import aggregate_matches, measure_sql
from matchrec.spark.columns import Unsorted
from matchrec.spark.errors.second_look import watch_matches
from matchrec.spark.prepare import D, Demand, Prepared, ScopeOf, prepare
from matchrec.spark.question import Question
from matchrec.spark.ranges import NO_WINDOW, check_whole, cutting, find_ranges
from matchrec.spark.session import Relation, quiet_analysis
from matchrec.spark.types import schema_of_reads
from matchrec.spark.wire import SelectItem
from matchrec.spark.worker.matching import QueryWorker


@dataclass(frozen=True)
class ClauseResult:
    """The DataFrame of a clause, and what it was made from, which explains it.

    built: why each match is built, where somebody aggregates all of them; else empty.
    """

    dataframe: DataFrame
    executable: Executable
    prepared: Prepared[Draft]
    built: str = ""

    @property
    def drafted(self) -> Draft:
        """The plan as it runs, and as it was written."""
        return self.prepared.demand.draft


def execute(question: Question) -> ClauseResult:
    """The result of a query. Raises MatchRecognizeError for whatever is wrong with it."""
    (rule,) = question.rules

    def demand(scope: ScopeOf) -> Demand[Draft]:
        drafted = question.draft(rule, scope(rule.plan))
        return demand_of(question, drafted, drafted)

    with quiet_analysis(), question.asking(rule):
        prepared = prepare(question, demand)
        return drop_unused_columns(execute_prepared(prepared), prepared)


def demand_of(question: Question, asked: D, drafted: Draft) -> Demand[D]:
    """What Spark is to prepare for one draft. asked: see `Demand`."""
    (rule,) = question.rules
    tests = key_tests(drafted.plan, question.columns, question.use)
    return Demand(asked, {rule.name: drafted}, drafted, drafted.columns(), tests)


def key_tests(plan: MatchPlan, columns: InputColumns, use: Use) -> tuple[str, ...]:
    """Tests of partition columns that every row of the result passes, as SQL over one row."""
    if not taken().keys:
        return ()
    return tuple(
        f"{key.text} {one.test}"
        for one in use.keys
        for key in plan.partition_by
        if (column := columns.name(key.text)) is not None
        and columns.same(key.name or column, one.column)
    )


def drop_unused_columns(found: ClauseResult, prepared: Prepared[Draft]) -> ClauseResult:
    """The result without columns that nobody uses."""
    question, drafted = prepared.question, prepared.demand.draft
    reads = question.use.reads
    used = tuple(output for output in drafted.outputs if reads(output.name)) or drafted.outputs[:1]
    if used == drafted.outputs or not taken().columns:
        return found
    narrow = drafted.narrow(used)
    return execute_prepared(prepared.narrow(demand_of(question, narrow, narrow)))


def execute_prepared(prepared: Prepared[Draft]) -> ClauseResult:
    """The result of a query. Raises one of Spark's `REFUSALS`."""
    (rule,) = prepared.question.rules
    executable = prepared.link(rule)
    prepared = cut(prepared, executable)
    matched, schema, token = match_rows(prepared, executable)
    if token and not executable.aggregates:
        watch_matches(matched, token, origins_of(executable))
    result = project(prepared.question.relation, executable, matched)
    if executable.aggregates or any(map(is_sql, executable.outputs)):
        text = f"{executable.outputs} {executable.aggregates}", schema.json()
        result = prepared.question.runner.analyse(result, text)
    return ClauseResult(result, executable, prepared)


def is_sql(output: Output) -> bool:
    """Whether Spark computes a column of the result: it is more than a read."""
    return not all(isinstance(piece, int) for piece in output.pieces)


def cut(prepared: Prepared[Draft], executable: Executable) -> Prepared[Draft]:
    """The query, its partitions cut into ranges where that is proven. Raises as `find_ranges`."""
    question, preparation = prepared.question, prepared.preparation
    if question.is_stream or not isinstance(preparation, Unsorted):
        check_whole(question, preparation.sorts)
        return prepared
    plan, asked = prepared.demand.draft.plan, question.options.sort == "ranges"
    bounded = asked or plan.within is not None
    ranges = find_ranges(question, plan, executable) if bounded else NO_WINDOW
    rows = prepared.rows if isinstance(ranges, str) else None
    return replace(prepared, preparation=replace(preparation, ranges=ranges), rows=rows)


def price_ranges(found: ClauseResult) -> str:
    """What it is worth to cut partitions into ranges, counted by a job; empty where none can be."""
    prepared = found.prepared
    question, preparation, plan = prepared.question, prepared.preparation, found.drafted.plan
    if question.is_stream or not isinstance(preparation, Unsorted):
        return ""
    ranges = cutting(question, plan, found.executable)
    if isinstance(ranges, str):
        return ""
    columns = found.executable.crossing.columns
    whole, cut = (replace(preparation, ranges=one).dataframe(columns) for one in ("", ranges))
    return priced(whole.count(), [row[1] for row in cut.groupBy(wire.RANGE).count().collect()])


def priced(rows: int, ranges: Sequence[int]) -> str:
    """What is shuffled of so many rows if they are in ranges of so many.

    >>> priced(1000, [30, 20])
    'ranges: 50 of 1,000 rows are in 2 ranges, the largest of 30; whole, one task has all of a key'
    """
    share = f"{sum(ranges):,} of {rows:,} rows are in {len(ranges)} range{'s' * (len(ranges) != 1)}"
    largest = f"the largest of {max(ranges, default=0):,}"
    return f"ranges: {share}, {largest}; whole, one task has all of a key"


def match_rows(
    prepared: Prepared[Draft], executable: Executable
) -> tuple[DataFrame, StructType, str]:
    """The reads of all output rows, and their types; counters see what the workers count.

    The last is the token of the workers: see `spark.errors.second_look`.
    """
    options = prepared.question.options
    sent = prepared.send(executable.crossing.columns)
    schema = schema_of_reads(executable, sent.fields)
    incoming = sent.incoming
    if options.counters is None:  # which count all rows
        incoming = incoming.needing(executable.needed)
    matching = QueryWorker(executable, incoming)
    over_pandas = executable if options.transport == "pandas" else None
    if options.counters is not None:
        matched = options.counters.run_worker(sent, matching, schema, over_pandas)
    else:
        matched = sent.run(lambda _: matching, schema, matching.name, over_pandas)
    return matched, schema, incoming.token


def project(relation: Relation, executable: Executable, matched: DataFrame) -> DataFrame:
    """The scalar SQL around the reads, and the names of the result."""
    if executable.aggregates:
        matched = aggregate_matches(relation.runner, matched, executable)
    items = result_items(executable, range(len(executable.reads)))
    return relation.runner.select_typed(matched, list(map(str, items)))


def origins_of(executable: Executable) -> dict[str, SqlOrigin]:
    """SQL over the reads of measures that Spark computes, with where the user wrote it."""
    items = result_items(executable, range(len(executable.reads)))
    outputs = zip(items, executable.outputs, strict=True)
    return {one.sql: of.origin for one, of in outputs if of.origin is not None and is_sql(of)}


def result_items(executable: Executable, slots: Sequence[int]) -> list[SelectItem]:
    """The columns of a result. slots: of each read the number of the column that holds it."""
    is_marked = executable.reads[-1] is ReadFact.IS_MATCHED
    is_matched = wire.read(slots[-1]) if is_marked else None
    is_plain = all(len(output.pieces) == 1 for output in executable.outputs)
    columns = [] if is_plain else [show_column(column) for column in executable.crossing.columns]

    def held(piece: Piece, *, is_alone: bool) -> Piece:
        """A piece over the columns here; Spark's errors show what the user calls a read."""
        if not isinstance(piece, int):
            return piece
        if is_alone:
            return slots[piece]
        return commented(wire.read(slots[piece]), show_read(executable.reads[piece], columns))

    found = []
    for one in executable.outputs:
        pieces = (held(piece, is_alone=len(one.pieces) == 1) for piece in one.pieces)
        found.append(projection(replace(one, pieces=tuple(pieces)), is_matched))
    return found


def projection(output: Output, is_matched: str | None) -> SelectItem:
    """One item of the select list; on an unmatched row every measure is NULL."""
    text = with_origin(measure_sql(output.pieces), output.origin)
    if output.is_measure and is_matched is not None:
        text = f"CASE WHEN {is_matched} THEN {text} END"
    return SelectItem(text, quoted(output.name))
