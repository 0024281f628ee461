"""Results that hold rows as values → those rows: arrays of matched rows, graphs of matches.

Rows and matches share columns, such as those of PARTITION BY. One that both have comes out once,
and each row is checked to have the value of its match.

Of a graph, events do not leave Spark: Python sees the pointers only and answers with the places of
each match's events in the partition's array of pointers.
Source: SASE+, "The shared versioned match buffer" (retrieval).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, StructField, StructType

from matchrec.errors import calls
from matchrec.output.measure_reader import ROW
from matchrec.plan.expression import CLASSIFIER_FIELD
from matchrec.plan.match_plan import MatchPlan, states_of_variables
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import quoted, string_literal
from matchrec.spark.backends import runner_of
from matchrec.spark.environment import able_workers
from matchrec.spark.types import columns_in_one_form
from matchrec.worker.wire import SelectItem


def explode_rows(result: DataFrame, column: str | None) -> DataFrame:
    """The rows of all matches of a result. column: that has them, None for MATCHED_ROWS()."""
    is_sensitive = runner_of(result.sparkSession).settings["spark.sql.caseSensitive"] == "true"
    names = InputColumns(tuple(result.columns), None, is_sensitive)
    rows, fields = column_of_rows(result.schema, names, column)
    of_matches = [field for field in result.schema.fields if field.name != rows]
    own = (quoted(field.name) for field in of_matches)
    exploded = result.selectExpr(*own, f"explode({quoted(rows)}) AS {ROW}")
    return exploded.selectExpr(*map(str, items(of_matches, fields, names.same)))


def items(
    of_matches: list[StructField], row: StructType, same: Callable[[str, str], bool]
) -> Iterator[SelectItem]:
    """The columns of a match, then what only its rows have."""
    left = list(row.fields)
    for one in of_matches:
        found = next((field for field in left if same(field.name, one.name)), None)
        if found is None:
            yield SelectItem(quoted(one.name), quoted(one.name))
        else:
            left.remove(found)
            yield SelectItem(of_both(one, found), quoted(one.name))
    for field in left:
        yield SelectItem(of_row(field), quoted(field.name))


def of_row(field: StructField) -> str:
    return f"{ROW}.{quoted(field.name)}"


def of_both(of_match: StructField, of_row_: StructField) -> str:
    """A column that match and row have, as SQL that fails where they differ."""
    if of_match.dataType != of_row_.dataType:
        kind, own = (one.dataType.simpleString() for one in (of_match, of_row_))
        raise calls.column_of_other_type(name=of_match.name, of_match=kind, of_row=own)
    value, error = of_row(of_row_), string_literal(calls.other_value(of_match.name))
    return f"IF({quoted(of_match.name)} <=> {value}, {value}, raise_error({error}))"


def column_of_rows(
    schema: StructType, names: InputColumns, column: str | None
) -> tuple[str, StructType]:
    """The column that has the rows of each match, and their type."""
    arrays = ((one.name, one.dataType) for one in schema if isinstance(one.dataType, ArrayType))
    held = [(name, array.elementType) for name, array in arrays]
    structs = [(name, row) for name, row in held if isinstance(row, StructType)]
    if column is not None:
        found = [one for one in structs if names.same(one[0], column)]
    else:
        found = [one for one in structs if one[1].names[-1:] == [CLASSIFIER_FIELD]]
    if not found:
        raise calls.no_rows(column, names.names, [name for name, _ in structs])
    if len(found) > 1:
        raise calls.several_rows(columns=[name for name, _ in found])
    return found[0]


# Metadata of the column of states: those of each variable, and how many of the keys before it are
# those of `partition_by`, the others being what the query's matches agree on.
STATES = "matchrec.states"
KEYS = "matchrec.keys"
POINTER = ("state", "row", "version", "previous_state", "previous_row", "completes")


def mark_graph(graph: DataFrame, plan: MatchPlan) -> DataFrame:
    """Mark the graph of a plan with what `unwind_graph` needs to know of it."""
    metadata = {STATES: states_of_variables(plan), KEYS: len(plan.partition_by)}
    return graph.withMetadata("state", metadata)


def unwind_graph(graph: DataFrame) -> DataFrame:
    """The matches that a graph holds. Raises MatchRecognizePlanError for any other DataFrame."""
    if "state" not in graph.columns or STATES not in graph.schema["state"].metadata:
        raise calls.no_match_graph(columns=graph.columns)
    variables = graph.schema["state"].metadata[STATES]
    shown = graph.schema["state"].metadata[KEYS]
    fields = graph.schema.fields[: graph.columns.index("state")]
    keys = [quoted(one.name) for one in fields]
    every = sql.collect_list(sql.struct("event", *POINTER)).alias("__pointers")
    grouped = graph.groupBy(*map(sql.expr, columns_in_one_form(fields))).agg(every)
    parts = ", ".join(f"p.{name}" for name in POINTER)
    pointers = sql.expr(f"transform(__pointers, p -> struct({parts}))")
    follow = sql.udf(lambda found: paths(found), "array<array<int>>")  # noqa: PLW0108 -- see `paths`
    with able_workers(graph.sparkSession):
        each = grouped.select("*", sql.explode(follow(pointers)).alias("__path"))
    return each.selectExpr(*keys[:shown], *(events(name, variables[name]) for name in variables))


def events(variable: str, states: Sequence[str]) -> str:
    names = ", ".join(string_literal(state) for state in states)
    places = f"filter(__path, i -> get(__pointers, i).state IN ({names}))"
    return f"transform({places}, i -> get(__pointers, i).event) AS {quoted(variable)}"


def paths(pointers: Sequence[Any]) -> list[list[int]]:
    """For each pointer that completes a match, the places of its match's pointers in order.

    From its type hints PySpark would choose how rows reach it.
    """
    from matchrec.search.graph import is_compatible

    entries: dict[tuple[str, int], list[int]] = {}
    for place, pointer in enumerate(pointers):
        entries.setdefault((pointer.state, pointer.row), []).append(place)
    versions = [tuple(pointer.version) for pointer in pointers]

    def path(place: int) -> Iterator[int]:
        yield place
        while pointers[place].previous_row is not None:
            entry = entries[pointers[place].previous_state, pointers[place].previous_row]
            (place,) = (one for one in entry if is_compatible(versions[place], versions[one]))
            yield place

    complete = (place for place, pointer in enumerate(pointers) if pointer.completes)
    return [list(path(place))[::-1] for place in complete]
