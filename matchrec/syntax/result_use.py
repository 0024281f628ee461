"""Find which part of a clause's rows the query around it uses. The rest need not be computed.

    SELECT x FROM t MATCH_RECOGNIZE (...) AS m WHERE m.symbol = 'X'

This query uses the columns x and symbol, and only rows with `symbol = 'X'`.

- A column is not used if its name is nowhere else in the query, and if neither `*` nor a word such
  as PIVOT reads all columns.
- A row is not used if WHERE follows the clause, compares a column with constants, and is false for
  the row.

In all other cases, columns and rows count as used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors import MatchRecognizeError
from matchrec.plan.expression import (
    Operation,
    Scalar,
    Term,
    find_column_path,
    render,
    split_conjuncts,
)
from matchrec.plan.match_plan import ColumnTest, ResultUse
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.from_relations import is_set_operator, starts_part_after_from
from matchrec.syntax.tokens import TokenKind, TokenSequence, split_words

# Words and symbols of queries that may read all columns, or columns whose names are not written.
_READERS_OF_ALL_COLUMNS = split_words("PIVOT UNPIVOT NATURAL IDENTIFIER TRANSFORM |>")

# Operators of column tests.
_COMPARISONS = split_words("= <=> < <= > >= <> BETWEEN IN")

# Types of literals that may be compared in column tests, in addition to numbers and strings.
_TYPES_OF_LITERALS = split_words("DATE TIMESTAMP")

# WHERE is SQL over one row, so it is read like PARTITION BY.
_SCOPE_OF_WHERE = Scope(ClausePart.PARTITION_BY, reads_match=False)


def find_result_use(
    tokens: TokenSequence, start: int, closing: int, alias: int | None
) -> ResultUse:
    """Return which part of a clause's rows a query uses.

    Args:
        tokens: the tokens of the query.
        start: the index of the first token of the clause's relation.
        closing: the index of the closing parenthesis of the clause.
        alias: the index of the alias of the clause; None if it has no alias.
    """
    names = None
    if not find_renames(tokens, alias):
        names = list_names_outside(tokens, range(start, closing + 1))
    where = (closing if alias is None else alias) + 1
    is_only_relation = tokens.key(start - 1) == "FROM" and tokens.key(where) == "WHERE"
    if not is_only_relation:
        return ResultUse(names)
    return ResultUse(names, tuple(_find_column_tests(tokens, where, alias)))


def list_names_outside(tokens: TokenSequence, inside: range = range(0)) -> frozenset[str] | None:
    """Return the names outside a range of tokens, in lower case: the columns that may be read.

    The result is None if all columns may be read, as by `SELECT *`.
    """
    outside = tokens.tokens[: inside.start] + tokens.tokens[inside.stop :]
    keys = {token.key for token in outside}
    if "SELECT" not in keys or keys & _READERS_OF_ALL_COLUMNS:
        return None
    for index in tokens.indices_by_key.get("*", ()):
        if index not in inside and not _is_operator(tokens, index):
            return None
    return frozenset(token.name.lower() for token in outside if token.can_name)


def _is_operator(tokens: TokenSequence, index: int) -> bool:
    """Return whether the `*` at `index` multiplies, or is the argument of `COUNT(*)`."""
    before = tokens[index - 1]
    if before.key == "(":
        return tokens.key(index + 1) == ")" and tokens.key(index - 2) == "COUNT"
    is_field = before.is_name and tokens.key(index - 2) == "."
    ends_operand = before.kind is TokenKind.QUOTED or before.key in (")", "]")
    return is_field or ends_operand or before.is_constant


def find_renames(tokens: TokenSequence, alias: int | None) -> tuple[Span, ...]:
    """Return the new names of the columns after the alias at `alias`: `AS m (a, b)`."""
    if alias is None or tokens.key(alias + 1) != "(":
        return ()
    names = tokens.split_at_commas(alias + 2, tokens.pairs[alias + 1])
    return tuple(tokens.span(start, end) for start, end in names if start < end)


def _find_column_tests(
    tokens: TokenSequence, where: int, alias: int | None
) -> Iterator[ColumnTest]:
    """Yield the tests of a WHERE that compare a column of the clause with constants.

    For a WHERE that cannot be parsed, nothing is yielded: Spark reports its errors.

    Args:
        tokens: the tokens of the query.
        where: the index of WHERE. The clause is the only relation of its FROM.
        alias: the index of the alias of the clause; None if it has no alias.
    """
    start = where + 1
    end = _find_end_of_where(tokens, start)
    try:
        condition = parse_scalar(tokens.cut_out(start, end), _SCOPE_OF_WHERE)
    except (MatchRecognizeError, IndexError):
        return
    alias_name = None if alias is None else tokens[alias].name
    for conjunct in split_conjuncts(condition):
        test = _read_column_test(conjunct, alias_name)
        if test is not None:
            yield test


def _read_column_test(conjunct: Scalar, alias: str | None) -> ColumnTest | None:
    """Return a conjunct of WHERE as a test of a column: `m.symbol = 'X'`, `x BETWEEN 1 AND 9`.

    The result is None if the conjunct does not compare a column of the clause with constants.

    Args:
        conjunct: the conjunct.
        alias: the name that may qualify the columns of the clause; None if there is no such name.
    """
    if not isinstance(conjunct, Operation) or conjunct.operator not in _COMPARISONS:
        return None
    column, *others = conjunct.operands
    column_path = find_column_path(column)
    has_column_of_clause = len(column_path) == 1 or (
        len(column_path) == 2 and alias is not None and column_path[0].lower() == alias.lower()
    )
    starts_with_column = conjunct.parts[0] is column
    if not has_column_of_clause or not starts_with_column:
        return None
    if not all(_is_constant(operand) for operand in others):
        return None
    comparison = replace(conjunct, parts=conjunct.parts[1:])  # without the column
    return ColumnTest(column_path[-1], render(comparison, str).strip())


def _find_end_of_where(tokens: TokenSequence, start: int) -> int:
    """Return the index after the condition of WHERE, whose first token is at `start`."""
    query_end = tokens.find_end_of_parentheses(start)
    for index in tokens.walk_level(start, query_end):
        if starts_part_after_from(tokens, index) or is_set_operator(tokens, index):
            return index
    return query_end


def _is_constant(operand: Scalar) -> bool:
    """Return whether an operand is a literal: a number, a string, a date or a timestamp."""
    if not isinstance(operand, Term) or operand.references:
        return False
    if not operand.operations <= _TYPES_OF_LITERALS:
        return False
    return render(operand, str)[0] not in ":?"  # the signs of parameters
