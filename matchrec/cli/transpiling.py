"""The command `transpile`: translate a query to the SQL of a product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import click

from matchrec.arguments import DialectName, TargetDialect
from matchrec.cli import common_options
from matchrec.cli.command_decorators import handle_failures
from matchrec.cli.failures import ExitCode
from matchrec.cli.messages import PROGRAM, WARNING, print_notice
from matchrec.cli.queries import QueryContent
from matchrec.cli.query_command import QueryCommand
from matchrec.cli.query_sources import QueryLanguage, QuerySource, load_pattern
from matchrec.errors.wording import show_count

if TYPE_CHECKING:
    from matchrec.dialects.edits import TranslationNote

# The words of `--read`: the dialects of SQL, and the other languages.
INPUT_LANGUAGES = (*get_args(DialectName), "sase", "pattern")


@click.command(cls=QueryCommand)
@common_options.QUERY_ARGUMENTS
@common_options.make_choice_option(
    "--read",
    INPUT_LANGUAGES,
    "Product whose SQL is read, or another language",
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
@click.option(
    "--strict",
    is_flag=True,
    help="Also exit with code 1 if the SQL can be an error or have another result in the product.",
)
@handle_failures
def transpile(
    query: QuerySource, read: str | None, write: str | None, strict: bool, **options: Any
) -> None:
    """Translate a query to the SQL of a product.

    Without --write, the product is Spark. Comments after the printed text list what can be an error
    or have another result in the product. QUERY is a file, or - for standard input, as in
    `matchrec run`.

    \b
    Example:
      matchrec transpile v_shapes.sql --write oracle
    """
    from matchrec.api.transpile import ConversionRequest, convert_query, rename_dialect_to_read
    from matchrec.dialects.products import PRODUCTS

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
    warn_about_notes(conversion.notes, PRODUCTS[request.write].title)
    if strict and conversion.notes:
        raise click.exceptions.Exit(ExitCode.REFUSED)


def warn_about_notes(notes: Sequence[TranslationNote], product: str) -> None:
    """Print a warning if a translation has notes, because its comments may go to a file.

    Args:
        notes: the notes of the translation.
        product: the name of the product in messages, such as "Snowflake".
    """
    rejected_count = sum(note.is_rejected for note in notes)
    different_count = len(notes) - rejected_count
    advice = "see the comments after the SQL"
    for count, effect in (
        (rejected_count, "be an error"),
        (different_count, "have another result"),
    ):
        if count:
            parts = show_count(count, "part")
            print_notice(f"{WARNING}{parts} of the query can {effect} in {product}; {advice}")


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
