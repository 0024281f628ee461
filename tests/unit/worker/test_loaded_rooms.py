"""Modules that are loaded to plan a plain query: none that only workers or other queries need."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

PLANNING = """
import sys
import matchrec
from tests.tasks.linking import split_plan, link
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import BIGINT
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.plan.resolve import InputColumns

matchrec.sql
(site,) = parse_sql(
    "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(UP.x) AS top "
    "PATTERN (DOWN+ UP+) DEFINE DOWN AS x < PREV(x), UP AS x > PREV(x))"
).sites
for scope in (RowScope.WORKER, RowScope.SPARK):
    plan, columns = lower_clause(site.clause), InputColumns(("k", "ts", "x"), "t")
    split = split_plan(plan, columns, str, scope=scope)
    link(split, dict.fromkeys(split.columns, BIGINT), "auto", ansi=True)
print(*(name.removeprefix("matchrec.") for name in sys.modules if name.startswith("matchrec.")))
"""

WORKER_MODULES = (
    "search.incremental",
    "search.kernels",
    "search.graph",
    "search.live_runs",
    "search.partial",
    "search.kernel_search",
    "search.path_search",
    "search.buffer_search",
    "search.selection",
    "search.match_lists",
    "search.skip_strategies",
    "conditions.evaluate",
    "jit",
    "output.match_reader",
    "output.rows",
    "worker.sorting.sort",
    "worker.pieces",
    "worker.match",
)
MODULES_OF_OTHER_QUERIES = (
    "explain.charts",
    "conditions.accumulators",
    "conditions.functions.casts",
    "conditions.functions.texts",
    "explain",
    "dialects.rules",
    "dialects.fragments",
    "dialects.translate",
    "patterns.stages",
    "patterns.sase",
    "syntax.lower_windows",
    "syntax.pattern_windows",
    "automaton.compile_stages",
    "automaton.fold_stages",
    "automaton.remaining_steps",
    "explain.pictures",
    "plan.stages",
    "spark.counters",
    "spark.tallies",
    "spark.coverage",
    "spark.rule_sets",
    "spark.streaming",
    "explain.tracing",
    "dialects.writing",
)


def test_planning_loads_no_room_of_workers_or_other_queries() -> None:
    planned = subprocess.run([sys.executable, "-c", PLANNING], check=True, capture_output=True)
    loaded = planned.stdout.decode().split()
    assert "compile.build_query" in loaded
    rooms = WORKER_MODULES + MODULES_OF_OTHER_QUERIES
    assert [room for room in rooms if find_spec(f"matchrec.{room}") is None] == []
    assert [name for name in loaded if is_in(name, rooms)] == []


def is_in(name: str, rooms: tuple[str, ...]) -> bool:
    """Return whether a module is one of these, or in one of them."""
    return any(name == room or name.startswith(f"{room}.") for room in rooms)
