"""Build the result of a clause: prepare its rows in Spark, match them, and select its columns.

`build_clause_result` builds the whole DataFrame of a clause at once and runs no job. So every
mistake in the query is reported when the user makes the DataFrame, not when it runs.
`api.clause.Clause.evaluate` calls it, and `api.evaluate` replaces the clause in the query around it
by the result.

`build_clause_result` takes these steps:

1. `compile_request` compiles the plan to a `CompiledQuery`, and prepares the rows in Spark.
2. `check_unused_outputs` lets Spark check the output columns that nobody uses.
3. `choose_ranges` chooses how large partitions are cut into ranges, if that is possible and pays.
4. `build_compiled_result` builds the DataFrame. First, `build_output_rows` builds the DataFrame of
   the output rows of the workers, which hold reads. Then `project_result` selects the columns of
   the result, which Spark computes over the reads.

If a job fails, the marks that `Backend.mark_rows_for_errors` and `Backend.mark_matches_for_errors`
have made show which expression failed. After a job, `spark.ties` warns of rows whose order is not
determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StructField,
    StructType,
)

from matchrec.compile.compiled_query import CompiledQuery, ResultColumn, ResultForm
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import show_column
from matchrec.conditions.types import BIGINT, BOOLEAN, DOUBLE, INT, ValueType
from matchrec.conditions.typing.known_types import find_known_type
from matchrec.errors.run.origins import add_comment, mark_origin
from matchrec.errors.wording import show_count
from matchrec.output.measure_sql import ReadInSql, SqlPiece
from matchrec.output.reads import ReadIsMatched
from matchrec.output.schema import PLACEHOLDER_COLUMN, OutputColumn
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import Reference
from matchrec.plan.text import quote_name
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.after.aggregates import aggregate_matches
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.backends import find_backend
from matchrec.spark.compile import compile_request
from matchrec.spark.compiled_rules import CompiledRules, compile_unused_outputs
from matchrec.spark.preparations.preparation import Preparation
from matchrec.spark.preparations.workers_sort import WorkerSortedPreparation
from matchrec.spark.range_choice import (
    WHOLE_WITHOUT_WINDOW,
    WholePartitions,
    check_ranges_not_required,
    find_ranges,
    plan_ranges,
)
from matchrec.spark.ranges import Ranges
from matchrec.spark.read_types import build_read_schema
from matchrec.spark.relation import Relation
from matchrec.spark.request import MatchRequest
from matchrec.spark.runner import Runner
from matchrec.spark.select_items import SelectItem
from matchrec.spark.types import is_nested, to_value_type
from matchrec.worker import internal_names

# Spark's types of measures, by the types that `find_known_type` returns. Spark is asked for others.
SPARK_TYPES = {BOOLEAN: BooleanType(), INT: IntegerType(), BIGINT: LongType(), DOUBLE: DoubleType()}


@dataclass(frozen=True)
class ClauseResult:
    """The DataFrame of a clause, and what it was built from, which `explain` shows."""

    dataframe: DataFrame
    # The compiled rules of the request. The clause is the only rule.
    compiled_rules: CompiledRules
    # How partitions are cut into ranges, or why they are not.
    ranges: Ranges | WholePartitions

    @property
    def request(self) -> MatchRequest:
        """Return the clause with its input and its options."""
        return self.compiled_rules.request

    @property
    def split_query(self) -> SplitQuery:
        """Return the split query of the clause: its plan, and the parts of its conditions."""
        (rule,) = self.compiled_rules.rules
        return rule.query

    @property
    def compiled_query(self) -> CompiledQuery:
        """Return the compiled query of the clause."""
        (rule,) = self.compiled_rules.rules
        return rule.compiled_query

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns of the clause, including those that nobody uses.

        Empty if the query around the clause only counts the clause's rows.
        """
        names = [output.name for output in self.split_query.all_outputs]
        return tuple(name for name in names if name != PLACEHOLDER_COLUMN)

    @property
    def reads_stream(self) -> bool:
        """Return whether the input of the clause is a stream, so that its result is one, too."""
        return self.request.is_stream


def build_clause_result(request: MatchRequest) -> ClauseResult:
    """Return the result of a request with a single rule, such as a clause. Runs no job.

    Raises:
        MatchRecognizeError: the query is wrong or not supported.
    """
    (rule,) = request.rules
    with silence_analysis(), request.locate_rule_errors(rule):
        compiled_rules = compile_request(request)
        check_unused_outputs(compiled_rules)
        return build_compiled_result(compiled_rules, choose_ranges(compiled_rules))


def check_unused_outputs(compiled_rules: CompiledRules) -> None:
    """Check the output columns of a clause that nobody uses. Spark analyses them over no rows.

    Raises:
        MatchRecognizeError: a column is not supported.
        pyspark.errors.PySparkException: Spark rejects a column, with one of `QUERY_ERRORS`.
    """
    unused_query = compile_unused_outputs(compiled_rules)
    if unused_query is None or unused_query.result_form is not ResultForm.COMPUTED:
        return
    request = compiled_rules.request
    (clause,) = compiled_rules.rules
    columns = unused_query.sent_columns.columns
    fields = compiled_rules.preparation.find_fields(columns, compiled_rules.fields)
    schema = build_read_schema(unused_query, fields)
    if infer_result_fields(request, clause.query.unused_outputs, unused_query, schema) is not None:
        return
    no_rows = request.runner.spark.createDataFrame([], schema)
    empty_result = project_result(request.relation, unused_query, no_rows)
    analyse_result(request, unused_query, empty_result, schema)


def build_compiled_result(
    compiled_rules: CompiledRules, ranges: Ranges | WholePartitions
) -> ClauseResult:
    """Build the result of a compiled clause. Runs no job.

    Args:
        compiled_rules: the clause.
        ranges: what `choose_ranges` has returned.

    Raises:
        pyspark.errors.PySparkException: Spark rejects a column, with one of `QUERY_ERRORS`.
    """
    request = compiled_rules.request
    (clause,) = compiled_rules.rules
    compiled_query = clause.compiled_query
    preparation = compiled_rules.preparation
    if isinstance(ranges, Ranges):
        assert isinstance(preparation, WorkerSortedPreparation), "`choose_ranges` has checked it"
        preparation = preparation.cut_partitions(ranges)
    fields = preparation.find_fields(compiled_query.sent_columns.columns, compiled_rules.fields)
    schema = build_read_schema(compiled_query, fields)
    output_rows = build_output_rows(request, compiled_query, preparation, schema, ranges)
    dataframe = project_result(request.relation, compiled_query, output_rows)
    if compiled_query.result_form is ResultForm.COMPUTED:
        result_fields = infer_result_fields(request, clause.query.outputs, compiled_query, schema)
        if result_fields is None:
            dataframe = analyse_result(request, compiled_query, dataframe, schema)
        else:
            request.backend.set_schema(dataframe, result_fields)
    return ClauseResult(dataframe, compiled_rules, ranges)


def analyse_result(
    request: MatchRequest, compiled_query: CompiledQuery, result: DataFrame, schema: StructType
) -> DataFrame:
    """Let Spark analyse a result whose columns it computes over reads, and return the result.

    A session that has analysed the same columns over the same reads need not analyse them again.

    Args:
        request: the request of the query.
        compiled_query: the query.
        result: the result of the query.
        schema: the schema of the reads.

    Raises:
        pyspark.errors.PySparkException: Spark rejects a column, with one of `QUERY_ERRORS`.
    """
    output_pieces = [output.pieces for output in compiled_query.outputs]
    analysed_text = (f"{output_pieces} {compiled_query.aggregates}", schema.json())
    return request.runner.analyse(result, analysed_text)


def infer_result_fields(
    request: MatchRequest,
    outputs: Sequence[OutputColumn],
    compiled_query: CompiledQuery,
    schema: StructType,
) -> list[StructField] | None:
    """Return the fields of a result, inferred from the schema of the reads.

    This saves a request to a server. `conditions.typing.known_types` says which types are known.

    Args:
        request: the request of the query.
        outputs: the output columns of the query.
        compiled_query: the query.
        schema: the schema of the reads.

    Returns:
        The fields; None if Spark must be asked for them, or if asking needs no server.
    """
    if not request.backend.requests_schemas or not current_shortcuts().types:
        return None
    if compiled_query.aggregates or has_unmatched_rows(compiled_query):
        return None
    fields = []
    for output, column in zip(outputs, compiled_query.outputs, strict=True):
        reads = [
            schema.fields[piece.index] for piece in column.pieces if isinstance(piece, ReadInSql)
        ]
        if any(read.metadata or is_nested(read.dataType) for read in reads):
            return None
        type_ = reads[0].dataType if column.is_read else find_measure_type(output, column, reads)
        if type_ is None:
            return None
        fields.append(StructField(column.name, type_, any(read.nullable for read in reads)))
    return fields


def find_measure_type(
    output: OutputColumn, column: ResultColumn, reads: Sequence[StructField]
) -> DataType | None:
    """Return the type of a measure that Spark computes; None if Spark must be asked for it.

    Args:
        output: the measure. For an output column that is not a measure, the result is None.
        column: the measure as SQL over reads.
        reads: the fields of the reads in this SQL, in the order of its pieces.
    """
    if not isinstance(output, Measure) or not reads:
        return None
    references = output.value.references
    measure_texts = [piece if isinstance(piece, str) else None for piece in output.value.pieces]
    column_texts = [piece if isinstance(piece, str) else None for piece in column.pieces]
    if len(reads) != len(references) or measure_texts != column_texts:
        return None  # a reference became SQL over reads, not a single read
    types = {
        reference: to_value_type(read.dataType)
        for reference, read in zip(references, reads, strict=True)
    }

    def find_reference_type(leaf: Reference | str) -> ValueType | None:
        """Return the type of the read of a reference; None for a parameter."""
        return None if isinstance(leaf, str) else types[leaf]

    type_ = find_known_type(output.value, find_reference_type)
    return None if type_ is None else SPARK_TYPES.get(type_)


def choose_ranges(compiled_rules: CompiledRules) -> Ranges | WholePartitions:
    """Return how the partitions of a clause are cut into ranges, or why they are not.

    They are cut if that is possible, and if it pays or the user asks for it.

    Raises:
        MatchRecognizeUnsupportedError: the user asks for ranges, and partitions cannot be cut.
    """
    request = compiled_rules.request
    preparation = compiled_rules.preparation
    if not isinstance(preparation, WorkerSortedPreparation):
        check_ranges_not_required(request, str(preparation.sorter or ""))
        return WholePartitions()
    (clause,) = compiled_rules.rules
    plan = clause.query.plan
    if not request.must_cut_partitions and plan.within is None:
        return WHOLE_WITHOUT_WINDOW
    return find_ranges(request, plan, clause.compiled_query)


def describe_range_savings(result: ClauseResult) -> str:
    """Describe what cutting partitions into ranges would save; "" if they cannot be cut.

    Runs jobs that count rows.
    """
    request = result.request
    preparation = result.compiled_rules.preparation
    if not isinstance(preparation, WorkerSortedPreparation):
        return ""
    ranges = plan_ranges(request, result.split_query.plan, result.compiled_query)
    if isinstance(ranges, WholePartitions):
        return ""
    columns = result.compiled_query.sent_columns.columns
    all_rows = preparation.build_rows(columns)
    cut_rows = preparation.cut_partitions(ranges).build_rows(columns)
    range_sizes = [row["count"] for row in cut_rows.groupBy(internal_names.RANGE).count().collect()]
    return show_range_sizes(all_rows.count(), range_sizes)


def show_range_sizes(row_count: int, range_sizes: Sequence[int]) -> str:
    """Describe how many rows are sent if partitions are cut into ranges of these sizes.

    Args:
        row_count: the number of rows that are sent without ranges.
        range_sizes: the number of rows of each range.

    >>> show_range_sizes(1000, [30, 20]).partition("; ")[0]
    'ranges: 50 of 1,000 rows are sent, in 2 ranges of at most 30 rows'
    >>> show_range_sizes(1000, [1]).partition("; ")[0]
    'ranges: 1 of 1,000 rows is sent, in 1 range of at most 1 row'
    >>> show_range_sizes(1000, []).partition("; ")[2]
    'without ranges, one task would get all rows of a key'
    """
    sent_rows = sum(range_sizes)
    verb = "is" if sent_rows == 1 else "are"
    text = f"{sent_rows:,} of {show_count(row_count, 'row')} {verb} sent"
    if range_sizes:
        largest = show_count(max(range_sizes), "row")
        text += f", in {show_count(len(range_sizes), 'range')} of at most {largest}"
    return f"ranges: {text}; without ranges, one task would get all rows of a key"


def build_output_rows(
    request: MatchRequest,
    compiled_query: CompiledQuery,
    preparation: Preparation,
    schema: StructType,
    ranges: Ranges | WholePartitions,
) -> DataFrame:
    """Return the DataFrame of the output rows, which hold the workers' reads. Runs no job.

    If the options have counters, an action on the DataFrame fills them.

    Args:
        request: the request, with the options.
        compiled_query: the query to match.
        preparation: the preparation of the rows. If `ranges` are ranges, it cuts partitions.
        schema: the schema of the reads.
        ranges: how partitions are cut, for the counters.
    """
    counters = request.options.counters
    operator_name = f"match_recognize[PATTERN ({compiled_query.pattern_text})]"
    if counters is None:
        return preparation.plan_query(request, compiled_query, schema, operator_name)
    from matchrec.spark.counters import observe_workers
    from matchrec.spark.tallies import append_counters_column

    counted_schema = append_counters_column(schema)
    return observe_workers(
        counters,
        preparation.plan_query(request, compiled_query, counted_schema, operator_name),
        counts_runs=compiled_query.task.needs_event_selection,
        keeps_partitions_whole=isinstance(ranges, WholePartitions) and ranges.because_counted,
    )


def project_result(
    relation: Relation, compiled_query: CompiledQuery, output_rows: DataFrame
) -> DataFrame:
    """Return the result of a query: compute its columns over the reads.

    Args:
        relation: the input of the query.
        compiled_query: the query.
        output_rows: the output rows, with a column for each read.
    """
    if compiled_query.result_form is ResultForm.RETURNED:
        return output_rows
    if compiled_query.aggregates:
        output_rows = aggregate_matches(relation.runner, output_rows, compiled_query)
    slots = range(len(compiled_query.reads))  # each read has its own column
    return select_result_columns(relation.runner, compiled_query, output_rows, slots)


def select_result_columns(
    runner: Runner, compiled_query: CompiledQuery, output_rows: DataFrame, slots: Sequence[int]
) -> DataFrame:
    """Return the columns of the result, computed from reads and aggregates.

    Args:
        runner: runs texts of the query.
        compiled_query: the query.
        output_rows: the output rows, with columns for reads and aggregates.
        slots: for each read, the number n of the column `__r<n>` that holds it.
    """
    items = build_result_items(compiled_query, slots)
    if compiled_query.result_form is ResultForm.COMPUTED:
        origins = [None if output.is_read else output.origin for output in compiled_query.outputs]
        output_rows = find_backend(runner.spark).mark_matches_for_errors(
            output_rows, runner, items, origins
        )
    return runner.select_with_value_types(output_rows, [str(item) for item in items])


def build_result_items(compiled_query: CompiledQuery, slots: Sequence[int]) -> list[SelectItem]:
    """Return the select list of the result.

    Args:
        compiled_query: the query.
        slots: see `select_result_columns`.
    """
    can_be_unmatched = has_unmatched_rows(compiled_query)
    is_matched = internal_names.name_read(slots[-1])
    items = []
    for output in compiled_query.outputs:
        text = mark_origin(write_output(output, compiled_query, slots), output.origin)
        if output.is_measure and can_be_unmatched:
            # On an unmatched row, every measure is NULL.
            text = f"CASE WHEN {is_matched} THEN {text} END"
        items.append(SelectItem(text, quote_name(output.name)))
    return items


def has_unmatched_rows(compiled_query: CompiledQuery) -> bool:
    """Return whether an output row can be an unmatched row. If so, the last read tells."""
    return isinstance(compiled_query.reads[-1], ReadIsMatched)


def write_output(output: ResultColumn, compiled_query: CompiledQuery, slots: Sequence[int]) -> str:
    """Return an output column as SQL over the columns of the workers.

    If the SQL is more than a read, a comment after each read shows it in the user's words, because
    Spark's errors print the SQL.

    Args:
        output: the column.
        compiled_query: the query.
        slots: see `select_result_columns`.
    """
    if len(output.pieces) == 1:
        return write_piece(output.pieces[0], slots)
    column_texts = [show_column(column) for column in compiled_query.sent_columns.columns]
    texts = []
    for piece in output.pieces:
        text = write_piece(piece, slots)
        if isinstance(piece, ReadInSql):
            text = add_comment(text, compiled_query.reads[piece.index].show(column_texts))
        texts.append(text)
    return "".join(texts)


def write_piece(piece: SqlPiece, slots: Sequence[int]) -> str:
    """Return a piece of an output column as SQL: a text, a read or an aggregate.

    Args:
        piece: the piece.
        slots: see `select_result_columns`.
    """
    if isinstance(piece, str):
        return piece
    if isinstance(piece, ReadInSql):
        return internal_names.name_read(slots[piece.index])
    return internal_names.name_aggregate(piece.index)
