"""Register the tables that queries of the pages read."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from matchrec.cli.files import find_format
from matchrec.cli.tables import Table

DATA = Path(__file__).parent.parent.parent / "sql_examples" / "data"


def register_tables(spark: SparkSession) -> None:
    """Create a view for each data file of the examples, named after the file."""
    for path in DATA.iterdir():
        if path.suffix != ".md":
            Table(path.stem, (path,), find_format(path)).register(spark)
