"""The rows of the engines' table: as many as asked for, also over several files."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.benchmarks.engine_cases import BYTES_OF_A_FILE, Rows


def test_rows_are_divided_among_files(tmp_path: Path) -> None:
    rows = Rows(5, 2, BYTES_OF_A_FILE // 3)
    rows.write(tmp_path / rows.name)
    assert len(list((tmp_path / rows.name).iterdir())) == 3
    found = pq.read_table(tmp_path / rows.name, columns=["symbol", "ts"]).to_pydict()
    assert found["symbol"] == ["S000000", "S000001", "S000000", "S000001", "S000000"]
    assert [(at - found["ts"][0]).total_seconds() for at in found["ts"]] == [0, 0, 1, 1, 2]


def test_partitions_keep_their_length() -> None:
    assert Rows(20_000_000, 20_000).scaled(0.1) == Rows(2_000_000, 2_000)
    assert Rows(20_000_000, 1).scaled(0.1) == Rows(2_000_000, 1)
    assert Rows(1, 1).scaled(0.1) == Rows(1, 1)
