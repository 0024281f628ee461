"""Advise on a column that no table of its SELECT has.

unknown column `clse`
  line 1, column 16
      SELECT * FROM (SELECT clse * 2 AS x FROM stocks) MATCH_RECOGNIZE ...
                            ^^^^
  note: stocks has: sym, day, close
  help: write close
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from matchrec.api.missing_columns import find_unknown_column
from matchrec.errors.kinds import MatchRecognizeError
from matchrec.errors.sql import query as errors
from matchrec.spark.errors.rewritten_errors import RewrittenEngineError
from matchrec.spark.runner import Runner
from matchrec.spark.session_errors import TEXT_ERRORS
from matchrec.spark.sql_replacement import find_plain_sql
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import TokenSequence

# The words that end the list of tables of a SELECT.
_AFTER_TABLES = frozenset(
    (
        "WHERE",
        "GROUP",
        "HAVING",
        "QUALIFY",
        "WINDOW",
        "LIMIT",
        "OFFSET",
        "ORDER",
        "SORT",
        "CLUSTER",
        "DISTRIBUTE",
    )
)
# The words between the SELECTs of a query.
_BETWEEN_SELECTS = frozenset(("UNION", "INTERSECT", "EXCEPT", "MINUS"))


def advise_on_column_of_tables(error: Exception, runner: Runner) -> bool:
    """Add the columns of the tables around an unknown column to the engine's error about it.

    Args:
        error: an error of the engine, which has its source and its location. If it is not about an
            unknown column, it is not changed.
        runner: runs texts in the session of the query.

    Returns:
        Whether the error has got the columns of at least one table.
    """
    if not isinstance(error, RewrittenEngineError) or error.source is None or error.span is None:
        return False
    unknown_column = find_unknown_column(error)
    if unknown_column is None:
        return False
    try:
        tables = list_tables_around(read_tokens(error.source.text), error.span.start)
    except MatchRecognizeError:  # the tokens cannot be read
        return False
    columns_by_table = {}
    for table in tables:
        with suppress(*TEXT_ERRORS):  # the table is unknown, too, or a table of WITH
            columns_by_table[table] = list_columns(table, runner)
    if not columns_by_table:
        return False
    advice = errors.advise_on_table_columns(unknown_column[1], columns_by_table)
    error.notes = (*error.notes, advice.note)
    error.hint = error.hint or advice.hint
    return True


def list_columns(table: str, runner: Runner) -> list[str]:
    """Return the columns of a table, or of a DataFrame in braces.

    Raises one of `TEXT_ERRORS` if the session has no such table.
    """
    if table.startswith("{"):
        return list(getattr(runner.frames.get(table.strip("{} ")), "columns", ()))
    return find_plain_sql(runner.spark)(f"SELECT * FROM {table}").columns


def list_tables_around(tokens: TokenSequence, position: int) -> list[str]:
    """Return the names of the tables that the SELECT around a position reads, as they are written.

    The result is empty if the SELECT also reads something else, such as a subquery or a clause.

    Args:
        tokens: the tokens of the query.
        position: the position in the query's text.

    >>> text = "SELECT a FROM (SELECT b FROM s.t AS x JOIN {df} ON f(b) > 1 WHERE b, c) WHERE a"
    >>> tokens = read_tokens(text)
    >>> list_tables_around(tokens, text.index("(b)") + 1), list_tables_around(tokens, 7)
    (['s.t', '{df}'], [])
    """
    index = tokens.index_at.get(position)
    if index is None:
        return []
    select_indices = _find_enclosing_select(tokens, index)
    if any(tokens.key(inner) == "MATCH_RECOGNIZE" for inner in select_indices):
        return []
    tables = dict.fromkeys(_iterate_tables(tokens, select_indices))
    return [] if None in tables else [table for table in tables if table]


def _find_enclosing_select(tokens: TokenSequence, index: int) -> list[int]:
    """Return the indices of the tokens of the innermost SELECT around a token.

    Tokens inside parentheses of the SELECT are left out, and so are the other SELECTs of a UNION.
    """
    opening = tokens.enclosing_openings[index]
    while opening >= 0 and tokens.key(opening + 1) not in ("SELECT", "FROM", "WITH"):
        opening = tokens.enclosing_openings[opening]
    end = tokens.pairs.get(opening, len(tokens)) if opening >= 0 else len(tokens)
    query_indices = [
        inner for inner in range(opening + 1, end) if tokens.enclosing_openings[inner] == opening
    ]
    separators = [inner for inner in query_indices if tokens.key(inner) in _BETWEEN_SELECTS]
    start = max((separator for separator in separators if separator <= index), default=opening)
    end = min((separator for separator in separators if separator > index), default=end)
    return [inner for inner in query_indices if start < inner < end]


def _iterate_tables(tokens: TokenSequence, indices: list[int]) -> Iterator[str | None]:
    """Yield the tables after FROM, JOIN and commas among some tokens of one SELECT.

    Yields None for a subquery or a table function.
    """
    is_in_from = False
    for index in indices:
        key = tokens.key(index)
        is_in_from = (is_in_from or key == "FROM") and key not in _AFTER_TABLES
        if not is_in_from or key not in ("FROM", "JOIN", ","):
            continue
        first = last = index + 1
        if tokens.key(first) == "{":
            last = tokens.pairs.get(first, first)
        while tokens.key(last + 1) == ".":
            last += 2
        is_name = tokens.key(first) not in ("", "(", "LATERAL") and not tokens[first].is_string
        if is_name and tokens.key(last + 1) != "(" and last < len(tokens):
            yield tokens.text[tokens[first].span.start : tokens[last].span.end]
        else:
            yield None
