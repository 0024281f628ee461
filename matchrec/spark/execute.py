"""Execute a question: prepare its rows in Spark, match them in the workers, project the result.

`execute` builds the whole DataFrame of a clause at once and runs no job, so that every mistake in
the query is reported when the user writes it. `api.clause.Clause.run` calls it with the plan of a
clause, and `api.evaluate` puts the result in the place of the clause in the query around it.

1. `prepare` drafts the rules (`Question.draft`, which calls `compile.path.draft_query`), chooses
   who sorts the rows, lets Spark analyse their columns, and types the conditions.
2. `divide_outputs` finds the columns that nobody uses. They are checked and dropped.
3. `PreparedInput.link` links the draft of each rule to an executable.
4. `cut_partitions` cuts large partitions into ranges if that is possible and pays.
5. `match_rows` sends the rows to the workers, which match them.
6. `project` lets Spark compute the columns of the result over what the workers read.

Three watchers say what went wrong once a job runs: `watch_rows` and `watch_matches` say which
expression failed, and `watch_ties` says which rows have no order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Generic, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from matchrec.compile.executable import WORKERS_SORT, Executable, ResultColumn, Sorter
from matchrec.compile.path import Draft, RowBits, TypedConditions, link_draft, type_conditions
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import Family, ValueType
from matchrec.conditions.typing.typer import DEFAULT_SETTINGS
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import rule_versions_need_workers, worker_cannot_sort_rows
from matchrec.errors.machine import streams_not_supported
from matchrec.errors.run.origins import SqlOrigin, mark_origin, with_comment
from matchrec.output.measure_reader import SqlPiece, may_accumulate
from matchrec.output.reads import ReadIsMatched
from matchrec.output.schema import OutputColumn
from matchrec.plan.expression import Aggregate
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_name
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.after.aggregates import aggregate_matches
from matchrec.spark.columns import Preparation, UnsortedPreparation
from matchrec.spark.errors.second_look import watch_matches
from matchrec.spark.question import Question, Rule
from matchrec.spark.ranges import (
    NO_WINDOW,
    Ranges,
    WholePartitions,
    check_may_stay_whole,
    find_ranges,
    plan_ranges,
)
from matchrec.spark.relation import Relation
from matchrec.spark.session import QUERY_ERRORS, quiet_analysis
from matchrec.spark.ties import watch_ties
from matchrec.spark.transport import SentRows
from matchrec.spark.types import build_read_schema, sorts_exactly, to_value_type
from matchrec.worker import wire
from matchrec.worker.matching import QueryWorker
from matchrec.worker.wire import SelectItem

# What a caller keeps of the drafts it makes: a Draft, a CoverageDraft or SharedDrafts.
CallerDraft = TypeVar("CallerDraft")

# Returns who reads neighbouring rows for the conditions of a plan.
ScopeOf = Callable[[MatchPlan], RowScope]


@dataclass(frozen=True)
class Demand(Generic[CallerDraft]):
    """What a question needs from Spark, once its rules are drafted."""

    # What the caller keeps of the drafts. Nothing in this module reads it.
    caller_draft: CallerDraft
    # The draft of each rule, by its name.
    rule_drafts: Mapping[str, Draft]
    # What Spark computes for all rules together.
    joint_draft: Draft
    # The columns whose types are needed to link the drafts, or that are sent in any case.
    columns: tuple[RowColumn, ...]
    # Tests as SQL over one row. Only rows that pass all of them are sent.
    row_filters: tuple[str, ...] = ()


# Drafts the rules of a question, given who reads neighbouring rows for their conditions.
MakeDemand = Callable[[ScopeOf], Demand[CallerDraft]]


@dataclass(frozen=True)
class PreparedInput(Generic[CallerDraft]):
    """A demand, and the query in Spark that computes and sends its rows."""

    question: Question
    demand: Demand[CallerDraft]
    # Computes the rows of the demand in Spark.
    preparation: Preparation
    # The fields of the columns of the demand.
    fields: Mapping[RowColumn, StructField]
    # The rows with the columns of the demand first; None if other rows were prepared since.
    rows: DataFrame | None
    # The typed conditions of each rule, by its name.
    conditions: Mapping[str, TypedConditions] = field(default_factory=dict)

    @cached_property
    def types(self) -> dict[RowColumn, ValueType]:
        """Return the types of the columns of the demand."""
        return {
            column: to_value_type(struct_field.dataType)
            for column, struct_field in self.fields.items()
        }

    def link(self, rule: Rule, crossing: dict[RowColumn, int] | None = None) -> Executable:
        """Return the executable of one rule.

        Args:
            rule: a rule of the question.
            crossing: the columns that are sent for other rules, see `compile.path.link_draft`.

        Raises:
            MatchRecognizeError: the options or a stream do not allow this rule.
        """
        options = self.question.options
        draft = self.demand.rule_drafts[rule.name]
        executable = link_draft(draft, self.conditions[rule.name], options.algorithm, crossing)
        if self.question.is_stream:
            from matchrec.spark.streaming.prepare import check_executable

            check_executable(executable)
        if options.max_steps is not None:
            executable = executable.limit(options.max_steps)
        return executable

    def send(self, columns: tuple[RowColumn, ...]) -> SentRows:
        """Return the rows with these columns. Raises as `Preparation.send`."""
        rows = self.rows if columns == self.demand.columns else None
        sent = self.preparation.send(columns, self.fields, rows)
        drafts = self.demand.rule_drafts.values()
        token = self.question.backend.watch_rows(sent.rows, self.question.relation, drafts)
        return replace(sent, incoming=replace(sent.incoming, token=token))

    def send_watched(self, columns: tuple[RowColumn, ...]) -> SentRows:
        """Return the rows with these columns, and let the workers that sort them count ties.

        Raises as `Preparation.send`.
        """
        sent = self.send(columns)
        sorting = sent.incoming.sorting
        if self.question.is_stream or sorting is None:
            return sent
        watch = watch_ties(self.question.runner.spark, self.preparation.plan, sorting)
        incoming = replace(sent.incoming, sorting=replace(sorting, watch=watch))
        return replace(sent, incoming=incoming)


def prepare(question: Question, make_demand: MakeDemand[CallerDraft]) -> PreparedInput[CallerDraft]:
    """Prepare the rows of a question, and decide who sorts them.

    The workers compute conditions that read neighbouring rows, whoever sorts the rows. If they
    cannot, Spark computes these conditions, over the window by which it sorts the rows.

    Args:
        question: the rules and their relation.
        make_demand: drafts the rules. It is called a second time if the workers cannot compute what
            reads neighbouring rows.

    Raises:
        MatchRecognizeError: a rule is wrong, or the workers must sort and cannot.
    """
    if question.is_stream:
        return prepare_stream(question, make_demand)
    demand = make_demand(
        lambda _: RowScope.WORKER if current_shortcuts().neighbours else RowScope.SEARCH
    )
    reason = find_reason_for_spark_values(question, demand)
    if reason is None:
        untyped = analyse_demand(question, demand, choose_sorter(question, demand))
        try:
            return type_rules(untyped)
        except MatchRecognizeError as error:
            # The workers cannot compute with these types, but perhaps Spark can. With versions of
            # rules it may not, and `choose_spark` says so.
            if question.workers_must_sort and not question.has_versions:
                raise
            reason = error.message
    demand = make_demand(lambda _: RowScope.SPARK)
    return type_rules(analyse_demand(question, demand, choose_spark(question, reason)))


def prepare_stream(
    question: Question, make_demand: MakeDemand[CallerDraft]
) -> PreparedInput[CallerDraft]:
    """Prepare the events of a stream.

    Raises:
        MatchRecognizeError: a rule cannot run over a stream, or the session has no watermarks.
    """
    from matchrec.spark.streaming.prepare import EventPreparation, check_options, check_plan

    if not question.backend.has_watermarks:
        raise streams_not_supported()
    check_options(question.options)
    for rule in question.rules:
        with rule.naming():
            check_plan(rule.plan)
    # If matches are contiguous, the search reads the neighbouring rows. With event selection nobody
    # can: `streaming.prepare.check_one_row` rejects the columns of several rows that SPARK makes.
    demand = make_demand(lambda plan: RowScope.SPARK if plan.selects else RowScope.SEARCH)
    preparation = EventPreparation(question.relation, demand.joint_draft)
    return type_rules(analyse_columns(question, demand, preparation))


# Who sorts the rows of each partition.
#
# Besides sending the rows, Spark's sort is the largest cost of a query. A worker sorts in compiled
# code, so that Spark only shuffles the rows and computes no window. Two things must hold:
#
# - The worker orders and compares values of the types of keys and order exactly as Spark does.
# - No value of several rows is needed that only Spark can compute.
#
# The keys, the form of the conditions and their types decide this, before anything is linked.


def choose_sorter(question: Question, demand: Demand[CallerDraft]) -> Sorter:
    """Choose who sorts rows whose neighbours the workers read: the workers if they can, or Spark.

    Args:
        question: the rules and their relation, which is no stream.
        demand: what the rules need from Spark.

    Raises:
        MatchRecognizeError: the workers must sort and cannot.
    """
    if question.options.sort == "spark":
        return choose_spark(question, "it was asked to")
    sorted_by = [expression.text for expression in demand.joint_draft.plan.sorted_by]
    for text, sort_field in zip(sorted_by, question.relation.fields(sorted_by), strict=True):
        if not sorts_exactly(sort_field.dataType):
            type_name = sort_field.dataType.simpleString()
            return choose_spark(question, f"only Spark can sort by {text}, which is {type_name}")
    return WORKERS_SORT


def choose_spark(question: Question, reason: str) -> Sorter:
    """Choose Spark to sort the rows, for a reason.

    Raises:
        MatchRecognizeUnsupportedError: the workers must sort, because the user asked for it or
            because rules are valid for some time only.
    """
    if question.has_versions:
        raise rule_versions_need_workers(reason=reason)
    if question.workers_must_sort:
        raise worker_cannot_sort_rows(reason=reason)
    return Sorter(is_worker=False, reason=reason)


def find_reason_for_spark_values(question: Question, demand: Demand[CallerDraft]) -> str | None:
    """Return why Spark must compute conditions on neighbouring rows.

    None if nothing but the types of columns can prevent the workers from computing them. Spark must
    compute them if they have values that the workers do not know, or if rows are sent through
    pandas, which would alter some columns that only these conditions read.
    """
    if question.options.transport == "pandas":
        return "only Spark sorts rows that cross in pandas"
    reasons = (draft.reason_for_spark_sort for draft in demand.rule_drafts.values())
    return next((reason for reason in reasons if reason is not None), None)


def analyse_demand(
    question: Question, demand: Demand[CallerDraft], sorter: Sorter
) -> PreparedInput[CallerDraft]:
    """Let Spark analyse the rows of a demand, prepared for the workers or for Spark to sort them.

    Raises:
        MatchRecognizeError: Spark rejects the text of a rule, which the error names.
    """
    preparation_class = UnsortedPreparation if sorter.is_worker else Preparation
    preparation = preparation_class(
        relation=question.relation,
        draft=demand.joint_draft,
        row_filters=demand.row_filters,
        sorter=sorter,
    )
    return analyse_columns(question, demand, preparation)


def analyse_columns(
    question: Question, demand: Demand[CallerDraft], preparation: Preparation
) -> PreparedInput[CallerDraft]:
    """Let Spark analyse the rows with all columns of a demand, once for all rules.

    Raises:
        MatchRecognizeError: Spark rejects the text of a rule, which the error names.
    """
    try:
        query = preparation.build_query(demand.columns)
        rows = preparation.run_query(query, demand.columns)
        question.runner.analyse(rows, query)
        row_fields = question.runner.fields(rows, str(demand.columns))
        fields = preparation.map_fields(row_fields, demand.columns)
    except QUERY_ERRORS:
        # Analyse each rule by itself to find the one that is wrong.
        for rule in question.rules:
            draft = demand.rule_drafts[rule.name]
            with question.locating_errors(rule):
                single = replace(preparation, draft=draft, row_filters=())
                question.runner.analyse(single.dataframe(draft.columns()))
        raise
    return PreparedInput(question, demand, preparation, fields, rows)


def type_rules(prepared: PreparedInput[CallerDraft]) -> PreparedInput[CallerDraft]:
    """Return the prepared rows with the typed conditions of all rules.

    Raises:
        MatchRecognizeError: a condition is not supported for its types.
    """
    question = prepared.question
    bits = RowBits.number(prepared.demand.joint_draft.row_conditions)
    conditions = {}
    for rule in question.rules:
        draft = prepared.demand.rule_drafts[rule.name]
        settings = question.settings if depends_on_settings(draft) else DEFAULT_SETTINGS
        with question.locating_errors(rule):
            conditions[rule.name] = type_conditions(
                draft, prepared.types, ansi=question.ansi, session=settings, bits=bits
            )
            question.backend.check_types(draft.written, question.relation)
    return replace(prepared, conditions=conditions)


def depends_on_settings(draft: Draft) -> bool:
    """Return whether the workers compute anything that depends on settings of the session.

    Other queries do not read the settings, because that takes a call to the session.
    """
    for condition in draft.conditions:
        if condition.during is not None or condition.nearby is not None:
            return True
    return any(
        isinstance(reference, Aggregate) and may_accumulate(draft.plan, reference)
        for measure in draft.plan.measures
        for reference in measure.value.references
    )


# Matching: from prepared rows to the DataFrame of the result.


@dataclass(frozen=True)
class ClauseResult:
    """The DataFrame of a clause, and how it was made, which `explain` shows."""

    dataframe: DataFrame
    executable: Executable
    prepared: PreparedInput[Draft]
    # Why every match is built although only aggregates over all matches are needed. Empty if no
    # match is built, or if matches are needed.
    built: str = ""

    @property
    def draft(self) -> Draft:
        """Return the draft of the clause, which has its plan as it runs and as it was written."""
        return self.prepared.demand.joint_draft


def execute(question: Question) -> ClauseResult:
    """Return the result of a query.

    Raises:
        MatchRecognizeError: the query is wrong or not supported.
    """
    (rule,) = question.rules

    def make_demand(scope_of: ScopeOf) -> Demand[Draft]:
        """Return what the rule needs from the input."""
        draft = question.draft(rule, scope_of(rule.plan))
        return demand_single_rule(question, draft, draft)

    with quiet_analysis(), question.locating_errors(rule):
        prepared = prepare(question, make_demand)
        used, unused = divide_outputs(prepared)
        if unused:
            check_outputs(narrow(prepared, unused))
            prepared = narrow(prepared, used)
        return execute_prepared(prepared)


def demand_single_rule(
    question: Question, caller_draft: CallerDraft, draft: Draft
) -> Demand[CallerDraft]:
    """Return what a question with one rule needs from Spark.

    Args:
        question: the question.
        caller_draft: see `Demand`.
        draft: the draft of the rule.
    """
    (rule,) = question.rules
    return Demand(
        caller_draft=caller_draft,
        rule_drafts={rule.name: draft},
        joint_draft=draft,
        columns=draft.columns(),
        row_filters=find_key_filters(draft.plan, question),
    )


def find_key_filters(plan: MatchPlan, question: Question) -> tuple[str, ...]:
    """Return tests on partition columns, as SQL, that the query makes on the result anyway.

    Input rows that fail them need not be sent. Floating-point columns have no tests, because rows
    of one partition may have different NaNs: some sessions order one NaN before all numbers, and
    another one after them.
    """
    if not question.use.keys or not current_shortcuts().keys:
        return ()
    columns = question.columns
    filters = []
    for key_test in question.use.keys:
        for key in plan.partition_by:
            column = columns.find_by_text(key.text)
            if column is None or not columns.are_same(key.name or column, key_test.column):
                continue
            key_type = to_value_type(question.relation.type_of(key.text))
            if key_type.family is not Family.FLOATING:
                filters.append(f"{key.text} {key_test.test}")
    return tuple(filters)


def divide_outputs(
    prepared: PreparedInput[Draft],
) -> tuple[tuple[OutputColumn, ...], tuple[OutputColumn, ...]]:
    """Return the output columns that the query around the clause uses, and its other columns."""
    use = prepared.question.use
    outputs = prepared.demand.joint_draft.outputs
    if not current_shortcuts().columns:
        return outputs, ()
    used = [output for output in outputs if use.reads(output.name)]
    if not used:
        used = [outputs[0]]  # rows need a column to be counted
    unused = [output for output in outputs if output not in used]
    return tuple(used), tuple(unused)


def narrow(
    prepared: PreparedInput[Draft], outputs: tuple[OutputColumn, ...]
) -> PreparedInput[Draft]:
    """Return the prepared rows of a query for only some of its output columns."""
    draft = prepared.demand.joint_draft.narrow(outputs)
    demand = demand_single_rule(prepared.question, draft, draft)
    preparation = replace(prepared.preparation, draft=draft)
    return replace(prepared, demand=demand, preparation=preparation, rows=None)


def check_outputs(prepared: PreparedInput[Draft]) -> None:
    """Check output columns that nobody uses, over no rows, so that their errors are raised, too.

    Raises:
        MatchRecognizeError: matchrec rejects a column.

    Raises one of Spark's `QUERY_ERRORS` if Spark rejects it.
    """
    question = prepared.question
    (rule,) = question.rules
    executable = prepared.link(rule)
    if not computes_in_spark(executable):
        return
    columns = executable.crossing.columns
    fields = prepared.preparation.find_fields(columns, prepared.fields)
    schema = build_read_schema(executable, fields)
    no_rows = question.runner.spark.createDataFrame([], schema)
    analyse_result(question, executable, project(question.relation, executable, no_rows), schema)


def execute_prepared(prepared: PreparedInput[Draft]) -> ClauseResult:
    """Return the result of a query whose rows are prepared.

    Raises one of Spark's `QUERY_ERRORS`.
    """
    question = prepared.question
    (rule,) = question.rules
    executable = prepared.link(rule)
    prepared = cut_partitions(prepared, executable)
    matches = match_rows(prepared, executable)
    if matches.token and not executable.aggregates:
        origins = find_sql_origins(executable)
        watch_matches(question.runner, matches.rows, matches.token, origins)
    dataframe = project(question.relation, executable, matches.rows, matches.token)
    if computes_in_spark(executable):
        dataframe = analyse_result(question, executable, dataframe, matches.schema)
    return ClauseResult(dataframe, executable, prepared)


def analyse_result(
    question: Question, executable: Executable, result: DataFrame, schema: StructType
) -> DataFrame:
    """Let Spark analyse a result whose columns it computes over reads, and return the result.

    Args:
        question: the question.
        executable: the query.
        result: the result.
        schema: the schema of the reads.

    Raises one of Spark's `QUERY_ERRORS`.
    """
    cache_key = (f"{executable.outputs} {executable.aggregates}", schema.json())
    return question.runner.analyse(result, cache_key)


def computes_in_spark(executable: Executable) -> bool:
    """Return whether Spark computes some column of the result over what the workers read."""
    return bool(executable.aggregates) or any(is_computed(output) for output in executable.outputs)


def is_computed(output: ResultColumn) -> bool:
    """Return whether Spark computes an output column, which does not consist of reads alone."""
    return not all(isinstance(piece, int) for piece in output.pieces)


def find_sql_origins(executable: Executable) -> dict[str, SqlOrigin]:
    """Return where the user wrote the SQL of each output column that Spark computes."""
    items = build_result_items(executable, range(len(executable.reads)))
    return {
        item.sql: output.origin
        for item, output in zip(items, executable.outputs, strict=True)
        if output.origin is not None and is_computed(output)
    }


def cut_partitions(prepared: PreparedInput[Draft], executable: Executable) -> PreparedInput[Draft]:
    """Return the prepared rows, with partitions cut into ranges if that is possible and pays.

    Raises as `find_ranges`.
    """
    question = prepared.question
    preparation = prepared.preparation
    if question.is_stream or not isinstance(preparation, UnsortedPreparation):
        check_may_stay_whole(question, str(preparation.sorter or ""))
        return prepared
    plan = prepared.demand.joint_draft.plan
    ranges: Ranges | WholePartitions = WholePartitions(NO_WINDOW)
    if question.options.sort == "ranges" or plan.within is not None:
        ranges = find_ranges(question, plan, executable)
    rows = prepared.rows if isinstance(ranges, WholePartitions) else None
    return replace(prepared, preparation=replace(preparation, ranges=ranges), rows=rows)


def price_ranges(result: ClauseResult) -> str:
    """Describe what cutting partitions into ranges would save; "" if they cannot be cut.

    It runs a job that counts rows.
    """
    question = result.prepared.question
    preparation = result.prepared.preparation
    if question.is_stream or not isinstance(preparation, UnsortedPreparation):
        return ""
    ranges = plan_ranges(question, result.draft.plan, result.executable)
    if isinstance(ranges, WholePartitions):
        return ""
    columns = result.executable.crossing.columns
    all_rows = replace(preparation, ranges=WholePartitions()).dataframe(columns)
    cut_rows = replace(preparation, ranges=ranges).dataframe(columns)
    range_sizes = [row[1] for row in cut_rows.groupBy(wire.RANGE).count().collect()]
    return show_range_sizes(all_rows.count(), range_sizes)


def show_range_sizes(rows: int, range_sizes: Sequence[int]) -> str:
    """Describe how many rows are shuffled if partitions are cut into ranges of these sizes.

    >>> show_range_sizes(1000, [30, 20])
    'ranges: 50 of 1,000 rows are in 2 ranges, the largest of 30; whole, one task has all of a key'
    """
    plural = "" if len(range_sizes) == 1 else "s"
    share = f"{sum(range_sizes):,} of {rows:,} rows are in {len(range_sizes)} range{plural}"
    largest = f"the largest of {max(range_sizes, default=0):,}"
    return f"ranges: {share}, {largest}; whole, one task has all of a key"


@dataclass(frozen=True)
class MatchedRows:
    """What the workers return: one row for each output row."""

    rows: DataFrame
    schema: StructType
    # Names the run of the workers, see `spark.errors.second_look`; empty if it is not watched.
    token: str


def match_rows(prepared: PreparedInput[Draft], executable: Executable) -> MatchedRows:
    """Send the prepared rows to the workers, which match them and return their reads."""
    options = prepared.question.options
    sent = prepared.send_watched(executable.crossing.columns)
    schema = build_read_schema(executable, sent.fields)
    pandas_executable = executable if options.transport == "pandas" else None
    name = f"match_recognize[PATTERN ({executable.pattern})]"
    make_worker = partial(QueryWorker, executable, sent.incoming)
    if options.counters is None:
        rows = sent.run(lambda _: make_worker(), schema, name, pandas_executable)
    else:
        from matchrec.spark.counters import with_counters

        rows = sent.run(make_worker, with_counters(schema), name, pandas_executable)
        rows = options.counters.observe(rows, selects=executable.task.selects)
    return MatchedRows(rows, schema, sent.incoming.token)


def project(
    relation: Relation, executable: Executable, matched: DataFrame, token: str = ""
) -> DataFrame:
    """Return the result: compute its columns over what the workers read.

    Args:
        relation: the input of the query.
        executable: the query.
        matched: the reads of all output rows.
        token: see `MatchedRows`.
    """
    if executable.aggregates:
        matched = aggregate_matches(relation.runner, matched, executable, token)
    elif wire.returns_result(executable):
        return matched
    items = build_result_items(executable, range(len(executable.reads)))
    return relation.runner.select_typed(matched, [str(item) for item in items])


def build_result_items(executable: Executable, slots: Sequence[int]) -> list[SelectItem]:
    """Return the select list of the result.

    Args:
        executable: the query.
        slots: for each read the number of the column that holds it.
    """
    return ResultItemBuilder(executable, slots).build_items()


@dataclass(frozen=True)
class ResultItemBuilder:
    """Builds the select list of a result."""

    executable: Executable
    # For each read the number of the column that holds it.
    slots: Sequence[int]

    def build_items(self) -> list[SelectItem]:
        """Return the select list."""
        return [self.build_item(output) for output in self.executable.outputs]

    def build_item(self, output: ResultColumn) -> SelectItem:
        """Return an output column as an item of the select list.

        On an unmatched row, every measure is NULL.
        """
        is_alone = len(output.pieces) == 1
        pieces = [self.write_piece(piece, is_alone=is_alone) for piece in output.pieces]
        text = mark_origin("".join(pieces), output.origin)
        if output.is_measure and isinstance(self.executable.reads[-1], ReadIsMatched):
            text = f"CASE WHEN {wire.read(self.slots[-1])} THEN {text} END"
        return SelectItem(text, quote_name(output.name))

    def write_piece(self, piece: SqlPiece, *, is_alone: bool) -> str:
        """Return a piece of an output column as SQL.

        A comment shows what the user calls a read, because Spark's errors print the SQL.
        """
        if isinstance(piece, str):
            return piece
        if not isinstance(piece, int):
            return wire.aggregate(piece.index)
        read_column = wire.read(self.slots[piece])
        if is_alone:
            return read_column
        return with_comment(read_column, self.executable.reads[piece].show(self.column_texts))

    @cached_property
    def column_texts(self) -> list[str]:
        """Return the columns that are sent, as the user wrote them."""
        return [show_column(column) for column in self.executable.crossing.columns]
