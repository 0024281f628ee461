"""Aggregates that only Spark knows: folds of arrays that each output row carries.

An output row brings the rows of its match as an array of structs, of which Spark's functions over
arrays take the values that an aggregate is over and fold them: no row leaves its match, so none can
lose its place, and nothing is shuffled. A group by over the rows, which may merge parts of a group
in any order, is left to aggregates of which `OF_GROUPS` says that the order does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, types

from matchrec.compile.executable import Executable
from matchrec.errors.language import part
from matchrec.errors.run.origins import SqlOrigin, origin, with_origin
from matchrec.output.measure_reader import POSITION, ROW, VARIABLE, RowAggregate, RowTerm
from matchrec.output.reads import ReadRowsForSpark
from matchrec.plan.show import call_of_aggregate
from matchrec.plan.text import View, string_literal, template, words_of
from matchrec.shortcuts import taken
from matchrec.spark.after.folds import FOLDS, Fold, Values, without_repeats
from matchrec.spark.errors.second_look import watch_matches
from matchrec.spark.relation import Runner
from matchrec.worker import wire
from matchrec.worker.wire import SelectItem

NAN = "double('NaN')"
SAME_NAME = "duplicate unqualified field name"  # Sail calls an aggregate of a struct by its fields
OUTPUT_ROW = "__id"  # known here only
TAKEN = "__taken"  # what is taken of a row; known here only

OF_GROUPS = frozenset(map(str.lower, words_of("ANY ORDER")))


@dataclass(frozen=True)
class MatchAggregates:
    """The aggregates of a query that Spark computes, and the output rows that they are of.

    kept: the reads but `rows`, the array of rows. token: see `spark.errors.second_look`.
    """

    runner: Runner
    matched: DataFrame
    executable: Executable
    kept: tuple[str, ...]
    rows: str
    token: str

    @property
    def aggregates(self) -> tuple[RowAggregate, ...]:
        return self.executable.aggregates

    def compute(self) -> DataFrame:
        """The kept reads and the aggregates. Raises what Spark refuses of its own aggregates."""
        every = range(len(self.aggregates))
        grouped = self.group(self.matched, self.kept, every)
        try:
            fields = grouped.schema.fields[-len(every) :]
        except AnalysisException as error:
            if SAME_NAME not in str(error):
                raise
            fields = [self.group(self.matched, (), [one]).schema.fields[-1] for one in every]
        results = [one.dataType for one in fields]
        found = map(fold_of, self.aggregates, results)
        folds = {index: fold for index, fold in enumerate(found) if fold is not None}
        rest = [index for index in range(len(self.aggregates)) if index not in folds]
        if not folds:
            return grouped
        folded = self.fold(folds, results, (*self.kept, *([self.rows] if rest else [])))
        if not rest:
            return folded
        return self.group(folded, (*self.kept, *map(wire.aggregate, folds)), rest)

    def fold(
        self, folds: Mapping[int, Fold], results: Sequence[types.DataType], kept: Sequence[str]
    ) -> DataFrame:
        """Some of the aggregates as folds, beside columns that are kept."""
        taken = self.take_values(folds, kept)
        values = {i: self.values(taken, i, fold, results[i]) for i, fold in folds.items()}
        if distinct := [index for index in folds if self.aggregates[index].call.distinct]:
            once = {index: without_repeats(values[index]) for index in distinct}
            items = [SelectItem(once.get(i, value.sql), value.sql) for i, value in values.items()]
            taken = taken.selectExpr(*kept, *map(str, items))
        origins = {index: origin_of(self.aggregates[index]) for index in folds}
        items = [
            SelectItem(with_origin(folds[i].sql(value), origins[i]), wire.aggregate(i))
            for i, value in values.items()
        ]
        if self.token:
            computed = {one.sql: origins[i] for one, i in zip(items, values, strict=True)}
            watch_matches(self.runner, taken, self.token, computed)
        return self.runner.select(taken, [*kept, *map(str, items)])

    def values(self, taken: DataFrame, index: int, fold: Fold, result: types.DataType) -> Values:
        """What an aggregate is over, by the column of `taken` that holds it."""
        one, sql = self.aggregates[index], wire.values(index)
        array = taken.schema[sql].dataType
        assert isinstance(array, types.ArrayType)
        legacy = self.runner.settings["spark.sql.legacy.statisticalAggregate"] == "true"
        others = tuple(map(term_sql, one.arguments[fold.terms_of(len(one.arguments)) :]))
        words = tuple(text for _, text in one.ordering)
        nothing = NAN if legacy else "NULL"
        return Values(sql, array.elementType, result, others, words, one.call.ignore_nulls, nothing)

    def take_values(self, folds: Mapping[int, Fold], kept: Sequence[str]) -> DataFrame:
        """The arrays of values that aggregates are over, beside columns that are kept."""
        arrays = [SelectItem(self.values_sql(i, fold), wire.values(i)) for i, fold in folds.items()]
        try:
            return self.runner.analyse(self.runner.select(self.matched, [*kept, *map(str, arrays)]))
        except AnalysisException:  # functions over arrays take no subquery, nor Python's functions
            return self.take_from_rows(folds, kept)

    def values_sql(self, index: int, fold: Fold) -> str:
        one = self.aggregates[index]
        test = rows_sql(one, self.executable.task.variables)
        rows = f"filter({self.rows}, {ROW} -> {test})" if test else self.rows
        if terms := row_terms(one, fold):
            rows = known_sql(f"transform({rows}, {ROW} -> {in_struct(terms)})", one, fold)
        return with_origin(rows, origin_of(one))

    def take_from_rows(self, folds: Mapping[int, Fold], kept: Sequence[str]) -> DataFrame:
        """As `take_values`, by rows that are grouped again and sorted by their places."""
        fields, items = [f"{POSITION} AS p"], []
        for index, fold in folds.items():
            one = self.aggregates[index]
            test = rows_sql(one, self.executable.task.variables) or "TRUE"
            value = in_struct(row_terms(one, fold) or ["TRUE"])
            fields.append(f"({test}) AS k{index}")
            fields.append(f"CASE WHEN {test} THEN {value} END AS t{index}")
            rows = f"filter({TAKEN}, x -> x.p IS NOT NULL AND x.k{index})"
            values = known_sql(f"transform({rows}, x -> x.t{index})", one, fold)
            items.append(SelectItem(values, wire.values(index)))
        exploded = explode_rows(self.matched, kept, self.rows)
        row = SelectItem(f"struct({', '.join(fields)})", TAKEN)
        evaluated = self.runner.select(exploded, [OUTPUT_ROW, *kept, str(row)])
        ordered = f"array_sort(collect_list({TAKEN}), (l, r) -> CAST(l.p - r.p AS INT))"
        whole = group_rows(self.runner, evaluated, kept, [SelectItem(ordered, TAKEN)])
        return whole.selectExpr(*kept, *map(str, items))

    def group(self, frame: DataFrame, kept: Sequence[str], indices: Sequence[int]) -> DataFrame:
        """Some of the aggregates as Spark's own over groups, beside columns that are kept."""
        items = [SelectItem(aggregate_sql(self.aggregates[i]), wire.aggregate(i)) for i in indices]
        return group_rows(self.runner, explode_rows(frame, kept, self.rows), kept, items)


def aggregate_matches(
    runner: Runner, matched: DataFrame, executable: Executable, token: str
) -> DataFrame:
    """Compute the aggregates of each match; the array of its rows goes, the other reads stay."""
    reads = executable.reads
    rows = next(i for i, read in enumerate(reads) if isinstance(read, ReadRowsForSpark))
    kept = tuple(wire.read(i) for i in range(len(reads)) if i != rows)
    return MatchAggregates(runner, matched, executable, kept, wire.read(rows), token).compute()


def fold_of(aggregate: RowAggregate, result: types.DataType) -> Fold | None:
    """The fold that an aggregate is, or None where it is computed by groups."""
    name = aggregate.call.function
    fold = FOLDS.get(name)
    if fold is not None and fold.keeps_digits(result) and taken().folds:
        return fold
    is_known = name in OF_GROUPS or not taken().folds
    assert is_known, f"whether {name} depends on the order of the rows is not known"
    return None


def row_terms(aggregate: RowAggregate, fold: Fold) -> list[str]:
    """What is evaluated on each row for a fold, as SQL: arguments, then what orders the rows."""
    arguments = aggregate.arguments[: fold.terms_of(len(aggregate.arguments))]
    terms = [term_sql(argument) for argument in arguments]
    if len(terms) == 1 and not aggregate.ordering:
        return terms
    named = [f"{term} AS a{place}" for place, term in enumerate(terms)]
    ordering = enumerate(term_sql(one) for one, _ in aggregate.ordering)
    return [*named, *(f"{one} AS o{place}" for place, one in ordering)]


def in_struct(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"struct({', '.join(terms)})"


def known_sql(values: str, aggregate: RowAggregate, fold: Fold) -> str:
    """An array without the values that do not count because they are NULL, as SQL."""
    count = fold.terms_of(len(aggregate.arguments))
    known = range(count) if fold.known is None else fold.known
    if not known:
        return values
    if count + len(aggregate.ordering) == 1:
        return f"array_compact({values})"
    return f"filter({values}, x -> {' AND '.join(f'x.a{one} IS NOT NULL' for one in known)})"


def explode_rows(frame: DataFrame, kept: Sequence[str], rows: str) -> DataFrame:
    """The rows of all matches, each with the number of its output row and what is kept of it."""
    number = SelectItem("monotonically_increasing_id()", OUTPUT_ROW)
    row = SelectItem(f"explode_outer({rows})", ROW)
    return frame.selectExpr("*", str(number)).selectExpr(OUTPUT_ROW, *kept, str(row))


def group_rows(
    runner: Runner, exploded: DataFrame, kept: Sequence[str], aggregates: Sequence[SelectItem]
) -> DataFrame:
    """One row for each output row again, with aggregates of its rows."""
    fields = {name: exploded.schema[name] for name in kept}
    keys = [OUTPUT_ROW, *(name for name in kept if stays_not_null(fields[name]))]
    items = [SelectItem(name, name) for name in keys[1:]]
    items += [SelectItem(first_of(fields[name]), name) for name in kept if name not in keys]
    select_list = runner.written(", ".join(map(str, [*items, *aggregates])))
    groups = f" GROUP BY {', '.join(keys)}"
    query = template("SELECT ", select_list, " FROM ", View("matchrec_exploded"), groups)
    return runner.having(matchrec_exploded=exploded).sql(runner.in_scope(query))


def first_of(field: types.StructField) -> str:
    """A column that is the same on all rows of a group; an array that is never NULL stays so."""
    found = f"first({field.name})"
    is_list = isinstance(field.dataType, types.ArrayType) and not field.nullable
    return f"coalesce({found}, array())" if is_list else found


def stays_not_null(field: types.StructField) -> bool:
    """Whether to group by a column as well, which keeps it free of NULL in the schema.

    Not where grouping changes values (-0.0 becomes 0.0) or Spark refuses it (maps, variants).
    """
    is_plain = isinstance(field.dataType, types.AtomicType)
    is_other = field.dataType.typeName() in ("float", "double", "variant")
    return is_plain and not (is_other or field.nullable)


def origin_of(aggregate: RowAggregate) -> SqlOrigin:
    clause, call = part("MEASURES"), aggregate.call
    return origin(f"`{call.function}` in {clause}", clause, call.span)


def aggregate_sql(aggregate: RowAggregate) -> str:
    arguments = map(term_sql, aggregate.arguments)
    ordering = (f"{term_sql(term)} {words}" for term, words in aggregate.ordering)
    sql = call_of_aggregate(aggregate.call, arguments, ordering, rows_sql(aggregate))
    return with_origin(sql, origin_of(aggregate))


def rows_sql(aggregate: RowAggregate, variables: Sequence[str] = ()) -> str:
    """Which of the match's rows an aggregate is over, as SQL; empty where it is all of them.

    variables: all that a row may be mapped to; none where there may be no row.
    """
    tests = []
    if set(aggregate.variables) != set(variables):
        tests.append(f"{VARIABLE} IN ({', '.join(map(string_literal, aggregate.variables))})")
    if aggregate.last is not None:
        tests.append(f"{POSITION} <= {wire.read(aggregate.last)}")
    if aggregate.condition is not None:
        tests.append(f"({term_sql(aggregate.condition)})")
    return " AND ".join(tests)


def term_sql(term: RowTerm) -> str:
    return "".join(wire.read(piece) if isinstance(piece, int) else piece for piece in term)
