"""The arguments of the command line, as argparse reads them."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter

ENGINES = ("auto", "backtracking", "breadth_first")
DIALECTS = (
    "spark",
    "standard",
    "databricks",
    "snowflake",
    "oracle",
    "trino",
    "flink",
    "bigquery",
    "azure",
)


def argument_parser() -> ArgumentParser:
    """The parser of `matchrec` and its commands."""
    parser = ArgumentParser(
        prog="matchrec",
        description="SQL MATCH_RECOGNIZE for Apache Spark, on this machine.",
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="find V-shapes in share prices and draw them")
    demo.add_argument("--output", default="matchrec-demo.png", metavar="FILE.png|svg")
    run = commands.add_parser("run", help="run a query over files")
    add_query(run)
    run.add_argument("--output", metavar="FILE.parquet|csv|json", help="write all rows to a file")
    run.add_argument("--limit", type=row_count, metavar="N", help="at most N rows (terminal: 20)")
    explain = commands.add_parser("explain", help="show how a query would run")
    add_query(explain)
    explain.add_argument("--dot", metavar="FILE", help="write the automaton as a Graphviz file")
    add_conversion(commands.add_parser("convert", help="turn a query into another language"))
    commands.add_parser("warm", help="compile everything now, as when an image is built")
    return parser


def add_query(parser: ArgumentParser) -> None:
    """What `run` and `explain` share: the query and the tables that it reads."""
    parser.add_argument("query", metavar="QUERY.sql", help="a file, or - for standard input")
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a table of the query: a parquet, csv or json file; may be repeated",
    )
    parser.add_argument("--engine", choices=ENGINES, default="auto")
    parser.add_argument("--dialect", choices=DIALECTS, default="spark", help="whose SQL it is")


def add_conversion(parser: ArgumentParser) -> None:
    """The arguments of `convert`: two languages, and what SASE+ says nothing about."""
    parser.add_argument("query", metavar="QUERY.sql", help="a file, or - for standard input")
    reads, writes = (*DIALECTS, "sase"), (*DIALECTS, "sase", "pattern")
    parser.add_argument("--read", choices=reads, default="spark", help="what it is written in")
    parser.add_argument("--write", choices=writes, default="spark", help="what it becomes")
    parser.add_argument("--table", default="events", help="where the events of SASE+ come from")
    parser.add_argument("--order-by", action="append", default=[], metavar="SQL")
    parser.add_argument("--partition-by", action="append", default=[], metavar="SQL")
    parser.add_argument("--type-column", default="event_type", metavar="SQL")


def row_count(text: str) -> int:
    """A number of rows from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of rows from 1")
    return int(text)
