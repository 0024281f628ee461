"""Explain why the engine refuses a text without a clause, as the errors around a clause do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace

from pyspark.errors import PySparkException

from matchrec.api.inputs import check_positional_values
from matchrec.api.missing_columns import add_similar_columns
from matchrec.api.outer_query import find_unbound_parameter
from matchrec.api.table_columns import advise_on_column_of_tables
from matchrec.arguments import Arguments
from matchrec.errors.kinds import MatchRecognizeError
from matchrec.errors.parameters import unbound_parameter
from matchrec.errors.sql import query as errors
from matchrec.source import Source
from matchrec.spark.errors.error_classes import RewrittenEngineError
from matchrec.spark.errors.filled_template import FilledTemplate
from matchrec.spark.errors.refusals import find_unbound_name
from matchrec.spark.errors.rewritten_errors import reword_as_mistake, rewrite_engine_error
from matchrec.spark.runner import Runner
from matchrec.spark.session_errors import REFUSALS
from matchrec.syntax import query_pieces
from matchrec.syntax.locate import QueryNode, find_positional_parameters, find_second_statement
from matchrec.syntax.named_parameters import find_first_parameters
from matchrec.syntax.tokenize import read_tokens

# The beginning of a script of several statements, which Spark 4 runs as one text.
_SCRIPT = re.compile(r"\s*BEGIN\b", re.IGNORECASE)

# A refusal of Sail because of a `?` without a value, or a list of values for a `:name`.
PLACEHOLDER_OF_SAIL = re.compile(r"Placeholder '\?'|parse placeholder id")


@contextmanager
def explain_refused_text(runner: Runner, node: QueryNode, args: Arguments | None) -> Iterator[None]:
    """Replace an error of the engine inside of the `with` statement by one in the user's terms.

    Nothing is computed before there is an error, so that texts without a mistake take no longer.

    Args:
        runner: runs texts in the session of the query.
        node: the query that the engine reads inside.
        args: the values of the query's parameters.
    """
    try:
        yield
    except REFUSALS as error:
        raise explain_refusal(error, runner, node, args) from None


def explain_refusal(
    error: PySparkException, runner: Runner, node: QueryNode, args: Arguments | None
) -> PySparkException:
    """Return an error of the engine in terms of the text that it refuses, of the same class.

    An error about the values of rows, and not about the text, is returned unchanged.

    Args:
        error: the error of the engine.
        runner: runs texts in the session of the query.
        node: the query.
        args: the values of the query's parameters.
    """
    value_names = tuple(args) if isinstance(args, Mapping) else ()
    unbound = find_unbound_parameter(error, node, value_names)
    if unbound is not None and unbound.spans:
        return reword_as_mistake(error, unbound, node.source)
    if PLACEHOLDER_OF_SAIL.search(str(error)) or find_unbound_name(error) is not None:
        wrong_values = find_wrong_positional_values(node, args)
        if wrong_values is not None:
            return reword_as_mistake(error, wrong_values, node.source)
    filled_template = FilledTemplate(
        query_pieces.write_outer_query(node), names={}, source=node.source
    )
    rewritten = rewrite_engine_error(
        error, filled_template, runner.list_tables, runner.list_functions
    )
    if rewritten is error:  # about the values of rows
        return error
    with suppress(MatchRecognizeError):  # the tokens cannot be read; `rewritten` has the reason
        mistake = find_wrong_number_of_statements(node.source, rewritten)
        if mistake is not None:
            return reword_as_mistake(error, mistake, node.source)
        has_columns = advise_on_column_of_tables(rewritten, runner)
        if isinstance(rewritten, RewrittenEngineError) and not has_columns:
            add_similar_columns(rewritten)
    return rewritten


def find_wrong_positional_values(
    node: QueryNode, args: Arguments | None
) -> MatchRecognizeError | None:
    """Return the error for `?`s with more or fewer values, or for a list of values for a `:name`.

    Args:
        node: the query, which the engine has refused because of a parameter.
        args: the values of its parameters.
    """
    try:
        positional_parameters = find_positional_parameters(read_tokens(node.source.text))
        check_positional_values(replace(node, positional_parameters=positional_parameters), args)
    except MatchRecognizeError as error:
        return error
    parameters = find_first_parameters(node.source.text)
    if not isinstance(args, list) or not parameters:
        return None
    name, span = next(iter(parameters.items()))
    return unbound_parameter(span, name=name, parameters=())


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
