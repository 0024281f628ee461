"""Turns the compressed form into matches: follows the pointers of a partition by version.

Events do not leave Spark: Python sees the pointers only and answers with the places of each match's
events in the partition's array of pointers.
Source: SASE+, "The shared versioned match buffer" (retrieval).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sql

from matchrec.engine.selection.graph import is_compatible
from matchrec.errors.calls import no_match_graph
from matchrec.plan.compressed import states_of_variables
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text.sql_text import quoted, string_literal
from matchrec.spark.sessions.interpreter import able_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
        raise no_match_graph(graph.columns)
    variables = graph.schema["state"].metadata[STATES]
    shown = graph.schema["state"].metadata[KEYS]
    keys = [quoted(name) for name in graph.columns[: graph.columns.index("state")]]
    grouped = graph.groupBy(*keys).agg(
        sql.collect_list(sql.struct("event", *POINTER)).alias("__pointers")
    )
    pointers = sql.expr(
        f"transform(__pointers, p -> struct({', '.join(f'p.{name}' for name in POINTER)}))"
    )
    follow = sql.udf(untyped_paths, "array<array<int>>")
    with able_workers(graph.sparkSession):
        one_each = grouped.select("*", sql.explode(follow(pointers)).alias("__path"))
    return one_each.selectExpr(
        *keys[:shown], *(events(name, variables[name]) for name in variables)
    )


def events(variable: str, states: Sequence[str]) -> str:
    """The array of a variable's events in one match."""
    names = ", ".join(string_literal(state) for state in states)
    places = f"filter(__path, i -> __pointers[i].state IN ({names}))"
    return f"transform({places}, i -> __pointers[i].event) AS {quoted(variable)}"


def untyped_paths(pointers):  # type: ignore[no-untyped-def]
    """`paths` without type hints, from which PySpark would choose how rows reach it."""
    return paths(pointers)


def paths(pointers: Sequence[Any]) -> list[list[int]]:
    """For each pointer that completes a match, the places of its match's pointers in order."""
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
