"""`progress` shows the tasks or the rows of a query while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from threading import Thread
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console

import matchrec
from matchrec.spark.progress import ReportedTasks, Tasks, watch_tasks
from matchrec.spark.session import is_connect

CLAUSE = "PARTITION BY k ORDER BY t MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS v > PREV(v)"


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Return two partitions with two rises each."""
    rows = [(key, t, v) for key in "xy" for t, v in enumerate([1, 2, 0, 1, 2])]
    return spark.createDataFrame(rows, "k string, t int, v int")


def make_slow_task(
    seconds: float,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function that passes batches on after some seconds, so that its task can be seen."""

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches after a pause."""
        time.sleep(seconds)
        yield from batches

    return wait


@contextmanager
def run_in_thread(frame: DataFrame) -> Iterator[Thread]:
    """Run a query in another thread, and wait for it at the end."""
    thread = Thread(target=frame.collect)
    thread.start()
    try:
        yield thread
    finally:
        thread.join()


def test_a_query_inside_returns_its_rows(spark: SparkSession, rows: DataFrame) -> None:
    with matchrec.progress(spark):
        assert len(matchrec.match_recognize(rows, CLAUSE).collect()) == 4


def test_tasks_are_seen_while_they_run(spark: SparkSession) -> None:
    seconds = 5 if is_connect(spark) else 0.6  # a server reports every two seconds
    frame = spark.range(0, 2, 1, 2).mapInArrow(make_slow_task(seconds), "id bigint")
    with watch_tasks(spark) as tasks:
        assert tasks() == Tasks()
        with run_in_thread(frame) as query:
            seen_tasks = Tasks()
            while seen_tasks.total == 0 and query.is_alive():
                seen_tasks = tasks()
                time.sleep(0.02)
    assert seen_tasks.total == 2
    assert 0 <= seen_tasks.finished <= 2


def test_rows_are_counted_where_workers_run_in_this_program(
    spark: SparkSession, rows: DataFrame, request: pytest.FixtureRequest
) -> None:
    on_sail = request.config.getoption("--on") == "sail"
    with watch_tasks(spark) as tasks:
        matchrec.match_recognize(rows, CLAUSE).collect()
        assert tasks().rows_read == (10 if on_sail else 0)


def test_a_terminal_shows_the_progress(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = StringIO()
    console = Console(file=output, force_terminal=True, width=100)
    monkeypatch.setattr("matchrec.spark.progress.find_console", lambda: console)
    with matchrec.progress(spark):
        spark.range(0, 2, 1, 2).mapInArrow(make_slow_task(1.3), "id bigint").collect()
    assert "no task yet, 0 s" in output.getvalue()
    assert ", 1 s" in output.getvalue()


def test_a_file_shows_nothing(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    with matchrec.progress(spark):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_line_says_the_share_of_tasks_or_the_rows() -> None:
    assert str(Tasks(37, 212)) == " 17 % of 212 tasks"
    assert str(Tasks(rows_read=1200)) == "1,200 rows read"


def test_a_server_reports_stages_until_the_query_is_done() -> None:
    reported = ReportedTasks()
    stages = [
        SimpleNamespace(num_tasks=4, num_completed_tasks=4),
        SimpleNamespace(num_tasks=6, num_completed_tasks=1),
    ]
    reported(stages=stages, inflight_tasks=2, operation_id="1", done=False)
    assert reported.read() == Tasks(5, 10)
    reported(stages=stages, inflight_tasks=0, operation_id="1", done=True)
    assert reported.read() == Tasks()


def test_arguments_are_checked() -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="progress"):
        matchrec.progress(1)  # type: ignore[arg-type]


def test_a_cell_without_widgets_has_a_line(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("matchrec.spark.progress.find_console", lambda: Console(force_jupyter=True))
    with matchrec.progress(spark):
        spark.range(0, 2, 1, 2).mapInArrow(make_slow_task(1.3), "id bigint").collect()
    *lines, last, _ = capsys.readouterr().out.split("\r")
    assert any(line.rstrip().endswith(", 1 s") for line in lines)
    assert last.strip() == ""
