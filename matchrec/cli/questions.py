"""The commands that say how a query runs, and why it gives what it gives."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

import matchrec
from matchrec.cli.arguments import ABOUT, ASKED, CLAUSE, FILE, SETTING, SORT, STREAM, tells_failures
from matchrec.cli.commands import session_over
from matchrec.cli.files import Table
from matchrec.cli.queries import QueryRequest, QuerySource, plain_value_of, query_of
from matchrec.cli.session import Settings


@click.command()
@ASKED
@click.option("--analyze", is_flag=True, help="Run it too, and say what it has counted.")
@click.option("--dot", type=FILE, help="Write the automaton as a Graphviz file.")
@click.option("--svg", type=FILE, help="Draw the row pattern.")
@tells_failures
def explain(  # noqa: PLR0913 -- one for each option
    query: QuerySource,
    tables: tuple[Table, ...],
    conf: Settings,
    analyze: bool,
    dot: Path | None,
    svg: Path | None,
    **options: Any,
) -> None:
    """Show how a query would run.

    QUERY is as that of `matchrec run`.
    """
    asked = query_of(query, tables, options)
    with session_over(tables, conf) as spark:
        with matchrec.progress(spark) if analyze else nullcontext():
            explanation = asked.query(spark).explain(analyze=analyze)
        print(explanation)
    if dot:
        dot.write_text(explanation.dot(), encoding="utf-8")
    if svg:
        draw(explanation, svg)


def draw(explanation: matchrec.Explanation, file: Path) -> None:
    """Writes a drawing of each clause; of several, the second to `name.2.svg`."""
    for number, clause in enumerate(explanation.clauses, 1):
        path = file if number == 1 else file.with_suffix(f".{number}{file.suffix}")
        path.write_text(clause.svg, encoding="utf-8")


@click.command()
@ABOUT
@STREAM
@click.option(
    "--partition", multiple=True, type=SETTING, help="A PARTITION BY column of the partition."
)
@click.option(
    "--row", multiple=True, metavar="VALUE", help="A starting row: its ORDER BY value, or each."
)
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="Attempts.")
@CLAUSE
@click.option("--svg", type=FILE, help="Draw it.")
@tells_failures
def why(
    query: QuerySource,
    tables: tuple[Table, ...],
    conf: Settings,
    clause: str | None,
    svg: Path | None,
    **options: Any,
) -> None:
    """Say why a partition has no match, or how its matches came about.

    QUERY is as that of `matchrec run`.
    """
    about = take_rows(options)
    asked = query_of(query, tables, options)
    with session_over(tables, conf) as spark:
        told = asked.query(spark).why(**about, clause=chosen(clause, asked))
        print(told)
        if svg:
            svg.write_text(told.svg(), encoding="utf-8")


def take_rows(options: dict[str, Any]) -> dict[str, Any]:
    """Which rows are asked about, as functions take it; these options are taken out."""
    partition, row = options.pop("partition"), options.pop("row")
    about: dict[str, Any] = {"limit": options.pop("limit")}
    if partition:
        about["partition"] = {name: plain_value_of(value) for name, value in partition}
    if row:
        about["row"] = tuple(map(plain_value_of, row))
    return about


@click.command()
@ABOUT
@STREAM
@SORT
@click.option("--max-steps", type=click.IntRange(1), help="End a search that takes more steps.")
@CLAUSE
@click.option("--svg", type=FILE, help="Draw it.")
@tells_failures
def coverage(
    query: QuerySource,
    tables: tuple[Table, ...],
    conf: Settings,
    clause: str | None,
    svg: Path | None,
    **options: Any,
) -> None:
    """Count how far starting rows come, and what ends them.

    QUERY is as that of `matchrec run`.
    """
    if options.pop("engine"):
        raise click.UsageError("--engine is not for coverage, which has a search of its own")
    asked = query_of(query, tables, options)
    with session_over(tables, conf) as spark:
        told = asked.query(spark).coverage(clause=chosen(clause, asked))
    print(told)
    if svg:
        svg.write_text(told.svg(), encoding="utf-8")


def chosen(clause: str | None, asked: QueryRequest) -> int | str | None:
    """The clause as functions take it. Raises click.UsageError where there are no clauses."""
    if clause is None:
        return None
    if asked.language != "sql":
        raise click.UsageError("--clause is for SQL only")
    return int(clause) if clause.isdigit() else clause
