"""On Sail, the number of tasks follows the size of the input, and no row depends on it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from weakref import ref

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import memory
from matchrec.spark.backends import find_backend
from matchrec.spark.sail import backend, sizes

ROWS = 6_000


@pytest.fixture(autouse=True)
def _only_on_sail(request: pytest.FixtureRequest) -> None:
    """Skip the test unless it runs on Sail."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark chooses the number of tasks")


def write_files(folder: Path, rows: int, files: int = 3) -> str:
    """Write rows as Parquet files, and return their folder."""
    folder.mkdir()
    for first in range(files):
        numbers = list(range(first, rows, files))
        parquet.write_table(pa.table({"id": numbers}), folder / f"{first}.parquet")
    return str(folder)


def plan_rows(rows: DataFrame) -> DataFrame:
    """Return a DataFrame with its plan, as the backend plans each input."""
    sizes.remember_plan(rows, rows._explain_string(extended=True))  # type: ignore[operator]
    return rows


def test_rows_of_files_are_estimated(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "with a space", ROWS)
    assert sizes.estimate_input_rows(spark.read.parquet(folder)) == pytest.approx(ROWS, rel=0.05)
    filtered = spark.read.parquet(folder).where("id < 10").selectExpr("id % 3 AS k")
    assert sizes.estimate_input_rows(filtered) == pytest.approx(ROWS, rel=0.05)
    twice = plan_rows(filtered.union(filtered))
    assert sizes.estimate_input_rows(twice) == pytest.approx(2 * ROWS, rel=0.05)
    lines = tmp_path / "lines.csv"
    csv.write_csv(pa.table({"id": range(640)}), str(lines))
    line_rows = spark.read.csv(str(lines))
    assert sizes.estimate_input_rows(line_rows) == round(
        lines.stat().st_size / sizes.BYTES_PER_LINE
    )


def test_rows_that_are_in_no_file_are_not_estimated(spark: SparkSession) -> None:
    assert sizes.estimate_input_rows(spark.range(ROWS)) is None
    assert sizes.list_local_files(["s3://bucket/a.parquet", "file:///tmp/a%20b.parquet"]) == [
        Path("/tmp/a b.parquet")
    ]


def test_a_dataframe_is_not_kept(spark: SparkSession, tmp_path: Path) -> None:
    """PySpark's `inputFiles` would keep the DataFrame in memory."""
    folder = write_files(tmp_path / "rows", ROWS)
    rows = spark.read.parquet(folder)
    assert sizes.estimate_input_rows(rows) == pytest.approx(ROWS, rel=0.05)
    frame = ref(rows)
    del rows
    gc.collect()
    assert frame() is None


def test_a_missing_file_is_no_error(spark: SparkSession, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "rows", ROWS)
    rows = spark.read.parquet(folder)
    for path in Path(folder).iterdir():
        path.unlink()
    assert sizes.estimate_input_rows(rows) is None


def list_planned_files(spark: SparkSession, *folders: str) -> list[Path]:
    """Return the files that the plan of all rows of some folders names, sorted by their paths."""
    rows = spark.read.parquet(folders[0])
    for folder in folders[1:]:
        rows = rows.union(spark.read.parquet(folder))
    plan = rows._explain_string(extended=True)  # type: ignore[operator] -- of Connect
    return sorted(sizes.find_planned_files(plan))


def test_a_plan_names_files(spark: SparkSession, tmp_path: Path) -> None:
    """A plan that leaves out files, or a name that cannot be read from it, gives no files."""
    signs = write_files(tmp_path / "a #ü", ROWS, files=2)
    assert list_planned_files(spark, signs) == sorted(Path(signs).iterdir())
    separator = write_files(tmp_path / "a, b", ROWS, files=2)
    assert list_planned_files(spark, separator) == [], "`, ` also separates the names in a plan"
    glob = write_files(tmp_path / "a [0], {b} #%41 ü", ROWS, files=2)
    assert list_planned_files(spark, glob) == [], "for Sail, `[0]` and `{b}` are patterns of names"
    other = write_files(tmp_path / "with a space", ROWS)
    assert list_planned_files(spark, other) == sorted(Path(other).iterdir())
    third = write_files(tmp_path / "third", ROWS, files=1)
    both = [*Path(other).iterdir(), *Path(third).iterdir()]
    assert list_planned_files(spark, other, third) == sorted(both)
    assert list_planned_files(spark, third, third) == 2 * list(Path(third).iterdir())
    many = write_files(tmp_path / "many", ROWS, files=90)
    assert list_planned_files(spark, many) == [], "the plan names only the first of many files"
    for path in Path(third).iterdir():
        path.rename(path.with_suffix(".moved"))
    plan = f"DataSourceExec: file_groups={{1 group: [[{third[1:]}/0.parquet]]}}"
    assert sizes.find_planned_files(plan) == []
    assert sizes.find_planned_files(plan.replace(".parquet", ".moved")) == [Path(third) / "0.moved"]


def test_a_large_input_has_more_tasks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spark.read.parquet(write_files(tmp_path / "rows", ROWS))
    session = find_backend(spark)
    assert session.count_tasks(rows) == 3  # for two cores
    for rows_per_task, tasks in ((ROWS, 3), (ROWS // 20, 20), (1, backend.MAX_TASKS)):
        monkeypatch.setattr(backend, "ROWS_PER_TASK", rows_per_task)
        assert session.count_tasks(rows) == pytest.approx(tasks, abs=1)


# Keys as SQL over `id`, and as functions of it.
KEYS: dict[str, tuple[str, Callable[[int], object]]] = {
    "four keys": ("id % 4", lambda id_: id_ % 4),
    "one key": ("1", lambda _: 1),
    "one text": ("'x'", lambda _: "x"),
    "only NULL": ("CAST(NULL AS INT)", lambda _: None),
    "NULL and others": ("nullif(id % 5, 0)", lambda id_: id_ % 5),
    "skewed": (
        "CASE WHEN id % 10 < 8 THEN 0 ELSE id % 100 END",
        lambda id_: 0 if id_ % 10 < 8 else id_ % 100,
    ),
    "more keys than tasks": ("id % 1000", lambda id_: id_ % 1000),
    "both zeros, and NaN": (
        "element_at(array(0D, -0D, double('NaN')), CAST(id % 3 AS INT) + 1)",
        lambda id_: id_ % 3 == 2,
    ),
}
RISES = """PARTITION BY k ORDER BY t MEASURES A.t AS a, B.t AS b AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A B) DEFINE B AS x > PREV(x)"""


def find_rises(find_key: Callable[[int], object]) -> list[tuple[int, int]]:
    """Return the pairs of neighbouring rows with one key whose second row has the greater x."""
    rises = []
    row_before: dict[object, int] = {}
    for row in range(ROWS):
        key = find_key(row)
        before = row_before.get(key)
        if before is not None and row * 7 % 11 > before * 7 % 11:
            rises.append((before, row))
        row_before[key] = row
    return sorted(rises)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("rows_per_task", [ROWS, ROWS // 16, 1])
def test_rows_do_not_depend_on_the_number_of_tasks(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    rows_per_task: int,
) -> None:
    monkeypatch.setattr(backend, "ROWS_PER_TASK", rows_per_task)
    text, find_key = KEYS[key]
    rows = spark.read.parquet(write_files(tmp_path / "rows", ROWS))
    rows = rows.selectExpr(f"{text} AS k", "id AS t", "id * 7 % 11 AS x")
    matches = matchrec.match_recognize(rows, RISES).select("a", "b").collect()
    assert sorted(map(tuple, matches)) == find_rises(find_key)


def test_no_rows_have_no_matches(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "ROWS_PER_TASK", 1)
    rows = spark.read.parquet(write_files(tmp_path / "rows", ROWS)).where("id < 0")
    clause = "PARTITION BY id ORDER BY -id PATTERN (A) DEFINE A AS id >= 0"
    assert matchrec.match_recognize(rows, clause).collect() == []
    parquet.write_table(pa.table({"id": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    empty = spark.read.parquet(str(tmp_path / "none.parquet"))
    assert matchrec.match_recognize(empty, clause).collect() == []


@pytest.mark.parametrize("call", ["query", "rule set", "coverage"])
def test_a_partition_without_room_is_named(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(memory, "has_room", lambda _: False)  # workers are threads of this process
    rows = spark.createDataFrame([(1, "a"), (2, "a")], "id int, key string")
    pattern = "PATTERN (A B) DEFINE B AS B.id > A.id"
    query = matchrec.query(rows, f"PARTITION BY key ORDER BY id {pattern}")
    rules = matchrec.match_rules(rows, {"rises": pattern}, partition_by="key", order_by="id")
    run = {"query": query.collect, "rule set": rules.matches.collect, "coverage": query.coverage}
    with pytest.raises(PythonException) as caught:
        run[call]()
    run_error = matchrec.MatchRecognizeRunError.from_exception(caught.value)
    assert run_error is not None
    assert run_error.message.startswith("a Python worker has too little memory for a partition: ")
    assert run_error.notes == ("the last of these rows is in the partition with `key` = 'a'",)
