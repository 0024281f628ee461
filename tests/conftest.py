"""Set up all tests: one Spark session for a run, options, and the choice of the tests to run."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from matchrec.jit import cached_function
from matchrec.jit.first_steps import LateKernel
from matchrec.spark.start.sessions import start_session
from matchrec.spark.tuning import MAX_BYTES
from tests.quick import on_engines
from tests.quick.both_algorithms import compare_algorithms
from tests.quick.scale import (
    FULL,
    INTERPRETED,
    LONG_RUN,
    NIGHT,
    batches,
    choose_settings_of_spark,
    examples,
    is_drawn,
    is_now,
    some_of,
)

# Runs are repeatable and have no deadlines, because the machine may be busy. Only a long run draws
# other examples each time.
settings.register_profile("matchrec", derandomize=LONG_RUN is None, deadline=None)
settings.load_profile("matchrec")
choose_settings_of_spark()


LONG = ("slow", "night")
BENCHMARKS = Path(__file__).parent / "benchmarks"  # their tests run at night
# If no tests are named, a quick run has one in 16 tests, and a full run has the others.
QUICK_PART = 16


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the tests."""
    parser.addoption("--update", action="store_true", help="rewrite expected messages of cases")
    parser.addoption(
        "--on",
        choices=("spark", "connect", "sail"),
        default="sail",
        help="the engine: Sail, Spark, or Spark over Connect",
    )
    parser.addoption("--whole", action="store_true", help="on Spark all tests, and not only a part")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude all that is loaded during collection from garbage collection, because it stays."""
    gc.disable()
    gc.set_threshold(10_000, 10, 100)  # tests are short, and leave little garbage
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Return True for modules without a test in this run, otherwise None (undecided)."""
    if collection_path == BENCHMARKS and not (NIGHT or wants_all_of_some(config)):
        return True
    if not is_part_of_spark(config) or collection_path.suffix != ".py":
        return None
    module = collection_path.relative_to(config.rootpath).as_posix()
    return None if on_engines.may_have_tests_for_spark(module) else True


def is_part_of_spark(config: pytest.Config) -> bool:
    """Return whether the run has only a part of the tests on Spark."""
    if wants_some(config):
        return False
    return config.getoption("--on") == "spark" and not config.getoption("--whole")


def wants_some(config: pytest.Config) -> bool:
    """Return whether the command line names single tests."""
    return any("::" in argument for argument in config.args)


def wants_all_of_some(config: pytest.Config) -> bool:
    """Return whether the command line names tests, files, folders, or words in names (`-k`)."""
    all_tests = {config.rootpath, config.rootpath / "tests"}
    named = {(config.rootpath / argument).resolve() for argument in config.args}
    return bool(config.getoption("keyword")) or not named <= all_tests


@pytest.hookimpl(tryfirst=True)  # before pytest applies -m, because this adds marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that have a larger form, and select the tests of this run."""
    has_all = wants_all_of_some(config) or is_part_of_spark(config)
    for item in items:
        is_quick = has_all or is_drawn(item.nodeid, QUICK_PART)
        is_marked = any(map(item.get_closest_marker, (*LONG, "one_of")))
        if is_marked or has_larger_form(item) or not is_quick:
            item.add_marker(pytest.mark.larger)
    chosen = items
    if not wants_some(config):
        chosen = list(select_tests(items, has_all))
        if is_part_of_spark(config):
            chosen = on_engines.choose_for_spark(chosen)
    if config.getoption("--on") == "sail":
        chosen = on_engines.choose_for_sail(chosen)
    config.hook.pytest_deselected(items=[*set(items).difference(chosen)])
    items[:] = chosen


def select_tests(items: list[pytest.Item], has_all: bool) -> Iterator[pytest.Item]:
    """Yield the tests of this run: slow ones in a full run or at night, and a part of the others.

    Args:
        has_all: whether the run has all tests without a mark.
    """
    for item in items:
        mark = item.get_closest_marker("one_of")
        if item.get_closest_marker("night") is not None:
            runs = NIGHT
        elif item.get_closest_marker("slow") is not None:
            runs = FULL
        elif mark is not None:
            runs = is_now(item.nodeid, *mark.args)
        elif has_all or (FULL and has_larger_form(item)):
            runs = True
        else:
            runs = is_drawn(item.nodeid, QUICK_PART) is not FULL
        if runs:
            yield item


def has_larger_form(item: pytest.Item) -> bool:
    """Return whether a test does more in a larger run.

    It does if its module uses a function of `scale` that says how much to do, unless the test is
    marked as `once`. Such a module must not have the mark `one_of`: with both, a full run would do
    neither what a quick run has done nor all of it.
    """
    assert isinstance(item, pytest.Function)
    names = vars(item.module)
    uses_scale = any(
        names.get(function.__name__) is function for function in (batches, examples, some_of)
    )
    assert not (uses_scale and item.get_closest_marker("one_of")), item.nodeid
    return uses_scale and item.get_closest_marker("once") is None


def start_small_session(on: str = "spark") -> SparkSession:
    """Start a small local session, whose Python workers run the interpreter of the tests."""
    if on == "sail":
        compare_algorithms()  # Sail's workers are threads of this process
        ansi = {"spark.sql.ansi.enabled": "true"}  # not the default of Sail with PySpark 3.5
        return start_session(on, {"spark.sql.session.timeZone": "UTC", **ansi}, cores=2)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("matchrec tests")
    if on == "connect":
        builder = builder.remote("local[2]")
    else:
        builder = builder.master("local[2]").config("spark.ui.enabled", "false")
    if INTERPRETED:
        builder = builder.config("spark.sql.codegen.wholeStage", "false")
        builder = builder.config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    session = (
        builder.config("spark.sql.shuffle.partitions", "1")
        .config(MAX_BYTES, "64m")  # Spark's default, set so that matchrec does not warn about it
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    if on == "spark":
        session.sparkContext.setLogLevel("ERROR")
    return session


@pytest.fixture(autouse=True)
def _first_steps() -> None:
    """Let Python take the first steps of each test of a quick run, as in a new process.

    Then only a test with many steps waits for the compiler. In a full run the first tests use up
    these steps, and the others run compiled code.
    """
    if not FULL and LONG_RUN is None:
        for kernel in cached_function.CACHED_FUNCTIONS:
            if isinstance(kernel, LateKernel):
                kernel.steps_by_python.clear()


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """Yield the session that all tests share."""
    session = start_small_session(request.config.getoption("--on"))
    yield session
    session.stop()
