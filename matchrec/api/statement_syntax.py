"""Check the syntax of statements that are not queries, such as INSERT, without running them."""

from __future__ import annotations

import re

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from matchrec.api.dialects import parse_query
from matchrec.api.inputs import build_runner
from matchrec.api.sql_texts import reject_clause_as_query
from matchrec.arguments import DialectName, NamedArguments
from matchrec.errors.kinds import locate_errors
from matchrec.plan.templates import Replacement, Template, View, join_template
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.backends import find_backend
from matchrec.spark.errors.engine_messages import SYNTAX_ERROR, find_error_code
from matchrec.spark.session_errors import REFUSALS
from matchrec.syntax import query_pieces
from matchrec.syntax.misspelt_clauses import reject_misspelt_statement
from matchrec.syntax.token_checks import check_brackets
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import BLANKS

# Statements that EXPLAIN does not take in Spark or Sail, so their syntax is not checked.
# SET accepts almost any text.
_UNEXPLAINED = re.compile(rf"{BLANKS}(SET|RESET|BEGIN)\b", re.IGNORECASE)

# The table name that replaces each clause. The engine only parses it, so no such table is needed.
_CLAUSE_NAME = "match_recognize"


def check_statement_syntax(
    spark: SparkSession, text: str, args: NamedArguments | None, dialect: DialectName
) -> bool:
    """Check the syntax of a statement by letting the engine explain it, which runs nothing.

    Only the syntax is checked, because the statement may use tables of earlier statements.

    Args:
        spark: a session.
        text: the statement.
        args: the values of its parameters.
        dialect: the product whose SQL it is.

    Returns:
        False if the engine's parser may not know this kind of statement, so that only the first
        word, the brackets and the clauses were checked; otherwise True. The result is also True for
        SET, RESET and BEGIN, which no engine explains, and which accept almost any text.

    Raises:
        MatchRecognizeError: the statement has a syntax error, or is a clause or a SASE+ text.
    """
    reject_clause_as_query(text)
    node = parse_query(spark, text, args, frames={}, dialect=dialect)
    with locate_errors(node.source):
        tokens = read_tokens(node.source.text)
        reject_misspelt_statement(tokens)
    if _UNEXPLAINED.match(node.source.text):
        return True
    runner = build_runner(spark, node, args, frames={}).with_source(node.source)
    statement = fill_with_name(query_pieces.write_outer_query(node))
    try:
        with silence_analysis():
            runner.sql(join_template(Replacement("EXPLAIN ", 0), statement))
    except REFUSALS as error:
        if not is_syntax_error(error):
            return True  # the error is about a table or a value
        text_from_first_word = node.source.text[tokens[0].span.start :]
        if find_backend(spark).has_reliable_syntax_errors(text_from_first_word):
            raise
        with locate_errors(node.source):
            check_brackets(tokens, "the statement")
        return False
    return True


def is_syntax_error(error: PySparkException) -> bool:
    """Return whether an engine has refused a text because of its syntax.

    Args:
        error: the engine's error, or the error in the user's terms, which was raised instead.
    """
    engine_error = error.__context__ or error
    return isinstance(engine_error, PySparkException) and (
        find_error_code(engine_error) == SYNTAX_ERROR
    )


def fill_with_name(text: Template) -> Template:
    """Return a query text with a name in each hole, so that it can be parsed."""
    return tuple(
        Replacement(_CLAUSE_NAME.ljust(piece.width), piece.width)
        if isinstance(piece, View)
        else piece
        for piece in text
    )
