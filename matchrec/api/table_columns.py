"""Advise on a column that no table of its SELECT has.

unknown column `clse`
  line 1, column 16
      SELECT * FROM (SELECT clse * 2 AS x FROM stocks) MATCH_RECOGNIZE ...
                            ^^^^
  note: stocks has: sym, day, close
  help: write close
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from matchrec.api.missing_columns import UnknownColumn, find_unknown_column
from matchrec.errors.kinds import MatchRecognizeError
from matchrec.errors.sql import select_columns as errors
from matchrec.spark.errors.error_classes import RewrittenEngineError
from matchrec.spark.runner import Runner
from matchrec.spark.session_errors import TEXT_ERRORS
from matchrec.spark.sql_replacement import find_plain_sql
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import TokenSequence, split_words

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
# The words that follow a table of such a list.
_AFTER_RELATION = split_words(
    "ON USING JOIN INNER LEFT RIGHT FULL CROSS NATURAL ANTI SEMI MATCH_RECOGNIZE TABLESAMPLE PIVOT "
    "UNPIVOT LATERAL UNION INTERSECT EXCEPT MINUS"
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
    column_in_select = find_column_in_select(error)
    if column_in_select is None or not all(
        relation.is_table for relation in column_in_select.relations
    ):
        return False
    tables = dict.fromkeys(relation.text for relation in column_in_select.relations)
    return add_columns(column_in_select, find_columns(tables, runner))


def advise_on_joined_column(
    error: Exception, runner: Runner, clause_columns: Mapping[str, Sequence[str]]
) -> bool:
    """Add the columns of the relations around an unknown column to the engine's error about it.

    The SELECT joins a clause with other tables. If the column has a qualifier, only the table of
    this name is listed.

    Args:
        error: an error of the engine, which has its source and its location. If it is not about an
            unknown column of such a SELECT, it is not changed.
        runner: runs texts in the session of the query.
        clause_columns: the columns of the clause's result, by the words that name it in the note;
            empty if the query has several clauses.

    Returns:
        Whether the error has got the columns of at least one table.
    """
    column_in_select = find_column_in_select(error)
    if column_in_select is None:
        return False
    relations = column_in_select.relations
    has_clause = any(relation.is_clause for relation in relations)
    tables = [relation for relation in relations if relation.is_table]
    qualifier = column_in_select.column.qualifier
    if qualifier:
        named_tables = [table.text for table in tables if table.has_name(qualifier)]
        return add_columns(
            column_in_select, find_columns(named_tables, runner), shows_qualifier=True
        )
    if len(tables) + has_clause < len(relations) or (has_clause and not clause_columns):
        return False  # the columns of another relation are not known
    table_columns = find_columns(dict.fromkeys(table.text for table in tables), runner)
    if not tables or len(table_columns) < len({table.text for table in tables}):
        return False
    columns_by_table: dict[str, Sequence[str]] = dict(clause_columns) if has_clause else {}
    columns_by_table.update(table_columns)
    return add_columns(column_in_select, columns_by_table)


def advise_on_nested_clause(error: Exception, clause_columns: Mapping[str, Sequence[str]]) -> None:
    """Add the columns of a clause to an error about a column of a SELECT around a subquery with it.

    Args:
        error: an error of the engine. If it has advice already, or is not about an unknown column
            of a SELECT from `(SELECT * FROM t MATCH_RECOGNIZE (...))` alone, it is not changed.
        clause_columns: as for `advise_on_joined_column`.
    """
    column_in_select = find_column_in_select(error)
    if column_in_select is None or column_in_select.error.hint is not None:
        return
    if len(column_in_select.relations) == 1 and column_in_select.relations[0].is_clause:
        add_columns(column_in_select, clause_columns)


class ColumnInSelect(NamedTuple):
    """An unknown column, and the SELECT that names it."""

    # The engine's error about the column.
    error: RewrittenEngineError
    # The column as the SELECT names it.
    column: UnknownColumn
    # What the SELECT reads.
    relations: list[RelationInFrom]


def find_column_in_select(error: Exception) -> ColumnInSelect | None:
    """Return the unknown column that an error is about; None for another error.

    Also returns None if the error has no location in the query, or if the query cannot be read.
    """
    if not isinstance(error, RewrittenEngineError) or error.source is None or error.span is None:
        return None
    column = find_unknown_column(error)
    if column is None:
        return None
    try:
        tokens = read_tokens(error.source.text)
    except MatchRecognizeError:
        return None
    relations = list_relations_around(tokens, error.span.start)
    return ColumnInSelect(error, column, relations)


def find_columns(tables: Iterable[str], runner: Runner) -> dict[str, list[str]]:
    """Return the columns of each table that the session has."""
    columns_by_table = {}
    for table in tables:
        with suppress(*TEXT_ERRORS):  # the table is unknown, too, or a table of WITH
            columns_by_table[table] = list_columns(table, runner)
    return columns_by_table


def add_columns(
    column_in_select: ColumnInSelect,
    columns_by_table: Mapping[str, Sequence[str]],
    *,
    shows_qualifier: bool = False,
) -> bool:
    """Add the columns of tables to an error about an unknown column; return whether there are any.

    Args:
        column_in_select: the unknown column, with its error.
        columns_by_table: the columns of each table.
        shows_qualifier: whether the help repeats the qualifier of the column.
    """
    if not columns_by_table:
        return False
    qualifier = column_in_select.column.qualifier if shows_qualifier else ""
    advice = errors.advise_on_table_columns(
        column_in_select.column.name, columns_by_table, qualifier
    )
    error = column_in_select.error
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


@dataclass(frozen=True, slots=True)
class RelationInFrom:
    """An item of FROM: a table, a clause, or another relation such as a subquery."""

    # The table as it is written, with its qualifiers; "" for other relations.
    text: str = ""
    # The alias; for a table without alias its name without qualifiers, for other relations "".
    name: str = ""
    is_clause: bool = False

    @property
    def is_table(self) -> bool:
        """Return whether the relation is a table, and no clause follows it."""
        return bool(self.text) and not self.is_clause

    def has_name(self, qualifier: str) -> bool:
        """Return whether a qualifier of a column means this relation."""
        return qualifier.lower() in (self.name.lower(), self.text.lower())


def list_relations_around(tokens: TokenSequence, position: int) -> list[RelationInFrom]:
    """Return the relations that the SELECT around a position reads, in the order of the text.

    Args:
        tokens: the tokens of the query.
        position: the position in the query's text.

    >>> text = "SELECT a FROM (SELECT b FROM s.t AS x JOIN {df} ON f(b) > 1 WHERE b, c) WHERE a"
    >>> tokens = read_tokens(text)
    >>> relations = list_relations_around(tokens, text.index("(b)") + 1)
    >>> [(relation.text, relation.name) for relation in relations]
    [('s.t', 'x'), ('{df}', '{df}')]
    >>> list_relations_around(tokens, 7)
    [RelationInFrom(text='', name='', is_clause=False)]
    """
    index = tokens.index_at.get(position)
    if index is None:
        return []
    return list(_iterate_relations(tokens, _find_enclosing_select(tokens, index)))


def _find_enclosing_select(tokens: TokenSequence, index: int) -> list[int]:
    """Return the indices of the tokens of the innermost SELECT around a token.

    Tokens inside parentheses of the SELECT are left out, and so are the other SELECTs of a UNION.
    """
    opening = tokens.enclosing_openings[index]
    while opening >= 0 and tokens.key(opening + 1) not in ("SELECT", "FROM", "WITH"):
        opening = tokens.enclosing_openings[opening]
    end = tokens.pairs.get(opening, len(tokens)) if opening >= 0 else len(tokens)
    query_indices = [
        query_index
        for query_index in range(opening + 1, end)
        if tokens.enclosing_openings[query_index] == opening
    ]
    separators = [
        query_index for query_index in query_indices if tokens.key(query_index) in _BETWEEN_SELECTS
    ]
    start = max((separator for separator in separators if separator <= index), default=opening)
    end = min((separator for separator in separators if separator > index), default=end)
    return [query_index for query_index in query_indices if start < query_index < end]


def _iterate_relations(tokens: TokenSequence, indices: list[int]) -> Iterator[RelationInFrom]:
    """Yield the relations after FROM, JOIN and commas among some tokens of one SELECT."""
    is_in_from = False
    for index in indices:
        key = tokens.key(index)
        is_in_from = (is_in_from or key == "FROM") and key not in _AFTER_TABLES
        if is_in_from and key in ("FROM", "JOIN", ","):
            yield _read_relation(tokens, index + 1)


def _read_relation(tokens: TokenSequence, start: int) -> RelationInFrom:
    """Return the relation that begins at an index, after FROM, JOIN or a comma.

    For `s.t AS x`, the indices below belong to these tokens:

        s . t   AS             x             ON
            |   |              |             |
            |   after_name     alias_index   after_alias
            last
    """
    last = start
    if tokens.key(start) in ("{", "("):
        last = tokens.pairs.get(start, start)
    while tokens.key(last + 1) == ".":
        last += 2
    after_name = last + 1
    has_as = tokens.key(after_name) == "AS"
    alias_index = after_name + 1 if has_as else after_name
    has_alias = (has_as or _is_alias(tokens, after_name)) and tokens.can_name(alias_index)
    alias = tokens[alias_index].text if has_alias else ""
    after_alias = alias_index + 1 if has_alias else after_name

    # t MATCH_RECOGNIZE (...), also with an alias of t before it
    if "MATCH_RECOGNIZE" in (tokens.key(after_name), tokens.key(after_alias)):
        return RelationInFrom(is_clause=True)

    # (SELECT * FROM t MATCH_RECOGNIZE (...)): the clause must end the subquery
    if tokens.has_keys(start, "(", "SELECT", "*", "FROM"):
        inner_relation = _read_relation(tokens, start + 4)
        clause_indices = tokens.indices_by_key.get("MATCH_RECOGNIZE", [])
        indices_after_clauses = [tokens.pairs.get(index + 1, 0) + 1 for index in clause_indices]
        if inner_relation.is_clause and last in indices_after_clauses:
            return RelationInFrom(name=alias, is_clause=True)

    is_name = tokens.key(start) not in ("", "(", "LATERAL") and not tokens[start].is_string
    is_function_call = tokens.key(after_name) == "("
    if not is_name or is_function_call or last >= len(tokens):
        return RelationInFrom()
    text = tokens.text[tokens[start].span.start : tokens[last].span.end]
    unqualified_name = text if tokens.key(start) == "{" else tokens[last].text
    return RelationInFrom(text=text, name=alias or unqualified_name)


def _is_alias(tokens: TokenSequence, index: int) -> bool:
    """Return whether the token after a relation is its alias, and not a keyword of the query."""
    is_keyword = tokens.key(index) in _AFTER_RELATION | _AFTER_TABLES
    return tokens.can_name(index) and not is_keyword
