"""The commands `run`, `explain` and `convert`: a query over files, or as text."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.cli.console import aligned, progress
from matchrec.cli.files import check_output, read_query, tables, write
from matchrec.cli.session import local_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SHOWN_ROWS = 20
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def run(arguments: Namespace) -> None:
    """Runs the query; its rows go to the terminal or to a file."""
    import matchrec

    query, files = read_query(arguments.query), tables(arguments.table)
    if arguments.output:
        check_output(arguments.output)
    with local_session() as spark:
        for file in files:
            file.register(spark)
        frame = matchrec.sql(spark, query, dialect=arguments.dialect, engine=arguments.engine)
        if arguments.output:
            to_file(frame, Path(arguments.output), arguments.limit)
        else:
            to_terminal(frame, arguments.limit or SHOWN_ROWS)


def to_file(frame: DataFrame, path: Path, limit: int | None) -> None:
    """Writes the rows, or the first `limit` of them."""
    with progress("Matching"):
        count = write(frame.limit(limit) if limit else frame, path)
    print(f"{count} rows written to {path}")


def to_terminal(frame: DataFrame, limit: int) -> None:
    """Prints the first `limit` rows, and says so where there are more."""
    with progress("Matching"):
        text, more = table_text(frame, limit)
    print(text)
    if more:
        print(f"the first {limit} rows; --limit shows more, --output writes all")


def table_text(frame: DataFrame, limit: int) -> tuple[str, bool]:
    """The first rows as an aligned table, and whether there are more.

    Values are printed as Spark casts them to strings.
    """
    numeric = [kind.split("(")[0] in NUMBERS for _, kind in frame.dtypes]
    places = [f"c{at}" for at in range(len(frame.columns))]  # a name may occur twice
    unique = frame.toDF(*places)
    rows = unique.select(*(unique[place].cast("string") for place in places)).take(limit + 1)
    shown = [["NULL" if value is None else value for value in row] for row in rows[:limit]]
    return aligned(frame.columns, shown, numeric), len(rows) > limit


def explain(arguments: Namespace) -> None:
    """Prints how the query would run; writes its automaton where --dot says."""
    import matchrec

    query, files = read_query(arguments.query), tables(arguments.table)
    with local_session() as spark:
        for file in files:
            file.register(spark)
        explanation = matchrec.explain(
            spark, query, dialect=arguments.dialect, engine=arguments.engine
        )
        print(explanation)
        if arguments.dot:
            Path(arguments.dot).write_text(explanation.dot, encoding="utf-8")


def convert(arguments: Namespace) -> None:
    """Prints the query in another language, with what differs there as comments."""
    import matchrec

    query = read_query(arguments.query)
    conversion = matchrec.convert(
        query,
        read=arguments.read,
        write=arguments.write,
        table=arguments.table,
        order_by=arguments.order_by,
        partition_by=arguments.partition_by,
        type_column=arguments.type_column,
    )
    print(conversion)
