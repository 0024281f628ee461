"""Explain why the engine refuses a text without a clause, as the errors around a clause do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pyspark.errors import PySparkException

from matchrec.api.missing_columns import add_similar_columns, find_unknown_column
from matchrec.errors.kinds import MatchRecognizeError
from matchrec.errors.sql import query as errors
from matchrec.source import Source
from matchrec.spark.errors.filled_template import FilledTemplate
from matchrec.spark.errors.users_terms import (
    RewrittenEngineError,
    reword_as_mistake,
    rewrite_engine_error,
)
from matchrec.spark.runner import Runner
from matchrec.spark.session_errors import REFUSALS, TEXT_ERRORS
from matchrec.spark.sql_replacement import find_plain_sql
from matchrec.syntax import query_pieces
from matchrec.syntax.locate import QueryNode, find_second_statement
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import TokenSequence

# The beginning of a script of several statements, which Spark 4 runs as one text.
_SCRIPT = re.compile(r"\s*BEGIN\b", re.IGNORECASE)


@contextmanager
def explain_refused_text(runner: Runner, node: QueryNode) -> Iterator[None]:
    """Replace an error of the engine inside of the `with` statement by one in the user's terms.

    Nothing is computed before there is an error, so that texts without a mistake take no longer.

    Args:
        runner: runs texts in the session of the query.
        node: the query that the engine reads inside.
    """
    try:
        yield
    except REFUSALS as error:
        raise explain_refusal(error, runner, node) from None


def explain_refusal(error: PySparkException, runner: Runner, node: QueryNode) -> PySparkException:
    """Return an error of the engine, of its class, in terms of the text that it refuses.

    Args:
        error: the error of the engine.
        runner: runs texts in the session of the query.
        node: the query.
    """
    filled = FilledTemplate(query_pieces.write_outer_query(node), {}, node.source)
    rewritten = rewrite_engine_error(error, filled, runner.list_tables, runner.list_functions)
    if rewritten is error:  # about the values of rows
        return error
    with suppress(MatchRecognizeError):  # the tokens cannot be read: the engine has said why
        mistake = find_wrong_number_of_statements(node.source, rewritten)
        if mistake is not None:
            return reword_as_mistake(error, mistake, node.source)
        advise_on_column(rewritten, node.source, runner)
    return rewritten


def advise_on_column(error: PySparkException, source: Source, runner: Runner) -> None:
    """Add the columns of the query's only table to an error about an unknown column.

    If the query reads several tables, or anything else than a table, the error gets the columns
    that the engine suggests, if any.

    Raises:
        MatchRecognizeError: the tokens of the text cannot be read.
    """
    if not isinstance(error, RewrittenEngineError):
        return
    unknown_column = find_unknown_column(error)
    if unknown_column is None:
        return
    table = find_only_table(read_tokens(source.text))
    if table is None:
        add_similar_columns(error)
        return
    with suppress(*TEXT_ERRORS):  # the table is unknown, too
        columns = find_plain_sql(runner.spark)(f"SELECT * FROM {table}").columns
        name = unknown_column[1]
        advice = errors.advise_on_table_column(name, table, columns)
        error.notes = (*error.notes, advice.note)
        error.hint = error.hint or advice.hint


def find_only_table(tokens: TokenSequence) -> str | None:
    """Return the name of the table if a query reads one table and nothing else; else None."""
    words = tokens.indices_by_key
    starts = words.get("FROM", ())
    if len(starts) != 1 or "JOIN" in words or len(words.get("SELECT", ())) != 1:
        return None
    end = starts[0] + 1
    if tokens.key(end) in ("", "(", "{") or tokens[end].is_string:
        return None
    while tokens.key(end + 1) == ".":
        end += 2
    if tokens.key(end + 1) in ("(", ",", ".") or end >= len(tokens):
        return None
    return tokens.text[tokens[starts[0] + 1].span.start : tokens[end].span.end]


def find_wrong_number_of_statements(
    source: Source, error: PySparkException
) -> MatchRecognizeError | None:
    """Return the error for a text with no statement or several ones; None for other mistakes.

    Args:
        source: the text.
        error: the error of the engine in the user's terms.

    Raises:
        MatchRecognizeError: the tokens of the text cannot be read.
    """
    tokens = read_tokens(source.text)
    if all(token.key == ";" for token in tokens.tokens):
        return errors.blank_query(source.text)
    semicolon = find_second_statement(tokens)
    if semicolon is None or _SCRIPT.match(source.text):
        return None
    if isinstance(error, RewrittenEngineError) and error.spans:
        is_in_first_statement = error.spans[0].start < semicolon.start
        if is_in_first_statement:
            return None
    return errors.several_statements(semicolon)
