"""Aggregates over the rows of one variable: calls, with what may follow them → references."""

from __future__ import annotations

from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.errors.sql import syntax as syntax_errors
from matchrec.frontends.expressions.analysis import Analysis, unknown_variable
from matchrec.frontends.expressions.references.frames import is_frame, read_frame
from matchrec.frontends.expressions.references.row_argument import (
    Operand,
    one_variable,
    read_row_argument,
)
from matchrec.frontends.expressions.references.row_term import call_arguments, row_term
from matchrec.plan.expression import Aggregate, Semantics, Term

COLLECTING = frozenset({"COLLECT_LIST", "ARRAY_AGG", "COLLECT_SET"})


def read_aggregate(analysis: Analysis, index: int, semantics: Semantics) -> tuple[Aggregate, int]:
    """The aggregate called at `index`, with what belongs to it, and the token after it."""
    closing = analysis.pairs[index + 1]
    function = analysis.tokens[index].text.lower()
    distinct = analysis.key(index + 2) == "DISTINCT"
    arguments = call_arguments(analysis, index)
    if analysis.key(index + 2) in ("DISTINCT", "ALL") and arguments:
        arguments = ((arguments[0][0] + 1, arguments[0][1]), *arguments[1:])
    if not arguments and function == "count":
        raise navigation_errors.wrong_number_of_arguments(
            "count", "an argument", 0, analysis.clause, analysis.span(index, closing + 1)
        )
    suffix = _read_suffix(analysis, index, closing + 1)
    _refuse_kept_nulls(analysis, index, suffix.end)
    arguments, ignore_nulls = _without_nulls_treatment(analysis, arguments)
    read = (_argument(analysis, index, argument) for argument in arguments)
    aggregate = Aggregate(
        function,
        _variable(analysis, index, suffix.end, arguments),
        tuple(term for term in read if term is not None),
        semantics,
        distinct,
        suffix.condition,
        suffix.ordering,
        suffix.ignore_nulls or ignore_nulls,
        span=analysis.span(index, suffix.end),
    )
    if is_frame(analysis, suffix.end):
        return read_frame(analysis, aggregate, suffix.end)
    return aggregate, suffix.end


def _argument(analysis: Analysis, index: int, argument: tuple[int, int]) -> Term | None:
    """One argument; None for the `*` of `count(*)` and `count(A.*)`."""
    start, end = argument
    if start == end:
        token = analysis.tokens[end]
        raise syntax_errors.unexpected_token(token.text, analysis.clause, token.span)
    column = analysis.columns.get(start)
    all_columns = analysis.key(start) == "*" or (column is not None and column.star)
    if not all_columns:
        return _term(analysis, Operand(index, start, end))
    name = analysis.tokens[index].text
    whole = analysis.key(index + 2) not in ("DISTINCT", "ALL") and analysis.key(end) == ")"
    if analysis.key(index) != "COUNT" or not whole or start != index + 2:
        raise errors.star_outside_count(name, analysis.clause, analysis.span(start, end))
    if column is not None and analysis.variable(column) is None:
        qualifier = analysis.tokens[start]
        raise unknown_variable(analysis, qualifier)
    return None


def _term(analysis: Analysis, operand: Operand) -> Term:
    """What an aggregate evaluates on each row."""
    read_row_argument(analysis, operand)
    return row_term(analysis, operand, Semantics.RUNNING)


def _variable(
    analysis: Analysis, index: int, end: int, arguments: tuple[tuple[int, int], ...]
) -> str | None:
    """The one variable of the aggregate's arguments, condition and ordering."""
    variable = one_variable(analysis, Operand(index, index, end))
    star = next((start for start, _ in arguments if analysis.key(start) == "*"), None)
    if star is not None and variable is not None:
        there = next(c.span for c in analysis.columns_in(index, end))
        raise errors.two_variables(
            analysis.tokens[index].text,
            analysis.clause,
            ("", variable),
            (analysis.tokens[star].span, there),
        )
    return variable


@dataclass(frozen=True, slots=True)
class _Suffix:
    """What follows an aggregate's parentheses, up to token `end`."""

    end: int
    condition: Term | None = None
    ordering: tuple[tuple[Term, str], ...] = ()
    ignore_nulls: bool = False


def _read_suffix(analysis: Analysis, index: int, start: int) -> _Suffix:
    suffix = _Suffix(start)
    while True:
        end = suffix.end
        match analysis.key(end), analysis.key(end + 1), analysis.key(end + 2):
            case "FILTER", "(", "WHERE":
                closing = analysis.pairs[end + 1]
                condition = _term(analysis, Operand(index, end + 3, closing))
                suffix = replace(suffix, end=closing + 1, condition=condition)
            case "WITHIN", "GROUP", "(":
                closing = analysis.pairs[end + 2]
                parts = analysis.separated(end + 5, closing)
                ordering = tuple(_sort_item(analysis, index, part) for part in parts)
                suffix = replace(suffix, end=closing + 1, ordering=ordering)
            case ("IGNORE" | "RESPECT") as word, "NULLS", _:
                suffix = replace(suffix, end=end + 2, ignore_nulls=word == "IGNORE")
            case _:
                return suffix


def _refuse_kept_nulls(analysis: Analysis, index: int, end: int) -> None:
    """RESPECT NULLS of an aggregate that otherwise leaves NULL out, which Spark has since 4.2."""
    if analysis.key(index) not in COLLECTING:
        return
    for word in range(index, end - 1):
        if analysis.says(word, "RESPECT", "NULLS"):
            span = analysis.span(word, word + 2)
            raise errors.kept_nulls(analysis.tokens[index].text, analysis.clause, span)


def _sort_item(analysis: Analysis, index: int, part: tuple[int, int]) -> tuple[Term, str]:
    """One item of WITHIN GROUP (ORDER BY ...): what it sorts by, and the words after it."""
    start, end = part
    last = end
    while last - 1 > start and analysis.key(last - 1) in ("ASC", "DESC", "NULLS", "FIRST", "LAST"):
        last -= 1
    words = " ".join(analysis.key(word) for word in range(last, end))
    return _term(analysis, Operand(index, start, last)), words


def _without_nulls_treatment(
    analysis: Analysis, arguments: tuple[tuple[int, int], ...]
) -> tuple[tuple[tuple[int, int], ...], bool]:
    """The arguments of `any_value(x IGNORE NULLS)` without the last two words."""
    if not arguments:
        return arguments, False
    start, end = arguments[-1]
    word = analysis.key(end - 2)
    if end - start < 3 or analysis.key(end - 1) != "NULLS" or word not in ("IGNORE", "RESPECT"):
        return arguments, False
    return (*arguments[:-1], (start, end - 2)), word == "IGNORE"
