"""Return the matches of a graph of matches: `unwind_graph`.

A graph has the *pointers* of the buffer in which all matches of a partition share their events. A
match is a path along pointers. The events of a graph do not leave Spark: Python gets only the
pointers. For each match, Python returns the indices of its pointers in the partition's array of
pointers, and Spark selects the events by these indices.

Source: SASE+, "The shared versioned match buffer" (retrieval).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from matchrec.errors import calls
from matchrec.plan.match_plan import MatchPlan, list_states
from matchrec.plan.text import quote_name, quote_string
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.types import normalize_columns

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
