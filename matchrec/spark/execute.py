"""A plan and a relation → a DataFrame: before the match, the match, after it.

Builds everything at once, so that every user error surfaces, and runs no job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Generic, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from matchrec.compile.executable import Executable, Output
from matchrec.compile.path import Draft, RowBits, TypedConditions, link_draft, type_conditions
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import Family, ValueType
from matchrec.conditions.typing.typer import IN_UTC
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import no_watermarks, times_without_workers, worker_cannot_sort
from matchrec.errors.run.origins import commented, with_origin
from matchrec.output.measure_reader import SqlPiece, may_accumulate
from matchrec.output.reads import ReadIsMatched
from matchrec.plan.expression import Aggregate
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted
from matchrec.shortcuts import taken
from matchrec.spark import wire
from matchrec.spark.after.aggregates import aggregate_matches
from matchrec.spark.columns import Preparation, Unsorted
from matchrec.spark.errors.second_look import watch_matches
from matchrec.spark.question import Question, Rule
from matchrec.spark.ranges import NO_WINDOW, check_whole, cutting, find_ranges
from matchrec.spark.relation import Relation
from matchrec.spark.session import REFUSALS, quiet_analysis
from matchrec.spark.ties import watch_ties
from matchrec.spark.transport import Sent
from matchrec.spark.types import schema_of_reads, sorts_exactly, value_type
from matchrec.spark.wire import SelectItem
from matchrec.spark.worker.matching import QueryWorker

D = TypeVar("D")

# A question → rows that Spark prepares for it, the typed conditions, and by whom they are sorted.
#
# Spark's sort is the largest part of what a query costs besides the crossing. A worker sorts by
# compiled code; Spark then only shuffles, no window follows, and what conditions read on
# neighbouring rows is the worker's to look up. It can do so where the order and the equality of the
# types are reproduced exactly, and where nothing is needed of several rows that only Spark can
# compute: the keys, the forms of conditions and their types tell, before anything is linked.

BY_WORKERS = "the workers: Spark only brings the rows of a partition together"


@dataclass(frozen=True)
class Demand(Generic[D]):
    """What a question wants of Spark, once its rules are drafted.

    drafts: by the names of rules. draft: for all of them. columns: whose type the link needs, or
    that cross whatever is linked. tests: SQL over one row that must hold of a row that is sent.
    """

    drafts_made: D
    drafts: Mapping[str, Draft]
    draft: Draft
    columns: tuple[RowColumn, ...]
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prepared(Generic[D]):
    """A demand, and what prepares rows for it.

    fields: of the demand's columns. rows: have these first; None where others were prepared.
    """

    question: Question
    demand: Demand[D]
    preparation: Preparation
    fields: Mapping[RowColumn, StructField]
    rows: DataFrame | None
    conditions: Mapping[str, TypedConditions] = field(default_factory=dict)

    @cached_property
    def types(self) -> dict[RowColumn, ValueType]:
        return {column: value_type(one.dataType) for column, one in self.fields.items()}

    def link(self, rule: Rule, crossing: dict[RowColumn, int] | None = None) -> Executable:
        """The executable of one rule. crossing: as of `compile.path.link_draft`."""
        options, drafted = self.question.options, self.demand.drafts[rule.name]
        found = link_draft(drafted, self.conditions[rule.name], options.algorithm, crossing)
        if self.question.is_stream:
            from matchrec.spark.streaming.prepare import check_executable

            check_executable(found)
        return found if options.max_steps is None else found.limit(options.max_steps)

    def send(self, columns: tuple[RowColumn, ...]) -> Sent:
        """The rows with these columns. Raises as `Preparation.send`."""
        rows = self.rows if columns == self.demand.columns else None
        sent = self.preparation.send(columns, self.fields, rows)
        relation, drafts = self.question.relation, self.demand.drafts.values()
        token = self.question.backend.watch_rows(sent.rows, relation, drafts)
        return replace(sent, incoming=replace(sent.incoming, token=token))

    def send_watched(self, columns: tuple[RowColumn, ...]) -> Sent:
        """The rows with these columns, whose workers count ties. Raises as `Preparation.send`."""
        sent = self.send(columns)
        if self.question.is_stream or (sorting := sent.incoming.sorting) is None:
            return sent
        watch = watch_ties(self.question.runner.spark, self.preparation.plan, sorting)
        incoming = replace(sent.incoming, sorting=replace(sorting, watch=watch))
        return replace(sent, incoming=incoming)


ScopeOf = Callable[[MatchPlan], RowScope]
Drafting = Callable[[ScopeOf], Demand[D]]


def prepare(question: Question, demand: Drafting[D]) -> Prepared[D]:
    """What prepares the rows that a question is about, and sorts them. demand: makes the drafts."""
    if question.is_stream:
        return prepare_stream(question, demand)
    if isinstance(found := prepare_unsorted(question, demand), Prepared):
        return found
    if any(one.version is not None and not one.version.has_all for one in question.rules):
        raise times_without_workers(reason=found.message)
    if question.options.sort in ("worker", "ranges"):
        raise found
    return prepare_sorted(question, demand(lambda _: RowScope.NEIGHBOURS), found.message)


def prepare_stream(question: Question, demand: Drafting[D]) -> Prepared[D]:
    """What prepares events as they come. Raises for rules whose rows cannot."""
    from matchrec.spark.streaming.prepare import EventPreparation, check_options, check_plan

    if not question.backend.has_watermarks:
        raise no_watermarks()
    check_options(question.options)
    for rule in question.rules:
        with rule.naming():
            check_plan(rule.plan)
    # a search of contiguous matches reads neighbours itself
    wanted = demand(lambda plan: RowScope.NEIGHBOURS if plan.selects else RowScope.ROW)
    events = EventPreparation(question.relation, wanted.draft)
    return with_conditions(with_fields(question, wanted, events))


def prepare_unsorted(question: Question, demand: Drafting[D]) -> Prepared[D] | MatchRecognizeError:
    """What prepares rows that the workers sort; or why they do not."""
    if question.options.sort == "spark":
        return worker_cannot_sort(reason="it was asked to")
    if question.options.transport == "pandas":
        return worker_cannot_sort(reason="only Spark sorts rows that cross in pandas")
    wanted = demand(lambda _: RowScope.SORTED if taken().neighbours else RowScope.ROW)
    if reason := next(unsortable(wanted, question), None):
        return worker_cannot_sort(reason=reason)
    unsorted = Unsorted(question.relation, wanted.draft, wanted.tests, BY_WORKERS)
    prepared = with_fields(question, wanted, unsorted)
    try:
        return with_conditions(prepared)
    except MatchRecognizeError as refused:  # by its types; Spark may know what to do with them
        return refused


def prepare_sorted(question: Question, wanted: Demand[D], reason: str = "") -> Prepared[D]:
    by_spark = Preparation(question.relation, wanted.draft, wanted.tests, f"Spark: {reason}")
    return with_conditions(with_fields(question, wanted, by_spark))


def with_fields(question: Question, wanted: Demand[D], preparation: Preparation) -> Prepared[D]:
    """The rows with all columns, analysed once. Raises for the rule whose text Spark refuses."""
    try:
        query = preparation.query(wanted.columns)
        rows = preparation.rows_of(query, wanted.columns)
        question.runner.analyse(rows, query)
        known = question.runner.fields(rows, str(wanted.columns))
        fields = preparation.fields(known, wanted.columns)
    except REFUSALS:
        for rule in question.rules:
            drafted = wanted.drafts[rule.name]
            with question.asking(rule):
                single = replace(preparation, drafted=drafted, keys=())
                question.runner.analyse(single.dataframe(drafted.columns()))
        raise
    return Prepared(question, wanted, preparation, fields, rows)


def with_conditions(prepared: Prepared[D]) -> Prepared[D]:
    """What is prepared, with the typed conditions of all rules. Raises MatchRecognizeError."""
    question, found = prepared.question, {}
    bits = RowBits.number(prepared.demand.draft.row_conditions)
    for rule in question.rules:
        drafted = prepared.demand.drafts[rule.name]
        settings = question.settings if depends_on_settings(drafted) else IN_UTC
        with question.asking(rule):
            found[rule.name] = type_conditions(
                drafted, prepared.types, ansi=question.ansi, session=settings, bits=bits
            )
            question.backend.check_types(drafted.written, question.relation)
    return replace(prepared, conditions=found)


def depends_on_settings(drafted: Draft) -> bool:
    """Whether anything is computed here that depends on settings: a session is asked as needed."""
    if any(one.during is not None or one.nearby is not None for one in drafted.conditions):
        return True
    measured = (one for measure in drafted.plan.measures for one in measure.value.references)
    return any(isinstance(one, Aggregate) and may_accumulate(drafted.plan, one) for one in measured)


def unsortable(wanted: Demand[D], question: Question) -> Iterator[str]:
    """Why only Spark sorts: what it computes of several rows, what only it compares."""
    yield from filter(None, map(attrgetter("reason_for_spark_sort"), wanted.drafts.values()))
    sorted_by = [one.text for one in wanted.draft.plan.sorted_by]
    for text, found in zip(sorted_by, question.relation.fields(sorted_by), strict=True):
        if not sorts_exactly(found.dataType):
            yield f"only Spark can sort by {text}, which is {found.dataType.simpleString()}"


# What is prepared → the DataFrame of the result.


@dataclass(frozen=True)
class ClauseResult:
    """The DataFrame of a clause, and what it was made from, which explains it."""

    dataframe: DataFrame
    executable: Executable
    prepared: Prepared[Draft]
    built: str = ""  # why each match is built, where somebody aggregates all of them

    @property
    def drafted(self) -> Draft:
        """The plan as it runs, and as it was written."""
        return self.prepared.demand.draft


def execute(question: Question) -> ClauseResult:
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
    tests = key_tests(drafted.plan, question)
    return Demand(asked, {rule.name: drafted}, drafted, drafted.columns(), tests)


def key_tests(plan: MatchPlan, question: Question) -> tuple[str, ...]:
    """Tests of partition columns that every row of the result passes, as SQL over one row.

    None of a floating-point number: rows of one partition may have different NaNs, of which some
    sessions say that one is less than all numbers, and the other greater.
    """
    if not (question.use.keys and taken().keys):
        return ()
    columns, type_of = question.columns, question.relation.type_of
    return tuple(
        f"{key.text} {one.test}"
        for one in question.use.keys
        for key in plan.partition_by
        if (column := columns.name(key.text)) is not None
        and columns.same(key.name or column, one.column)
        and value_type(type_of(key.text)).family is not Family.FLOATING
    )


def drop_unused_columns(found: ClauseResult, prepared: Prepared[Draft]) -> ClauseResult:
    question, drafted, use = prepared.question, prepared.demand.draft, prepared.question.use
    if (use.columns is None and not use.unread) or not taken().columns:
        return found
    used = tuple(one for one in drafted.outputs if use.reads(one.name)) or drafted.outputs[:1]
    if used == drafted.outputs:
        return found
    narrow = drafted.narrow(used)
    demand = demand_of(question, narrow, narrow)
    preparation = replace(prepared.preparation, drafted=narrow)
    return execute_prepared(replace(prepared, demand=demand, preparation=preparation, rows=None))


def execute_prepared(prepared: Prepared[Draft]) -> ClauseResult:
    """The result of a query. Raises one of Spark's `REFUSALS`."""
    (rule,) = prepared.question.rules
    executable = prepared.link(rule)
    prepared = cut(prepared, executable)
    matched, schema, token = match_rows(prepared, executable)
    if token and not executable.aggregates:
        items = result_items(executable, range(len(executable.reads)))
        outputs = zip(items, executable.outputs, strict=True)
        runner = prepared.question.runner
        of_spark = ((one.sql, of.origin) for one, of in outputs if is_sql(of))
        watch_matches(runner, matched, token, {sql: at for sql, at in of_spark if at is not None})
    result = project(prepared.question.relation, executable, matched, token)
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
    if isinstance(ranges := cutting(question, plan, found.executable), str):
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
    """The reads of all output rows, their types, and the token of the workers."""
    options = prepared.question.options
    sent = prepared.send_watched(executable.crossing.columns)
    schema = schema_of_reads(executable, sent.fields)
    in_pandas = executable if options.transport == "pandas" else None
    name = f"match_recognize[PATTERN ({executable.pattern})]"
    worker = partial(QueryWorker, executable, sent.incoming)
    if options.counters is None:
        matched = sent.run(lambda _: worker(), schema, name, in_pandas)
    else:
        from matchrec.spark.counters import with_counters

        matched = sent.run(worker, with_counters(schema), name, in_pandas)
        matched = options.counters.observe(matched, selects=executable.task.selects)
    return matched, schema, sent.incoming.token


def project(
    relation: Relation, executable: Executable, matched: DataFrame, token: str = ""
) -> DataFrame:
    """The scalar SQL around the reads, and the names of the result. token: of the workers."""
    if executable.aggregates:
        matched = aggregate_matches(relation.runner, matched, executable, token)
    elif wire.is_result(executable):
        return matched
    items = result_items(executable, range(len(executable.reads)))
    return relation.runner.select_typed(matched, list(map(str, items)))


def result_items(executable: Executable, slots: Sequence[int]) -> list[SelectItem]:
    """The columns of a result. slots: of each read the number of the column that holds it."""
    shows_unmatched = isinstance(executable.reads[-1], ReadIsMatched)
    is_matched = wire.read(slots[-1]) if shows_unmatched else None
    is_plain = all(len(output.pieces) == 1 for output in executable.outputs)
    columns = [] if is_plain else [show_column(column) for column in executable.crossing.columns]

    def sql(piece: SqlPiece, *, is_alone: bool) -> str:
        """A piece over the columns here; Spark's errors show what the user calls a read."""
        if not isinstance(piece, int):
            return piece if isinstance(piece, str) else wire.aggregate(piece.index)
        read = wire.read(slots[piece])
        return read if is_alone else commented(read, executable.reads[piece].show(columns))

    def item(output: Output) -> SelectItem:
        """One item of the select list; on an unmatched row every measure is NULL."""
        pieces = (sql(piece, is_alone=len(output.pieces) == 1) for piece in output.pieces)
        text = with_origin("".join(pieces), output.origin)
        if output.is_measure and is_matched is not None:
            text = f"CASE WHEN {is_matched} THEN {text} END"
        return SelectItem(text, quoted(output.name))

    return list(map(item, executable.outputs))
