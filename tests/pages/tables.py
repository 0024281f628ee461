"""The tables that queries of the pages read."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from matchrec.cli.files import Table, find_format

DATA = Path(__file__).parent.parent.parent / "sql_examples" / "data"


def register_tables(spark: SparkSession) -> None:
    """Make each data file of the examples a view that has the file's name."""
    for path in DATA.iterdir():
        if path.suffix != ".md":
            Table(path.stem, (path,), find_format(path)).register(spark)
