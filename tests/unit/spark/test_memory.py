"""A worker takes the memory that docs/explanation/memory.md names; errors name what needs more."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest

from matchrec import memory
from matchrec.errors import MatchRecognizeRunError
from matchrec.spark.sail.server import ARROW_POOL_VARIABLE
from matchrec.worker import pieces, row_sizes
from tests.tasks.worker_memory import KINDS, compile_kind, run_worker

ROOT = Path(__file__).parents[3]
# The mebibytes that a worker may use in addition to its libraries: five times a budget of 80, which
# the rows of the first cases exceed.
EXTRA_MEBIBYTES = 400
# Queries that this is enough for: the kind, the rows, the keys, and the bytes of a text.
WITHIN = (
    ("wide rows", 300_000, 100, 300),
    ("ALL ROWS PER MATCH", 300_000, 100, 300),
    ("overlapping matches, ALL ROWS", 20_000, 10, 1000),
    ("one match of all rows", 1_000_000, 1, 0),
    ("event selection, ALL MATCHES", 300_000, 100, 0),
)
FEW = (600, 3, 40)  # rows, keys, bytes of a text
# A query whose runs need much memory, although its rows need little.
MANY_RUNS = "runs that multiply"
# The errors of queries that have too little memory, by their kinds.
BEYOND = {
    "one match of all rows": r"of it, which take \d+ MiB, wait for the end",
    "event selection, ALL MATCHES": r"the whole partition, and [\d,]+ rows of it take \d+ MiB",
    MANY_RUNS: "too little memory for the runs of a search",
}


@pytest.mark.slow
@pytest.mark.larger
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and limits that are kept")
def test_a_worker_keeps_to_its_room() -> None:
    """The worker runs in a separate process with a limited address space."""
    cases = [str(value) for case in WITHIN for value in case]
    command = [sys.executable, "-m", "tests.tasks.worker_memory", str(EXTRA_MEBIBYTES), *cases]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert all(int(line.split()[0]) > 0 for line in ran.stdout.splitlines())


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {MANY_RUNS}))
def test_small_calls_and_batches_hold_the_same_rows(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    expected = [*run_worker(compile_kind(kind), *FEW)]
    monkeypatch.setattr(pieces, "BYTES_PER_SEARCH", 4_000)
    in_calls = [*run_worker(compile_kind(kind), *FEW)]
    monkeypatch.setattr(row_sizes, "BYTES_PER_BATCH", 2_000)
    divided = [*run_worker(compile_kind(kind), *FEW)]
    if expected:
        assert pa.Table.from_batches(in_calls).equals(pa.Table.from_batches(expected))
        assert pa.Table.from_batches(divided).equals(pa.Table.from_batches(expected))
        assert len(divided) > len(expected) or pa.Table.from_batches(expected).nbytes < 2_000


@pytest.mark.parametrize("kind", BEYOND)
def test_a_search_without_enough_memory_says_so(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(memory, "SMALL_SIZE", 0)
    monkeypatch.setattr(memory, "find_room", lambda: 50_000)
    monkeypatch.setattr(pieces, "BYTES_PER_SEARCH", 4_000)
    row_count = 600 if kind == MANY_RUNS else 5_000
    with pytest.raises(MatchRecognizeRunError, match=BEYOND[kind]) as caught:
        list(run_worker(compile_kind(kind), row_count, 1, 0))
    assert caught.value.partition == {"k": 0}
    assert ("`matchrec run --aggregate`" in str(caught.value)) is (kind == MANY_RUNS)
    assert "spark.executor.memoryOverhead" in str(caught.value)


def test_a_row_that_is_too_large_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sizes, "BYTES_PER_BATCH", 100)
    monkeypatch.setattr(row_sizes, "MAX_BYTES_OF_ROW", 100)
    with pytest.raises(MatchRecognizeRunError, match="a row of the result would take"):
        list(run_worker(compile_kind("arrays"), *FEW))


def test_rows_that_are_too_large_together_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an engine in the same program makes large batches of rows. Others pass them on."""
    monkeypatch.setattr(row_sizes, "BYTES_PER_BATCH", 100)
    monkeypatch.setattr(row_sizes, "SAIL_COPIES", 1 << 40)
    monkeypatch.setattr(row_sizes, "makes_queries", Event())
    assert list(run_worker(compile_kind("arrays"), *FEW))
    row_sizes.makes_queries.set()
    with pytest.raises(MatchRecognizeRunError, match="all rows of a match to each of its rows"):
        list(run_worker(compile_kind("arrays"), *FEW))


def test_the_memory_left_is_the_smallest_of_all_limits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in {
        "memory.max": "1000\n",
        "memory.current": "900\n",
        "memory.stat": "anon 600\ninactive_file 200\nactive_file 100\n",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    assert memory.find_room() == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.find_room() > 400


FAULTS = """
import resource, sys, threading
from matchrec.memory import keep_freed_memory
keep_freed_memory()
size = int(sys.argv[1])
def work():
    for _ in range(20):
        [b"x" * size for _ in range(4)]
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    task = threading.Thread(target=work)
    task.start()
    task.join()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""


@pytest.mark.skipif("glibc" not in platform.libc_ver(), reason="needs glibc")
@pytest.mark.parametrize(
    ("variable", "mebibytes"), [("", 2), ("MALLOC_ARENA_MAX", 2), ("GLIBC_TUNABLES", 2), ("", 40)]
)
def test_memory_is_kept_unless_the_environment_says_otherwise(
    variable: str, mebibytes: int
) -> None:
    if mebibytes > 32 and platform.libc_ver()[1] < "2.35":
        pytest.skip("glibc before 2.35 does not keep blocks of this size on its heap")
    environment = {name: value for name, value in os.environ.items() if not is_of_glibc(name)}
    if variable:
        environment[variable] = ""
    command = [sys.executable, "-c", FAULTS, str(mebibytes << 20)]
    ran = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    pages = 20 * (mebibytes << 20) // 4096  # the pages of one block in each of 20 rounds
    assert (int(ran.stdout) < pages // 10) is not bool(variable)


POOL = """
import pyarrow as pa
from matchrec.spark.sail.server import keep_memory
keep_memory()
print(pa.default_memory_pool().backend_name)
"""


@pytest.mark.skipif("glibc" not in platform.libc_ver(), reason="needs glibc")
@pytest.mark.parametrize(("pool", "expected"), [("", "system"), ("mimalloc", "mimalloc")])
def test_arrow_uses_the_system_allocator_unless_the_environment_chooses(
    pool: str, expected: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if not is_of_glibc(name)}
    environment.pop(ARROW_POOL_VARIABLE, None)
    if pool:
        environment[ARROW_POOL_VARIABLE] = pool
    command = [sys.executable, "-c", POOL]
    ran = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == expected


def is_of_glibc(variable: str) -> bool:
    """Return whether glibc reads an environment variable."""
    return variable.startswith(("MALLOC_", "GLIBC_"))


def test_settings_of_the_environment_for_mimalloc_win(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MIMALLOC_")]:
        monkeypatch.delenv(name)
    assert memory.find_mimalloc_settings()["MIMALLOC_ALLOW_THP"] == "0"
    monkeypatch.setenv("MIMALLOC_VERBOSE", "0")
    assert memory.find_mimalloc_settings() == {}
