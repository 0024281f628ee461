"""Compute the aggregates that only Spark knows, over the rows of each match.

An output row has the rows of its match as an array of structs. There are two ways to aggregate it:

folds    Spark's functions over arrays take the values of the aggregate from the array, and fold
         them (`folds.FOLDS`). No row leaves its match, so the rows stay in order, and nothing is
         shuffled.
groups   The array is exploded, and its rows are aggregated by GROUP BY. Spark can merge parts of a
         group in any order, so this is done only for aggregates whose result does not depend on
         the order of rows (`GROUP_AGGREGATES`).

For `bit_xor(FALL.price)`, the array of rows is `__r0`, and there are two steps:

    SELECT array_compact(transform(__r0, __e -> __e.c0)) AS __v0     the values: `collect_values`
    SELECT aggregate(..., (a, x) -> a ^ x) AS __g0                   the fold: `compute_folds`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, types

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors.language import name_part
from matchrec.errors.run.origins import SqlOrigin, make_origin, mark_origin
from matchrec.output.measure_sql import (
    MATCH_ROW,
    ROW_POSITION,
    ROW_VARIABLE,
    ReadInSql,
    RowAggregate,
    RowTerm,
)
from matchrec.output.reads import ReadRowsForEngine
from matchrec.plan.show import write_aggregate_call
from matchrec.plan.templates import View, write_select
from matchrec.plan.text import quote_string
from matchrec.plan.words import read_words
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.after.fold_types import Fold, FoldedValues
from matchrec.spark.after.folds import FOLDS, write_distinct_values
from matchrec.spark.backends import find_backend
from matchrec.spark.runner import Runner
from matchrec.spark.select_items import SelectItem
from matchrec.worker import internal_names

# With this setting, a statistic that would divide by zero is NaN instead of NULL.
NAN_SETTING = "spark.sql.legacy.statisticalAggregate"

# A part of Sail's error if two columns of a DataFrame have the same name.
DUPLICATE_NAME = "duplicate unqualified field name"

# The column with the number of the output row to which an exploded row belongs.
OUTPUT_ROW = "__id"
# The column with a struct of the values that the aggregates need of one row. Once rows are grouped,
# it has the array of the structs of a match.
ROW_VALUES = "__values"

# The names of the aggregates whose result does not depend on the order of rows.
GROUP_AGGREGATES = frozenset(map(str.lower, read_words("ANY ORDER")))


@dataclass(frozen=True)
class MatchAggregates:
    """The aggregates of a query that Spark computes, and the rows to compute them from."""

    runner: Runner
    # The output of the workers: one row for each output row of the query.
    output_rows: DataFrame
    compiled_query: CompiledQuery
    # The columns of the other reads, which are kept.
    kept_columns: tuple[str, ...]
    # The name of the column with the array of a match's rows.
    rows_column: str

    @property
    def aggregates(self) -> tuple[RowAggregate, ...]:
        """Return the aggregates. Names of columns contain their indices."""
        return self.compiled_query.aggregates

    def compute(self) -> DataFrame:
        """Return the kept reads and the aggregates.

        1. Build the DataFrame that computes all aggregates by groups. Spark analyses it, to return
           the types of the results and to reject what it does not allow. It usually does not run.
        2. Choose the aggregates that can be folds.
        3. Compute these as folds, then the others, if there are any, by groups.

        Raises:
            pyspark.errors.AnalysisException: Spark does not allow an aggregate.
        """
        indices = range(len(self.aggregates))
        grouped = self.compute_groups(self.output_rows, self.kept_columns, indices)
        result_types = self.find_result_types(grouped)
        folds = {}
        for index in indices:
            fold = choose_fold(self.aggregates[index], result_types[index])
            if fold is not None:
                folds[index] = fold
        if not folds:
            return grouped

        others = [index for index in indices if index not in folds]
        if not others:
            return self.compute_folds(folds, result_types, self.kept_columns)
        folded = self.compute_folds(folds, result_types, (*self.kept_columns, self.rows_column))
        fold_columns = [internal_names.name_aggregate(index) for index in folds]
        return self.compute_groups(folded, (*self.kept_columns, *fold_columns), others)

    def find_result_types(self, grouped: DataFrame) -> list[types.DataType]:
        """Return the types of the aggregates.

        Args:
            grouped: a DataFrame whose last columns are the aggregates.
        """
        indices = range(len(self.aggregates))
        try:
            fields = grouped.schema.fields[-len(indices) :]
        except AnalysisException as error:
            if DUPLICATE_NAME not in str(error):
                raise
            # Sail names an aggregate of a struct by its fields, so two aggregates can have the same
            # name. Each of them is analysed by itself.
            fields = [
                self.compute_groups(self.output_rows, (), [index]).schema.fields[-1]
                for index in indices
            ]
        return [field.dataType for field in fields]

    def compute_folds(
        self,
        folds: Mapping[int, Fold],
        result_types: Sequence[types.DataType],
        kept_columns: Sequence[str],
    ) -> DataFrame:
        """Compute some of the aggregates as folds.

        Args:
            folds: the folds, by the indices of the aggregates.
            result_types: the types of all aggregates.
            kept_columns: the columns that are kept as well.
        """
        arrays = self.collect_values(folds, kept_columns)
        values_by_index = {
            index: self.build_folded_values(arrays, index, fold, result_types[index])
            for index, fold in folds.items()
        }
        if any(self.aggregates[index].call.is_distinct for index in folds):
            arrays = self.drop_repeated_values(arrays, values_by_index, kept_columns)
        items = []
        origins = []
        for index, fold in folds.items():
            origin = make_aggregate_origin(self.aggregates[index])
            sql = mark_origin(fold.write(values_by_index[index]), origin)
            items.append(SelectItem(sql, internal_names.name_aggregate(index)))
            origins.append(origin)
        backend = find_backend(self.runner.spark)
        arrays = backend.mark_matches_for_errors(arrays, self.runner, items, origins)
        return self.runner.select(arrays, [*kept_columns, *map(str, items)])

    def drop_repeated_values(
        self,
        arrays: DataFrame,
        values_by_index: Mapping[int, FoldedValues],
        kept_columns: Sequence[str],
    ) -> DataFrame:
        """Return the rows with each value once in the arrays of aggregates with DISTINCT.

        Args:
            arrays: the rows with the arrays of values, see `collect_values`.
            values_by_index: the values of each aggregate, by its index.
            kept_columns: the columns that are kept as well.
        """
        items = []
        for index, values in values_by_index.items():
            is_distinct = self.aggregates[index].call.is_distinct
            sql = write_distinct_values(values) if is_distinct else values.array
            items.append(SelectItem(sql, values.array))
        return arrays.selectExpr(*kept_columns, *map(str, items))

    def build_folded_values(
        self, arrays: DataFrame, index: int, fold: Fold, result_type: types.DataType
    ) -> FoldedValues:
        """Return the values of an aggregate, as its fold needs them.

        Args:
            arrays: the rows with the array of the values in a column, see `collect_values`.
            index: the index of the aggregate.
            fold: the fold that computes it.
            result_type: the type of its result.
        """
        aggregate = self.aggregates[index]
        array = internal_names.name_aggregated_values(index)
        array_type = arrays.schema[array].dataType
        assert isinstance(array_type, types.ArrayType)
        returns_nan = self.runner.settings[NAN_SETTING] == "true"
        row_argument_count = fold.count_row_arguments(len(aggregate.arguments))
        constants = aggregate.arguments[row_argument_count:]
        return FoldedValues(
            array=array,
            value_type=array_type.elementType,
            result_type=result_type,
            constants=tuple(write_term(term) for term in constants),
            ordering=tuple(words for _, words in aggregate.ordering),
            ignore_nulls=aggregate.call.ignore_nulls,
            undefined="double('NaN')" if returns_nan else "NULL",
        )

    def collect_values(self, folds: Mapping[int, Fold], kept_columns: Sequence[str]) -> DataFrame:
        """Return the rows with a column for each aggregate: the array of its values.

        Functions over arrays accept neither subqueries nor Python functions. If a term has one of
        these, the arrays are exploded to rows, and the rows are grouped again.

        Args:
            folds: the folds, by the indices of the aggregates.
            kept_columns: the columns that are kept as well.
        """
        arrays = [
            SelectItem(self.write_values(index, fold), internal_names.name_aggregated_values(index))
            for index, fold in folds.items()
        ]
        try:
            return self.runner.analyse(
                self.runner.select(self.output_rows, [*kept_columns, *map(str, arrays)])
            )
        except AnalysisException:
            # GROUP BY has accepted the same terms. Functions over arrays do not accept all of them.
            return self.collect_values_by_group(folds, kept_columns)

    def write_values(self, index: int, fold: Fold) -> str:
        """Return SQL of the array of an aggregate's values, made from the array of rows.

        Args:
            index: the index of the aggregate.
            fold: the fold that computes it.
        """
        aggregate = self.aggregates[index]
        row_filter = write_row_filter(aggregate, self.compiled_query.task.variables)
        array = self.rows_column
        if row_filter:
            array = f"filter({array}, {MATCH_ROW} -> {row_filter})"
        values = array
        terms = write_row_terms(aggregate, fold)
        if terms:
            evaluated_rows = f"transform({array}, {MATCH_ROW} -> {write_struct(terms)})"
            values = drop_nulls(evaluated_rows, aggregate, fold)
        return mark_origin(values, make_aggregate_origin(aggregate))

    def collect_values_by_group(
        self, folds: Mapping[int, Fold], kept_columns: Sequence[str]
    ) -> DataFrame:
        """Do the same as `collect_values`, but explode the rows and group them again.

        Each row of a match becomes a struct. If aggregates 0 and 1 are collected, its fields are

            position            the position of the row in its match
            counts0, counts1    whether the aggregate is over the row
            value0, value1      the value of the row for the aggregate

        Grouping loses the order of the rows, so their structs are sorted by `position`.
        """
        fields = [f"{ROW_POSITION} AS position"]
        for index, fold in folds.items():
            fields += self.write_row_fields(index, fold)
        row_values = SelectItem(f"struct({', '.join(fields)})", ROW_VALUES)
        exploded = explode_output_rows(self.output_rows, kept_columns, self.rows_column)
        evaluated = self.runner.select(exploded, [OUTPUT_ROW, *kept_columns, str(row_values)])
        comparison = "(l, r) -> CAST(l.position - r.position AS INT)"
        in_order = f"array_sort(collect_list({ROW_VALUES}), {comparison})"
        grouped = group_rows(
            self.runner, evaluated, kept_columns, [SelectItem(in_order, ROW_VALUES)]
        )
        arrays = [
            SelectItem(
                self.write_grouped_values(index, fold), internal_names.name_aggregated_values(index)
            )
            for index, fold in folds.items()
        ]
        return grouped.selectExpr(*kept_columns, *map(str, arrays))

    def write_row_fields(self, index: int, fold: Fold) -> list[str]:
        """Return SQL of the two fields that an aggregate adds to the struct of a row.

        See `collect_values_by_group`.
        """
        aggregate = self.aggregates[index]
        row_filter = write_row_filter(aggregate, self.compiled_query.task.variables) or "TRUE"
        value = write_struct(write_row_terms(aggregate, fold) or ["TRUE"])
        return [
            f"({row_filter}) AS counts{index}",
            f"CASE WHEN {row_filter} THEN {value} END AS value{index}",
        ]

    def write_grouped_values(self, index: int, fold: Fold) -> str:
        """Return SQL of the array of an aggregate's values, made from the structs of the rows.

        See `collect_values_by_group`.
        """
        # A match without rows is exploded to one row of NULLs, which must not count.
        is_counted = f"x.position IS NOT NULL AND x.counts{index}"
        counted_rows = f"filter({ROW_VALUES}, x -> {is_counted})"
        values = f"transform({counted_rows}, x -> x.value{index})"
        return drop_nulls(values, self.aggregates[index], fold)

    def compute_groups(
        self, frame: DataFrame, kept_columns: Sequence[str], indices: Sequence[int]
    ) -> DataFrame:
        """Compute some of the aggregates by GROUP BY.

        Args:
            frame: the output rows, with the array of rows.
            kept_columns: the columns that are kept as well.
            indices: the indices of the aggregates.
        """
        items = [
            SelectItem(
                write_aggregate(self.aggregates[index]), internal_names.name_aggregate(index)
            )
            for index in indices
        ]
        exploded = explode_output_rows(frame, kept_columns, self.rows_column)
        return group_rows(self.runner, exploded, kept_columns, items)


def aggregate_matches(
    runner: Runner, output_rows: DataFrame, compiled_query: CompiledQuery
) -> DataFrame:
    """Compute the aggregates of each match, and drop the array of its rows.

    Args:
        runner: runs texts of the query.
        output_rows: the output of the workers. All reads except the array are kept.
        compiled_query: the query, which has aggregates.

    Raises:
        pyspark.errors.AnalysisException: Spark does not allow an aggregate.
    """
    kept_columns = []
    rows_column = ""
    for index, read in enumerate(compiled_query.reads):
        if isinstance(read, ReadRowsForEngine):
            rows_column = internal_names.name_read(index)
        else:
            kept_columns.append(internal_names.name_read(index))
    assert rows_column, "a query with aggregates reads the rows of its matches"
    return MatchAggregates(
        runner=runner,
        output_rows=output_rows,
        compiled_query=compiled_query,
        kept_columns=tuple(kept_columns),
        rows_column=rows_column,
    ).compute()


def choose_fold(aggregate: RowAggregate, result_type: types.DataType) -> Fold | None:
    """Return the fold that computes an aggregate; None if it is computed by groups."""
    name = aggregate.call.function
    fold = FOLDS.get(name)
    if fold is not None and fold.keeps_digits(result_type) and current_shortcuts().folds:
        return fold
    # Tests without folds compute every aggregate by groups.
    can_be_grouped = name in GROUP_AGGREGATES or not current_shortcuts().folds
    assert can_be_grouped, f"whether {name} depends on the order of the rows is not known"
    return None


# SQL of the values of an aggregate.


def write_row_terms(aggregate: RowAggregate, fold: Fold) -> list[str]:
    """Return SQL of the expressions that are evaluated on each row for a fold.

    They are the arguments that can differ from row to row, and the sort keys. If there are several
    expressions, they are named: a0, a1, ... for arguments, o0, o1, ... for sort keys. The list is
    empty for an aggregate without arguments, such as count(*).

        listagg(name) WITHIN GROUP (ORDER BY price)    ["name AS a0", "price AS o0"]
        bit_xor(price)                                 ["price"]

    Args:
        aggregate: the aggregate.
        fold: the fold that computes it.
    """
    row_argument_count = fold.count_row_arguments(len(aggregate.arguments))
    arguments = [write_term(argument) for argument in aggregate.arguments[:row_argument_count]]
    if len(arguments) == 1 and not aggregate.ordering:
        return arguments
    sort_keys = [write_term(sort_key) for sort_key, _ in aggregate.ordering]
    named_arguments = [f"{argument} AS a{index}" for index, argument in enumerate(arguments)]
    named_sort_keys = [f"{sort_key} AS o{index}" for index, sort_key in enumerate(sort_keys)]
    return named_arguments + named_sort_keys


def write_struct(terms: Sequence[str]) -> str:
    """Return SQL of a struct of several named terms; of the term itself if there is only one."""
    return terms[0] if len(terms) == 1 else f"struct({', '.join(terms)})"


def drop_nulls(values: str, aggregate: RowAggregate, fold: Fold) -> str:
    """Return SQL of an array without the values that do not count because they are NULL.

    Args:
        values: SQL of the array. An element is the only term of `write_row_terms`, or a struct of
            its terms.
        aggregate: the aggregate of the values.
        fold: the fold that computes it.
    """
    row_argument_count = fold.count_row_arguments(len(aggregate.arguments))
    required: Sequence[int] = range(row_argument_count)
    if fold.required_arguments is not None:
        required = fold.required_arguments
    if not required:
        return values
    has_one_term = row_argument_count + len(aggregate.ordering) == 1
    if has_one_term:
        return f"array_compact({values})"
    tests = " AND ".join(f"x.a{index} IS NOT NULL" for index in required)
    return f"filter({values}, x -> {tests})"


def write_aggregate(aggregate: RowAggregate) -> str:
    """Return SQL of an aggregate over exploded rows."""
    arguments = [write_term(argument) for argument in aggregate.arguments]
    ordering = [f"{write_term(sort_key)} {words}" for sort_key, words in aggregate.ordering]
    sql = write_aggregate_call(aggregate.call, arguments, ordering, write_row_filter(aggregate))
    return mark_origin(sql, make_aggregate_origin(aggregate))


def write_row_filter(aggregate: RowAggregate, all_variables: Sequence[str] | None = None) -> str:
    """Return SQL of a test for the rows of a match that an aggregate is over; "" for all rows.

    Args:
        aggregate: the aggregate.
        all_variables: all variables to which a row can be mapped. If the aggregate is over all of
            them, the test of the variable is left out. With None, it is written nevertheless: an
            empty array is exploded to a row of NULLs, which this test rejects.
    """
    tests = []
    is_over_all_variables = all_variables is not None and (
        set(aggregate.variables) == set(all_variables)
    )
    if aggregate.variables and not is_over_all_variables:
        tests.append(f"{ROW_VARIABLE} IN ({', '.join(map(quote_string, aggregate.variables))})")
    if aggregate.last_position is not None:
        tests.append(f"{ROW_POSITION} <= {internal_names.name_read(aggregate.last_position.index)}")
    if aggregate.condition is not None:
        tests.append(f"({write_term(aggregate.condition)})")
    return " AND ".join(tests)


def write_term(term: RowTerm) -> str:
    """Return SQL of an expression on a row of the match, with a column for each read."""
    return "".join(
        internal_names.name_read(piece.index) if isinstance(piece, ReadInSql) else piece
        for piece in term
    )


def make_aggregate_origin(aggregate: RowAggregate) -> SqlOrigin:
    """Return the origin of an aggregate, which errors of Spark show: its place in MEASURES."""
    clause = name_part("MEASURES")
    return make_origin(f"`{aggregate.call.function}` in {clause}", clause, aggregate.call.span)


# Arrays as rows, and back.


def explode_output_rows(
    frame: DataFrame, kept_columns: Sequence[str], rows_column: str
) -> DataFrame:
    """Return the rows of all matches, each with the number of its output row.

    An output row whose array is empty becomes one row of NULL.

    Args:
        frame: the output rows.
        kept_columns: the columns of an output row that each of its rows keeps.
        rows_column: the name of the column with the array of rows.
    """
    number = SelectItem("monotonically_increasing_id()", OUTPUT_ROW)
    row = SelectItem(f"explode_outer({rows_column})", MATCH_ROW)
    return frame.selectExpr("*", str(number)).selectExpr(OUTPUT_ROW, *kept_columns, str(row))


def group_rows(
    runner: Runner,
    exploded: DataFrame,
    kept_columns: Sequence[str],
    aggregates: Sequence[SelectItem],
) -> DataFrame:
    """Return the output rows of exploded rows, with aggregates of their rows.

    Args:
        runner: runs the query.
        exploded: rows as `explode_output_rows` returns them.
        kept_columns: the columns of output rows.
        aggregates: the aggregates, as items of the select list.
    """
    keys = []
    items = []
    for name in kept_columns:
        field = exploded.schema[name]
        if can_be_key(field):
            keys.append(name)
            items.append(SelectItem(name, name))
        else:
            items.append(SelectItem(write_group_value(field), name))
    select_list = runner.find_holes(", ".join(map(str, [*items, *aggregates])))
    groups = f" GROUP BY {', '.join([OUTPUT_ROW, *keys])}"
    source = (View("matchrec_exploded"), groups)
    query = write_select(select_list, source, runner.with_clauses)
    return runner.with_frames(matchrec_exploded=exploded).sql(query)


def write_group_value(field: types.StructField) -> str:
    """Return SQL of the value of a column that has the same value on all rows of a group.

    If the column is an array that is never NULL, the schema of the result says so as well.
    """
    first_value = f"first({field.name})"
    is_array = isinstance(field.dataType, types.ArrayType) and not field.nullable
    return f"coalesce({first_value}, array())" if is_array else first_value


def can_be_key(field: types.StructField) -> bool:
    """Return whether to group by a kept column as well, so that its schema still excludes NULL.

    A column cannot be a key if grouping changes its values (-0.0 becomes 0.0), or if Spark does not
    allow its type as a key (maps, variants). A column that can be NULL need not be a key.
    """
    is_atomic = isinstance(field.dataType, types.AtomicType)
    is_excluded = field.dataType.typeName() in ("float", "double", "variant")
    return is_atomic and not (is_excluded or field.nullable)
