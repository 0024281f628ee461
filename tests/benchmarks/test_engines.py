"""The input rows of the benchmark `engines`."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.benchmarks.engine_cases import FILE_BYTES, TickFiles


def test_rows_are_written_in_order_to_several_files(tmp_path: Path) -> None:
    rows = TickFiles(5, 2, FILE_BYTES // 3)
    rows.write(tmp_path / rows.name)
    assert len(list((tmp_path / rows.name).iterdir())) == 3
    columns = pq.read_table(tmp_path / rows.name, columns=["symbol", "ts"]).to_pydict()
    assert columns["symbol"] == ["S000000", "S000001", "S000000", "S000001", "S000000"]
    assert [(time - columns["ts"][0]).total_seconds() for time in columns["ts"]] == [0, 0, 1, 1, 2]


def test_scaling_keeps_the_length_of_partitions() -> None:
    assert TickFiles(20_000_000, 20_000).scaled(0.1) == TickFiles(2_000_000, 2_000)
    assert TickFiles(20_000_000, 1).scaled(0.1) == TickFiles(2_000_000, 1)
    assert TickFiles(1, 1).scaled(0.1) == TickFiles(1, 1)
