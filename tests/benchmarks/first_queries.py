"""Measure the first query of a process, on an empty and on a warm cache of kernels.

    python -m tests.benchmarks.spark --parts recipes
    python -m tests.benchmarks.spark --parts steps
    python -m tests.benchmarks.first_queries sail        # only on Sail, without Java

`recipes` runs each recipe of the cookbook on Sail, in new processes. Its tables show how long the
first query of a process takes, and how long each kernel compiles.

`steps` shows what the shortcut `max_python_steps` is worth. While a kernel is not compiled, Python
takes the first steps of a search. Each kind of search runs over 1,000 rows, with and without these
steps.

In every process the session has started and has answered another query before the clock starts.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matchrec
from matchrec.jit import callbacks
from matchrec.jit.cached_function import CachedFunction
from matchrec.shortcuts import Shortcuts, use_shortcuts
from tests.benchmarks.fresh_copy import ROOT, FreshCopy, make_fresh_copy
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import count_seconds, median
from tests.benchmarks.options import Options
from tests.pages.blocks import read_blocks
from tests.pages.tables import register_tables

COOKBOOK = ROOT / "docs" / "how-to" / "cookbook"
ENGINES = ("sail", "spark")
AIM = "3 s"
USUAL_STEPS = Shortcuts().max_python_steps

# Queries over 1,000 rows, by the name of the search that they need.
ROWS = """
    SELECT CAST(id % 4 AS STRING) AS k, id AS t, CAST((id * 7919) % 31 AS DOUBLE) AS x
    FROM range(1000)
"""
CLAUSE = """
    SELECT * FROM few_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES sum(x) AS total, LAST(B.x) AS low, count(*) AS n
        ONE ROW PER MATCH AFTER MATCH SKIP {skip}
        PATTERN (A B+ C) {selected}
        DEFINE B AS x < {than}, C AS x > {than})
"""
PAST = "PAST LAST ROW"
SEARCHES = {
    "conditions on the data": CLAUSE.format(skip=PAST, selected="", than="PREV(x)"),
    "conditions on the run": CLAUSE.format(skip=PAST, selected="", than="FIRST(A.x)"),
    "overlapping matches": CLAUSE.format(skip="TO NEXT ROW", selected="", than="PREV(x)"),
    "WITHIN": CLAUSE.format(skip=PAST, selected="WITHIN 40", than="PREV(x)"),
    "SKIP TILL NEXT MATCH": CLAUSE.format(
        skip=PAST, selected="SKIP TILL NEXT MATCH WITHIN 40", than="FIRST(A.x)"
    ),
    "LONGEST MATCH": CLAUSE.format(skip=PAST, selected="LONGEST MATCH", than="PREV(x)"),
}


# What a process measures.


@dataclass(frozen=True)
class FirstQuery:
    """What a process has measured of its first query."""

    # Seconds on the clock, until the rows are there.
    first: float
    # Seconds of the same query once more.
    second: float
    # CPU seconds for each kernel that the first query has compiled or loaded, by its name.
    compiled: dict[str, float]


def measure_recipe(name: str, max_python_steps: int = USUAL_STEPS) -> None:
    """Print what the first query of a recipe takes on Sail.

    Args:
        name: the name of the page, without its ending.
        max_python_steps: how many steps Python takes while a kernel is missing.
    """
    spark = matchrec.session("sail")
    register_tables(spark)
    *statements, query = find_statements(COOKBOOK / f"{name}.md")
    for statement in statements:
        matchrec.sql(spark, statement)
    measure_query(spark, query, max_python_steps)


def find_statements(page: Path) -> list[str]:
    """Return the texts of the views that the first query of a page reads, and of this query."""
    statements = []
    for block in read_blocks(page):
        for call, text in re.findall(
            r'(spark\.sql|matchrec\.query)\("""(.*?)"""\)', block.code, re.S
        ):
            statements.append(text)
            if call == "matchrec.query":
                return statements
    raise AssertionError(f"{page} has no query")


def measure_search(name: str, engine: str, max_python_steps: int = USUAL_STEPS) -> None:
    """Print what the first query takes over few rows.

    Args:
        name: a key of SEARCHES.
        engine: "sail" or "spark".
        max_python_steps: how many steps Python takes while a kernel is missing.
    """
    spark = matchrec.session(engine)
    spark.sql(ROWS).coalesce(1).createOrReplaceTempView("few_rows")
    measure_query(spark, SEARCHES[name], max_python_steps)


def measure_query(spark: Any, query: str, max_python_steps: int) -> None:
    """Print what a query takes the first and the second time, and which kernels the first compiles.

    On Spark the kernels are compiled in other processes, so none are listed.
    """
    warm_up(spark)
    compiled = record_compilation()
    with use_shortcuts(Shortcuts(max_python_steps=max_python_steps)):
        first = count_seconds(lambda: matchrec.sql(spark, query).collect())
        compiled_first = dict(compiled)
        second = count_seconds(lambda: matchrec.sql(spark, query).collect())
    print(json.dumps({"first": first, "second": second, "compiled": compiled_first}))


def warm_up(spark: Any) -> None:
    """Run a query of the engine, and one with a Python function that does nothing."""
    frame = spark.range(10)
    frame.mapInArrow(pass_on, frame.schema).collect()


def pass_on(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the batches unchanged."""
    yield from batches


def record_compilation() -> dict[str, float]:
    """Return a dict that gets the CPU seconds of each kernel that is compiled or loaded."""
    compiled: dict[str, float] = defaultdict(float)

    def record(name: str, action: Callable[[], Any]) -> Any:
        """Run an action that compiles a kernel, and note its CPU time."""
        if not compiled:
            began = time.thread_time()
            start_numba()
            compiled["numba, until it can compile"] = time.thread_time() - began
        began = time.thread_time()
        result = action()
        compiled[name] += time.thread_time() - began
        return result

    compile_kernel, compile_pointer = CachedFunction.compile_for, callbacks.compile_for_c

    def recorded_kernel(function: Any, types: Any, arguments: Any) -> Any:
        """Compile a kernel as `CachedFunction.compile_for` does."""
        name = describe(function.function)
        return record(name, lambda: compile_kernel(function, types, arguments))

    def recorded_pointer(function: Any) -> Any:
        """Compile a function that kernels call, as `callbacks.compile_for_c` does."""
        return record(describe(function), lambda: compile_pointer(function))

    CachedFunction.compile_for = recorded_kernel  # type: ignore[method-assign]
    callbacks.compile_for_c = recorded_pointer  # type: ignore[assignment]
    return compiled


def start_numba() -> None:
    """Load numba, and what it loads before it compiles its first function."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def describe(function: Any) -> str:
    """Return the module and the name of a function, as in `search/kernels/plain.search`."""
    module = function.__module__.removeprefix("matchrec.").replace(".", "/")
    return f"{module}.{function.__name__}"


# The tables.


def run_process(copy: FreshCopy, call: str) -> FirstQuery:
    """Return what a call measures in a new process."""
    code = f"from tests.benchmarks.first_queries import *; {call}"
    return FirstQuery(**json.loads(copy.run_code(code).splitlines()[-1]))


def report_recipes(options: Options) -> Iterator[str]:
    """Yield the tables of the recipes' first queries and of the kernels that they compile."""
    names = [page.stem for page in sorted(COOKBOOK.glob("*.md")) if page.stem != "README"]
    cells = []
    kernels: dict[str, list[float]] = defaultdict(list)
    waiting: dict[str, list[str]] = {}
    with make_fresh_copy() as copy:
        for name in names:
            if options.only not in name:
                continue
            call = f"measure_recipe({name!r})"
            copy.forget_compiled()
            empty = run_process(copy, call)
            copy.forget_compiled()
            compiled = run_process(copy, f"measure_recipe({name!r}, max_python_steps=0)")
            warm = [run_process(copy, call) for _ in range(options.rounds)]
            cells.append(
                [
                    name.replace("_", " "),
                    show_seconds([empty.first]),
                    show_seconds([compiled.first]),
                    show_seconds([run.first for run in warm]),
                    show_seconds([run.second for run in warm]),
                    AIM,
                ]
            )
            for kernel, seconds in compiled.compiled.items():
                kernels[kernel].append(seconds)
            waiting[name] = list(empty.compiled)
    head = ["recipe", "first, empty cache", "all compiled", "first, warm cache", "second", "aim"]
    yield from format_table(head, cells)
    yield ""
    yield from format_table(
        ["kernel", "recipes that need it", "that wait for it", "CPU time"],
        list_kernels(kernels, waiting),
    )


def list_kernels(
    kernels: dict[str, list[float]], waiting: dict[str, list[str]]
) -> Iterator[list[str]]:
    """Yield a line for each kernel, the slowest first.

    Args:
        kernels: CPU seconds of each process that has compiled it, by kernel.
        waiting: the kernels that the first query of a recipe waits for, by recipe.
    """
    for kernel, seconds in sorted(kernels.items(), key=lambda item: -median(item[1])):
        waits = sum(kernel in awaited_kernels for awaited_kernels in waiting.values())
        yield [kernel, str(len(seconds)), str(waits), show_seconds(seconds)]


def show_seconds(figures: Sequence[float]) -> str:
    """Return the median of some seconds."""
    return f"{median(figures):.2f} s"


def report_steps(options: Options, engines: Sequence[str] = ENGINES) -> Iterator[str]:
    """Yield the table of first queries over 1,000 rows, with and without steps by Python."""
    cells = []
    with make_fresh_copy() as copy:
        for engine in engines:
            for name in SEARCHES:
                if options.only in name:
                    row = [f"{engine}, {name}", *measure_steps(copy, engine, name, options)]
                    print(" | ".join(row), file=sys.stderr, flush=True)
                    cells.append(row)
    head = ["first query of 1,000 rows", "empty, Python", "empty, compiled", "warm", "second"]
    yield from format_table(head, cells)


def measure_steps(copy: FreshCopy, engine: str, name: str, options: Options) -> Iterator[str]:
    """Yield the figures of a kind of search.

    These are the first query of a process on an empty cache with and without steps by Python, the
    first one on a warm cache, and a second query on the empty cache with steps by Python.
    """
    usual = f"measure_search({name!r}, {engine!r})"
    by_python, compiled, warm = [], [], []
    for _ in range(options.rounds):
        copy.forget_compiled()
        by_python.append(run_process(copy, usual))
        copy.forget_compiled()
        compiled.append(
            run_process(copy, f"measure_search({name!r}, {engine!r}, max_python_steps=0)")
        )
        warm.append(run_process(copy, usual))
    for runs in (by_python, compiled, warm):
        yield show_seconds([run.first for run in runs])
    yield show_seconds([run.second for run in by_python])


def main() -> None:
    """Print all tables, for the engines that the command line names."""
    options = Options(rounds=1)
    for part in (report_recipes(options), report_steps(options, sys.argv[1:] or ENGINES)):
        print("\n".join(part), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
