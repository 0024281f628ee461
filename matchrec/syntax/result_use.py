"""Find which part of a clause's rows the query around it uses. The rest need not be computed.

    SELECT x FROM t MATCH_RECOGNIZE (...) AS m WHERE m.symbol = 'X'

This query uses the columns x and symbol, and only rows with `symbol = 'X'`. A column is not read if
its name is nowhere else in the query, and no `*` or the like stands for all columns. If WHERE
follows the clause and compares a column with constants, the test holds for every row of the result.
In all other cases, everything counts as used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors import MatchRecognizeError
from matchrec.plan.expression import (
    Operation,
    Scalar,
    Term,
    find_column_names,
    render,
    split_conjuncts,
)
from matchrec.plan.match_plan import ColumnTest, ResultUse
from matchrec.source import Span
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.from_relations import is_set_operator, starts_part
from matchrec.syntax.tokens import TokenKind, TokenSequence, split_words

_READERS_OF_ALL_COLUMNS = split_words("PIVOT UNPIVOT NATURAL IDENTIFIER TRANSFORM |>")

_COMPARISONS = split_words("= <=> < <= > >= <> BETWEEN IN")

_TYPES_OF_LITERALS = split_words("DATE TIMESTAMP")

_SCOPE_OF_WHERE = Scope(ClausePart.PARTITION_BY, reads_match=False)


def find_use(tokens: TokenSequence, start: int, closing: int, alias: int | None) -> ResultUse:
    """Return which part of a clause's rows a query uses.

    Args:
        tokens: the tokens of the query.
        start: the first token of the clause's relation.
        closing: the closing parenthesis of the clause.
        alias: the alias of the clause, if it has one.
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
    """Return the names outside of a range of tokens, in lower case.

    None means that all columns may be read, as for `SELECT *`.
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

    A WHERE that cannot be read yields none: Spark reports its errors.

    Args:
        tokens: the tokens of the query.
        where: the index of WHERE. The clause is the only relation of its FROM.
        alias: the alias of the clause, if it has one.
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
    """Return a conjunct of WHERE as a test; None if it is none.

    It is one if it compares a column with constants: `m.symbol = 'X'`, `x BETWEEN 1 AND 9`.

    Args:
        conjunct: the conjunct.
        alias: the name that may qualify the columns of the clause, if there is one.
    """
    if not isinstance(conjunct, Operation) or conjunct.operator not in _COMPARISONS:
        return None
    column, *others = conjunct.operands
    names = find_column_names(column)
    has_column_of_clause = len(names) == 1 or (
        len(names) == 2 and alias is not None and names[0].lower() == alias.lower()
    )
    starts_with_column = conjunct.parts[0] is column
    if not has_column_of_clause or not starts_with_column:
        return None
    if not all(_is_constant(operand) for operand in others):
        return None
    comparison = replace(conjunct, parts=conjunct.parts[1:])  # without the column
    return ColumnTest(names[-1], render(comparison, str).strip())


def _find_end_of_where(tokens: TokenSequence, start: int) -> int:
    """Return the token after the condition of a WHERE that starts at `start`."""
    query_end = tokens.find_end_of_parentheses(start)
    for index in tokens.walk_level(start, query_end):
        if starts_part(tokens, index) or is_set_operator(tokens, index):
            return index
    return query_end


def _is_constant(operand: Scalar) -> bool:
    """Return whether an operand is a literal: a number, a text, a date or a timestamp."""
    if not isinstance(operand, Term) or operand.references:
        return False
    if not operand.operations <= _TYPES_OF_LITERALS:
        return False
    return render(operand, str)[0] not in ":?"  # the signs of parameters
