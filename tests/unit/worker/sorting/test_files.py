"""Files of sorting: their folder, and that none of them is left, however a stream ends."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from matchrec.errors import MatchRecognizeRunError
from matchrec.worker import internal_names
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.sorting import spills
from matchrec.worker.sorting.sort import sort_batches

SORTING = Sorting((), (SortColumn("o", descending=False, nulls_first=True),))
ROWS, BUDGET = 1 << 18, 1000  # of a batch; bytes in memory


@pytest.fixture(autouse=True)
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that Spark has for its workers; the other one is missing."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path}/missing,{tmp_path}")
    return tmp_path


def make_batches(count: int = 20) -> Iterator[pa.RecordBatch]:
    """Yield batches of 100 rows, which have numbers from the greatest to the least."""
    for batch in range(count, 0, -1):
        order = pa.array(range(batch * 100, batch * 100 - 100, -1))
        yield pa.record_batch([order, pa.array([0] * 100)], ["o", internal_names.FIRST_BITS])


def list_open_files(folder: Path) -> list[str]:
    """Return the files of a folder that this process has open, also those without a name."""
    paths = []
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # of the folder itself
            paths.append(str(path.readlink()))
    return [path for path in paths if path.startswith(str(folder))]


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of open files")


def test_files_are_where_spark_writes(local: Path) -> None:
    assert spills.find_folder() == str(local)


def test_files_are_where_the_system_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS")
    assert spills.find_folder() is None


@needs_proc
def test_files_have_no_names_and_are_closed_at_the_end(local: Path) -> None:
    batches = sort_batches(make_batches(), SORTING, ROWS, BUDGET)
    next(batches)
    assert list_open_files(local)
    assert [*local.iterdir()] == []
    assert sum(batch.num_rows for batch in batches) < 2000
    assert list_open_files(local) == []


@needs_proc
def test_files_are_closed_when_the_consumer_stops(local: Path) -> None:
    batches = sort_batches(make_batches(), SORTING, ROWS, BUDGET)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert list_open_files(local) == []


@needs_proc
def test_files_are_closed_when_rows_fail(local: Path) -> None:
    def yield_and_fail() -> Iterator[pa.RecordBatch]:
        """Yield batches, and raise an error after the last one."""
        yield from make_batches()
        assert list_open_files(local)
        raise KeyError

    with pytest.raises(KeyError):
        next(sort_batches(yield_and_fail(), SORTING, ROWS, BUDGET))
    assert list_open_files(local) == []


def test_the_error_names_the_full_disk(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_for_full_disk(*_: object, **__: object) -> None:
        """Raise the error of a full disk."""
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spills, "TemporaryFile", fail_for_full_disk)
    with pytest.raises(
        MatchRecognizeRunError, match=f"the disk of {local}, where rows are sorted, is full"
    ):
        list(sort_batches(make_batches(), SORTING, ROWS, BUDGET))


@pytest.mark.slow  # a program of its own
def test_the_error_for_a_file_that_may_not_grow(local: Path) -> None:
    """The system's own limit of the size of a file, as a quota of a disk is one."""
    program = (
        "import resource; from tests.unit.worker.sorting.test_files import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "list(sort_batches(make_batches(), SORTING, ROWS, BUDGET))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert f"the disk of {local}, where rows are sorted, is full" in ended.stderr
    assert [*local.iterdir()] == []


def test_the_error_names_the_deleted_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder still existed when it was chosen."""
    gone = tmp_path / "gone"
    monkeypatch.setattr(spills, "find_folder", lambda: str(gone))
    with pytest.raises(MatchRecognizeRunError) as raised:
        list(sort_batches(make_batches(), SORTING, ROWS, BUDGET))
    assert raised.value.message == (
        f"the folder {gone}, where rows are sorted, cannot be written to: No such file or directory"
    )
    assert "TMPDIR" in raised.value.hint


@needs_proc
def test_a_folder_that_goes_while_rows_are_sorted(local: Path) -> None:
    """Files without a name stay. New files are in the folder of the system."""
    (inside := local / "inside").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_DIRS", str(inside))

        def removing() -> Iterator[pa.RecordBatch]:
            yield from make_batches(10)
            inside.rmdir()
            yield from make_batches(10)

        result = pa.Table.from_batches(sort_batches(removing(), SORTING, ROWS, BUDGET))
    assert result["o"].to_pylist() == sorted([*range(1, 1001)] * 2)


def test_few_files_are_open_at_a_time(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matchrec.worker.sorting.spills.SPILLS_PER_MERGE", 4)
    most = 0

    def yield_and_count_files() -> Iterator[pa.RecordBatch]:
        """Yield batches, and note the largest number of open files before each of them."""
        nonlocal most
        for batch in make_batches(40):
            most = max(most, len(list_open_files(local)))
            yield batch

    result = pa.Table.from_batches(sort_batches(yield_and_count_files(), SORTING, ROWS, BUDGET))
    assert result["o"].to_pylist() == [*range(1, 4001)]
    assert 0 < most <= 9


@pytest.mark.slow
def test_a_killed_process_leaves_nothing(local: Path) -> None:
    program = (
        "import os, signal; from tests.unit.worker.sorting.test_files import *\n"
        "next(sort_batches(make_batches(), SORTING, ROWS, BUDGET))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL
    assert [*local.iterdir()] == []
