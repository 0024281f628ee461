"""Each message about a limit says how to raise the limit, or how to stay below it."""

from __future__ import annotations

from importlib import import_module
from inspect import signature

from matchrec.errors.language import SQL
from tests.unit.errors.catalogue import list_functions, make_example

LIMIT_FIELDS = {"limit", "mebibytes"}
"""The fields of messages that hold a limit, or what has reached it."""

WAYS = {
    "bound_too_large": "{n,}",
    "looks_too_far_back": "PREV(x, n)",
    "no_room_for_matches": ".aggregate(...)",
    "no_room_for_search": "spark.executor.memoryOverhead",
    "not_a_number_of_matches": "FIRST 10 MATCHES",
    "not_a_number_of_rows": "WITHIN 20 ROWS",
    "offset_too_large": "a number of rows that a partition can have",
    "operations_nested_too_deep": "FROM (SELECT *, ... AS y FROM t)",
    "partition_out_of_memory": "spark.executor.memoryOverhead",
    "partition_too_large": "subquery in FROM",
    "pattern_nested_too_deep": "remove groups",
    "pattern_too_large": SQL.advice_on_size,
    "row_too_large": "event_columns",
    "rows_too_large": "ONE ROW PER MATCH",
    "stream_out_of_memory": "spark.executor.pyspark.memory",
    "stream_state_too_large": "spark.executor.pyspark.memory",
    "too_many_combinations": "several sweeps",
    "too_many_events": "leave WITHIN out",
    "too_many_operations": "FROM (SELECT *, ... AS y FROM t)",
    "too_many_steps": "max_steps",
    "too_many_times": "times_or_more(n)",
    "waiting_rows_out_of_memory": "spark.executor.memoryOverhead",
    "worker_out_of_memory": "spark.executor.pyspark.memory",
}


def list_limits() -> dict[str, str]:
    """Return the hint of each message about a limit, by the name of its function."""
    hints = {}
    for module, name in list_functions():
        parameters = signature(getattr(import_module(module), name)).parameters
        if LIMIT_FIELDS & set(parameters):
            error = make_example(module, name)
            hints[name] = (error and error.hint) or ""
    return hints


def test_a_message_of_a_limit_names_the_way_around_it() -> None:
    limits = list_limits()
    assert sorted(limits) == sorted(WAYS)
    for name, way in WAYS.items():
        assert way in limits[name], name
