"""The command `transpile`: translate a query to the SQL of a product."""

from __future__ import annotations

from typing import Any, get_args

import click

from matchrec.arguments import DialectName, TargetDialect
from matchrec.cli import common_options
from matchrec.cli.command_decorators import handle_failures
from matchrec.cli.messages import PROGRAM, print_notice
from matchrec.cli.queries import QueryContent
from matchrec.cli.query_command import QueryCommand
from matchrec.cli.query_sources import QueryLanguage, QuerySource, load_pattern

# The words of `--read`: the dialects of SQL, and the other languages.
INPUT_LANGUAGES = (*get_args(DialectName), "sase", "pattern")


@click.command(cls=QueryCommand)
@common_options.QUERY_ARGUMENTS
@common_options.make_choice_option(
    "--read",
    INPUT_LANGUAGES,
    "Product whose SQL the query is, or another language",
    shown_default="by the file name",
)
@common_options.make_choice_option(
    "--write", get_args(TargetDialect), "Product whose SQL is written", shown_default="spark"
)
@click.option("--events", metavar="TABLE", help="Table that the SQL reads. [default: events]")
@common_options.EVENT_OPTIONS
@common_options.make_choice_option(
    "--result",
    ("matches", "non_overlapping"),
    "Matches that the SQL returns for SASE+",
    name="output",
    default="matches",
)
@handle_failures
def transpile(query: QuerySource, read: str | None, write: str | None, **options: Any) -> None:
    """Translate a query to the SQL of a product.

    Without --write, the product is Spark. Comments after the printed text list what differs in the
    product. QUERY is a file, or - for standard input, as in `matchrec run`.

    \b
    Example:
      matchrec transpile v_shapes.sql --write snowflake
    """
    from matchrec.api.transpile import ConversionRequest, convert_query, rename_dialect_to_read

    language = query.language if read is None else find_query_language(read)
    content: QueryContent = query.read(language)
    if language is QueryLanguage.PATTERN:
        content = load_pattern(query.path)
    conversion_options: dict[str, Any] = {name: value for name, value in options.items() if value}
    request = ConversionRequest(
        query=content,
        read=name_read_language(read, language),
        write=write or "spark",
        **conversion_options,
    )
    with rename_dialect_to_read():
        conversion = convert_query(request)
    print(conversion)
    if write is None:
        print_notice(f"{PROGRAM}this is Spark SQL; --write NAME writes the SQL of another product")


def find_query_language(read: str) -> QueryLanguage:
    """Return the language of queries for a word of `--read`, which can be a dialect of SQL."""
    return QueryLanguage.SQL if read in get_args(DialectName) else QueryLanguage(read)


def name_read_language(read: str | None, language: QueryLanguage) -> str:
    """Return the field `read` of a `ConversionRequest`: a dialect of SQL, or "sase".

    For a Pattern, which has no text to read, the result is the default dialect.

    Args:
        read: the word of `--read`; None without this option.
        language: the language of the query.
    """
    match language:
        case QueryLanguage.SASE:
            return "sase"
        case QueryLanguage.SQL:
            return read or "spark"
        case QueryLanguage.PATTERN:
            return "spark"
