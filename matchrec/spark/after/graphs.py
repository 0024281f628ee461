"""Return the matches of a graph of matches: `unwind_graph`.

A graph has the *pointers* of the buffer in which all matches of a partition share their events. A
match is a path along pointers. For `SEQ(Login a, Error b) WHERE skip_till_any_match`, this graph

    index    event    state, row    version    previous_state, previous_row    completes
    0        Login    a, 1          1          NULL                            false
    1        Error    b, 2          1.0        a, 1                            true
    2        Error    b, 3          1.1        a, 1                            true

has two matches, whose paths are [0, 1] and [0, 2].

1. Spark collects the pointers of each partition in an array.
2. `list_paths` runs in Python. It gets the pointers without their events, and returns the path of
   each match: indices of the array.
3. Spark selects the events of each variable by these indices.

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

# The column with the pointers of a partition, as an array of structs.
POINTERS = "__pointers"
# The column with the path of a match: the indices of its pointers in the array POINTERS, in the
# order of the rows.
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
    metadata = graph.schema["state"].metadata
    states_by_variable: dict[str, list[str]] = metadata[STATES_METADATA]
    partition_column_count: int = metadata[KEY_COUNT_METADATA]

    key_fields = graph.schema.fields[: graph.columns.index("state")]
    keys = [sql.expr(column) for column in normalize_columns(key_fields)]
    collect_pointers = sql.collect_list(sql.struct("event", *POINTER_COLUMNS)).alias(POINTERS)
    partitions = graph.groupBy(*keys).agg(collect_pointers)

    pointer_fields = ", ".join(f"p.{name}" for name in POINTER_COLUMNS)
    pointers = sql.expr(f"transform({POINTERS}, p -> struct({pointer_fields}))")
    # PySpark would choose by type hints how rows reach the function. A lambda has no type hints.
    find_paths = sql.udf(lambda pointers: list_paths(pointers), "array<array<int>>")  # noqa: PLW0108
    with use_own_interpreter(graph.sparkSession):
        matches = partitions.select("*", sql.explode(find_paths(pointers)).alias(PATH))

    partition_columns = [quote_name(field.name) for field in key_fields[:partition_column_count]]
    events = [write_events(name, states) for name, states in states_by_variable.items()]
    return matches.selectExpr(*partition_columns, *events)


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
    """Return the paths of the matches of a partition, see the docstring of the module.

    A match is followed backwards from its last pointer, which completes it. Each pointer names the
    state and the row of the entry before it, and its version chooses one of this entry's pointers.

    Args:
        pointers: the pointers of the partition, with the fields of `POINTER_COLUMNS`.
    """
    indices_by_entry: dict[tuple[str, int], list[int]] = {}
    for index, pointer in enumerate(pointers):
        indices_by_entry.setdefault((pointer.state, pointer.row), []).append(index)
    versions = [tuple(pointer.version) for pointer in pointers]
    paths = []
    for last_index, last_pointer in enumerate(pointers):
        if not last_pointer.completes:
            continue
        path = [last_index]
        index = last_index
        while pointers[index].previous_row is not None:
            previous_entry = pointers[index].previous_state, pointers[index].previous_row
            candidates = indices_by_entry[previous_entry]
            index = find_compatible_pointer(candidates, versions, versions[index])
            path.append(index)
        path.reverse()
        paths.append(path)
    return paths


def find_compatible_pointer(
    candidates: Sequence[int], versions: Sequence[tuple[int, ...]], version: tuple[int, ...]
) -> int:
    """Return the pointer of an entry with which a version is compatible. There is exactly one.

    Args:
        candidates: the indices of the pointers of the entry.
        versions: the version of each pointer of the partition.
        version: the version of the pointer after it.
    """
    from matchrec.search.graph import is_compatible

    (index,) = [
        candidate for candidate in candidates if is_compatible(version, versions[candidate])
    ]
    return index
