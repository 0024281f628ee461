"""Expand results that hold rows as values: arrays of matched rows, and graphs of matches.

`explode_rows` returns the rows of arrays of matched rows:

    sym   falls                                          sym   day   price   classifier
    X     [{X, 2, 80, FALL}, {X, 3, 70, FALL}]     →     X     2     80      FALL
                                                         X     3     70      FALL

Matched rows and their match share columns, such as those of PARTITION BY. The result has such a
column once, and checks that each row has the value of its match.

`unwind_graph` returns the matches of a graph. The events of a graph do not leave Spark: Python gets
only the pointers. For each match, Python returns the indices of its pointers in the partition's
array of pointers, and Spark selects the events by these indices.

Source: SASE+, "The shared versioned match buffer" (retrieval).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, StructField, StructType

from matchrec.errors import calls
from matchrec.output.measure_sql import MATCH_ROW
from matchrec.plan.expression import CLASSIFIER_FIELD
from matchrec.plan.match_plan import MatchPlan, list_states
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import quote_name, quote_string
from matchrec.spark.backends import make_runner
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.types import normalize_columns
from matchrec.worker.wire import SelectItem

# Arrays of matched rows.


def explode_rows(result: DataFrame, column: str | None) -> DataFrame:
    """Return the rows of all matches of a result.

    Args:
        result: a result with a column that has the array of rows of each match.
        column: the name of this column; None for the only column that `MATCHED_ROWS()` has made.

    Raises:
        MatchRecognizePlanError: the result has no such column or several, or a column of the
            matches has another type in the rows.
    """
    settings = make_runner(result.sparkSession).settings
    is_case_sensitive = settings["spark.sql.caseSensitive"] == "true"
    names = InputColumns(tuple(result.columns), None, is_case_sensitive)
    rows_column, row_type = find_rows_column(result.schema, names, column)
    match_fields = [field for field in result.schema.fields if field.name != rows_column]
    match_columns = [quote_name(field.name) for field in match_fields]
    exploded = result.selectExpr(
        *match_columns, f"explode({quote_name(rows_column)}) AS {MATCH_ROW}"
    )
    items = iterate_exploded_columns(match_fields, row_type, names.are_same)
    return exploded.selectExpr(*[str(item) for item in items])


def iterate_exploded_columns(
    match_fields: list[StructField], row_type: StructType, are_same: Callable[[str, str], bool]
) -> Iterator[SelectItem]:
    """Yield the columns of a match, then the columns that only its rows have.

    Args:
        match_fields: the columns of a match.
        row_type: the type of a row.
        are_same: returns whether two names are the same for Spark.

    Raises:
        MatchRecognizePlanError: a column of the match has another type in the rows.
    """
    remaining_fields = list(row_type.fields)  # the columns of rows that are not yielded yet
    for match_field in match_fields:
        name = quote_name(match_field.name)
        row_field = next(
            (field for field in remaining_fields if are_same(field.name, match_field.name)), None
        )
        if row_field is None:
            yield SelectItem(name, name)
        else:
            remaining_fields.remove(row_field)
            yield SelectItem(write_shared_column(match_field, row_field), name)
    for row_field in remaining_fields:
        yield SelectItem(write_row_column(row_field), quote_name(row_field.name))


def write_row_column(field: StructField) -> str:
    """Return SQL of a column of a row."""
    return f"{MATCH_ROW}.{quote_name(field.name)}"


def write_shared_column(match_field: StructField, row_field: StructField) -> str:
    """Return SQL of a column that a match and its rows share.

    When it runs, the SQL raises an error if the value of a row differs from the value of its match.

    Raises:
        MatchRecognizePlanError: the types of the column differ.
    """
    if match_field.dataType != row_field.dataType:
        raise calls.column_types_differ(
            name=match_field.name,
            of_match=match_field.dataType.simpleString(),
            of_row=row_field.dataType.simpleString(),
        )
    value = write_row_column(row_field)
    error = quote_string(calls.write_other_value_message(match_field.name))
    return f"IF({quote_name(match_field.name)} <=> {value}, {value}, raise_error({error}))"


def find_rows_column(
    schema: StructType, names: InputColumns, column: str | None
) -> tuple[str, StructType]:
    """Return the name of the column with the rows of each match, and the type of a row.

    Args:
        schema: the schema of a result.
        names: the names of its columns.
        column: see `explode_rows`.

    Raises:
        MatchRecognizePlanError: the result has no such column or several.
    """
    row_types = {}  # by the indices of the columns, because columns can have the same name
    for index, field in enumerate(schema):
        if isinstance(field.dataType, ArrayType):
            element_type = field.dataType.elementType
            if isinstance(element_type, StructType):
                row_types[index] = element_type
    candidates = []
    for index, row_type in row_types.items():
        name = schema[index].name
        if column is None:
            is_candidate = row_type.names[-1:] == [CLASSIFIER_FIELD]  # as `MATCHED_ROWS()` has
        else:
            is_candidate = names.are_same(name, column)
        if is_candidate:
            candidates.append((name, row_type))
    if not candidates:
        raise calls.no_matched_rows(
            column, names.names, [schema[index].name for index in row_types]
        )
    if len(candidates) > 1:
        raise calls.several_matched_rows(columns=[name for name, _ in candidates])
    return candidates[0]


# Graphs of matches.

# The keys of the metadata of the column `state`: the states of each variable, and how many of the
# columns before `state` are partition columns. The other columns before it hold values that the
# query requires to be equal on all events of a match.
STATES_METADATA = "matchrec.states"
KEY_COUNT_METADATA = "matchrec.keys"

# The columns of a pointer, without its event: the entry that has the pointer (a state and a row),
# the version, the entry before it, and whether the pointer completes a match.
POINTER_COLUMNS = ("state", "row", "version", "previous_state", "previous_row", "completes")

# The columns that only `unwind_graph` uses: the pointers of a partition, as an array of structs,
POINTERS = "__pointers"
# and the indices in this array of the pointers of a match, as an array in the order of the rows.
PATH = "__path"


def mark_graph(graph: DataFrame, plan: MatchPlan) -> DataFrame:
    """Return the graph of a plan's matches, with the metadata that `unwind_graph` needs."""
    metadata = {STATES_METADATA: list_states(plan), KEY_COUNT_METADATA: len(plan.partition_by)}
    return graph.withMetadata("state", metadata)


def unwind_graph(graph: DataFrame) -> DataFrame:
    """Return the matches of a graph: the partition columns, and an array of events per variable.

    Raises:
        MatchRecognizePlanError: the DataFrame is not a graph of matches.
    """
    if "state" not in graph.columns or STATES_METADATA not in graph.schema["state"].metadata:
        raise calls.not_a_match_graph(columns=graph.columns)
    states_by_variable = graph.schema["state"].metadata[STATES_METADATA]
    partition_column_count = graph.schema["state"].metadata[KEY_COUNT_METADATA]
    key_fields = graph.schema.fields[: graph.columns.index("state")]
    keys = [quote_name(field.name) for field in key_fields]
    collect_pointers = sql.collect_list(sql.struct("event", *POINTER_COLUMNS)).alias(POINTERS)
    groups = [sql.expr(column) for column in normalize_columns(key_fields)]
    partitions = graph.groupBy(*groups).agg(collect_pointers)
    pointer_fields = ", ".join(f"p.{name}" for name in POINTER_COLUMNS)
    pointers = sql.expr(f"transform({POINTERS}, p -> struct({pointer_fields}))")
    # PySpark would choose by type hints how rows reach the function. A lambda has no type hints.
    find_paths = sql.udf(lambda pointers: list_paths(pointers), "array<array<int>>")  # noqa: PLW0108
    with use_own_interpreter(graph.sparkSession):
        matches = partitions.select("*", sql.explode(find_paths(pointers)).alias(PATH))
    events = [write_events(name, states) for name, states in states_by_variable.items()]
    return matches.selectExpr(*keys[:partition_column_count], *events)


def write_events(variable: str, states: Sequence[str]) -> str:
    """Return SQL of the array of a variable's events in a match.

    Args:
        variable: the name of the variable, and of the column.
        states: the states whose events belong to the variable.
    """
    state_list = ", ".join(quote_string(state) for state in states)
    indices = f"filter({PATH}, i -> get({POINTERS}, i).state IN ({state_list}))"
    return f"transform({indices}, i -> get({POINTERS}, i).event) AS {quote_name(variable)}"


def list_paths(pointers: Sequence[Any]) -> list[list[int]]:
    """Return the matches of a partition, each as the indices of its pointers in order of the rows.

    A match is followed backwards from its last pointer, which completes it. Each pointer names the
    state and the row of the entry before it. Of the pointers of this entry, exactly one has a
    compatible version.

    Args:
        pointers: the pointers of the partition, with the fields of `POINTER_COLUMNS`.
    """
    from matchrec.search.graph import is_compatible

    indices_by_entry: dict[tuple[str, int], list[int]] = {}
    for index, pointer in enumerate(pointers):
        indices_by_entry.setdefault((pointer.state, pointer.row), []).append(index)
    versions = [tuple(pointer.version) for pointer in pointers]

    def find_path(last_index: int) -> list[int]:
        """Return the indices of the pointers of a match, from the index of its last pointer."""
        path = [last_index]
        index = last_index
        while pointers[index].previous_row is not None:
            entry = pointers[index].previous_state, pointers[index].previous_row
            (index,) = (
                candidate
                for candidate in indices_by_entry[entry]
                if is_compatible(versions[index], versions[candidate])
            )
            path.append(index)
        return path[::-1]

    return [find_path(index) for index, pointer in enumerate(pointers) if pointer.completes]
