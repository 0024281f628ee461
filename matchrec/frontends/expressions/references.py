"""Takes out of an expression what reads rows of a match: navigation, aggregates, columns.

Everything that the standard forbids about them is refused here, because only here is it known how
they were written.
Source: ISO/IEC 19075-5, row pattern navigation operations; running versus final semantics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from matchrec.errors.sql import expression as expression_errors
from matchrec.errors.sql import pattern as navigation_errors
from matchrec.errors.sql import pattern as pattern_errors
from matchrec.errors.sql.expression import column_in_double_quotes
from matchrec.frontends.expressions import row_terms
from matchrec.frontends.expressions.analysis import (
    Analysis,
    ClausePart,
    is_semantics,
    unknown_variable,
)
from matchrec.frontends.lexing.tokens import (
    AGGREGATES,
    LOGICAL,
    MOST,
    NAVIGATION,
    OF_THE_MATCH,
    PHYSICAL,
    WINDOW_ONLY,
    Range,
    TokenKind,
    TokenSequence,
    whole_number,
)
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Frame,
    Navigation,
    Piece,
    Reference,
    Semantics,
    Term,
    inner_references,
    references,
)
from matchrec.plan.operations import NO_OPERATIONS, named
from matchrec.plan.text import NONDETERMINISTIC
from matchrec.source import Span

# `avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)` in DEFINE: the rows of its frame.
#
# The frame is cut from the partition, in the clause's own order, whatever is mapped; so Spark
# computes it for every row before the match.

_ENDLESS = {"PRECEDING": -1, "FOLLOWING": 1}


def is_frame(analysis: Analysis, index: int) -> bool:
    """Whether OVER at `index` gives an aggregate of a condition its frame."""
    closing = index - (3 if analysis.key(index - 1) == "NULLS" else 1)  # IGNORE NULLS
    opening = analysis.openings.get(closing, 0)
    return (
        analysis.key(index) == "OVER"
        and analysis.scope.clause is ClausePart.DEFINE
        and analysis.is_call(opening - 1)
        and analysis.key(opening - 1) in AGGREGATES
    )


def read_frame(analysis: Analysis, aggregate: Aggregate, index: int) -> tuple[Aggregate, int]:
    """The aggregate over the frame whose OVER stands at `index`, and the token after it."""
    opening = index + 1
    closing = analysis.pairs.get(opening)
    if analysis.key(opening) != "(" or closing is None:
        raise pattern_errors.no_frame(analysis.tokens[index].span)
    span = analysis.span(opening, closing + 1)
    if aggregate.variable is not None:
        raise pattern_errors.frame_of_variable(aggregate.span or span, name=aggregate.variable)
    if aggregate.distinct:
        raise pattern_errors.distinct_with_frame(aggregate.span or span)
    for reference in inner_references(aggregate):
        if reference == MATCH_NUMBER and reference.span is not None:
            raise expression_errors.called_inside(
                reference.span,
                inner="MATCH_NUMBER",
                function=aggregate.function,
                clause=analysis.clause,
            )
    frame = _frame(analysis, opening + 1, closing)
    if frame is None:
        raise pattern_errors.no_frame(span)
    if None not in (frame.start, frame.end) and (frame.start or 0) > (frame.end or 0):
        raise pattern_errors.frame_without_rows(span)
    whole = analysis.span(analysis.index_at[(aggregate.span or span).start], closing + 1)
    return replace(aggregate, frame=frame, span=whole), closing + 1


def _frame(tokens: TokenSequence, start: int, end: int) -> Frame | None:
    """The frame of tokens `start .. end`; None where they are none of ROWS."""
    if tokens.key(start) != "ROWS":
        return None
    if tokens.key(start + 1) != "BETWEEN":
        first = _bound(tokens, start + 1, end)
        return Frame(first[0], 0) if first else None
    middle = next((at for at in range(start, end) if tokens.key(at) == "AND"), end)
    first, last = _bound(tokens, start + 2, middle), _bound(tokens, middle + 1, end)
    return Frame(first[0], last[0]) if first and last else None


def _bound(tokens: TokenSequence, start: int, end: int) -> tuple[int | None] | None:
    """How many rows after the current one a bound lies, None for all; None where it is no bound."""
    written, side = tokens.key(start), _ENDLESS.get(tokens.key(start + 1))
    if end - start != 2:
        return None
    if (written, tokens.key(start + 1)) == ("CURRENT", "ROW"):
        return (0,)
    if side is None or written == "UNBOUNDED":
        return (None,) if side else None
    rows = whole_number(tokens[start].text) if tokens[start].text.isdigit() else None
    return None if rows is None else (side * rows,)


# Aggregates over the rows of one variable: calls, with what may follow them → references.

COLLECTING = frozenset({"COLLECT_LIST", "ARRAY_AGG", "COLLECT_SET"})


def read_aggregate(analysis: Analysis, index: int, semantics: Semantics) -> tuple[Aggregate, int]:
    """The aggregate called at `index`, with what belongs to it, and the token after it."""
    closing = analysis.pairs[index + 1]
    function = analysis.tokens[index].text.lower()
    distinct = analysis.key(index + 2) == "DISTINCT"
    arguments = row_terms.call_arguments(analysis, index)
    if analysis.key(index + 2) in ("DISTINCT", "ALL") and arguments:
        arguments = ((arguments[0][0] + 1, arguments[0][1]), *arguments[1:])
    if not arguments and function == "count":
        raise navigation_errors.wrong_number_of_arguments(
            analysis.span(index, closing + 1),
            function="count",
            clause=analysis.clause,
            expected="an argument",
            given=0,
        )
    aggregate = Aggregate(function, None, (), semantics, distinct)
    aggregate, end = _with_suffix(analysis, index, aggregate, closing + 1)
    _refuse_kept_nulls(analysis, index, end)
    arguments, ignore_nulls = _without_nulls_treatment(analysis, arguments)
    read = (_argument(analysis, index, argument) for argument in arguments)
    aggregate = replace(
        aggregate,
        variable=_variable(analysis, index, end, arguments),
        arguments=tuple(term for term in read if term is not None),
        ignore_nulls=aggregate.ignore_nulls or ignore_nulls,
        span=analysis.span(index, end),
    )
    return read_frame(analysis, aggregate, end) if is_frame(analysis, end) else (aggregate, end)


def _argument(analysis: Analysis, index: int, argument: Range) -> Term | None:
    """One argument; None for the `*` of `count(*)` and `count(A.*)`."""
    start, end = argument
    column = analysis.columns.get(start)
    all_columns = analysis.key(start) == "*" or (column is not None and column.star)
    if not all_columns:
        return _term(analysis, row_terms.Operand(index, start, end))
    name = analysis.tokens[index].text
    whole = analysis.key(index + 2) not in ("DISTINCT", "ALL") and analysis.key(end) == ")"
    if analysis.key(index) != "COUNT" or not whole or start != index + 2:
        raise expression_errors.star_outside_count(
            analysis.span(start, end), function=name, clause=analysis.clause
        )
    if column is not None and analysis.variable(column) is None:
        qualifier = analysis.tokens[start]
        raise unknown_variable(analysis, qualifier)
    return None


def _term(analysis: Analysis, operand: row_terms.Operand) -> Term:
    """What an aggregate evaluates on each row."""
    row_terms.variable_of_argument(analysis, operand)
    return row_terms.row_term(analysis, operand, Semantics.RUNNING)


def _variable(analysis: Analysis, index: int, end: int, arguments: tuple[Range, ...]) -> str | None:
    """The one variable of the aggregate's arguments, condition and ordering."""
    variable = row_terms.one_variable(analysis, row_terms.Operand(index, index, end))
    star = next((start for start, _ in arguments if analysis.key(start) == "*"), None)
    if star is not None and variable is not None:
        there = next(c.span for c in analysis.columns_in(index, end))
        raise expression_errors.two_variables(
            analysis.tokens[index].text,
            analysis.clause,
            ("", variable),
            (analysis.tokens[star].span, there),
        )
    return variable


def _with_suffix(
    analysis: Analysis, index: int, aggregate: Aggregate, end: int
) -> tuple[Aggregate, int]:
    """The aggregate with what follows its parentheses, and the token after that."""
    while True:
        match analysis.key(end), analysis.key(end + 1), analysis.key(end + 2):
            case "FILTER", "(", "WHERE":
                closing = analysis.pairs[end + 1]
                condition = _term(analysis, row_terms.Operand(index, end + 3, closing))
                aggregate, end = replace(aggregate, condition=condition), closing + 1
            case "WITHIN", "GROUP", "(":
                closing = analysis.pairs[end + 2]
                parts = analysis.separated(end + 5, closing)
                ordering = tuple(_sort_item(analysis, index, part) for part in parts)
                aggregate, end = replace(aggregate, ordering=ordering), closing + 1
            case ("IGNORE" | "RESPECT") as word, "NULLS", _:
                aggregate, end = replace(aggregate, ignore_nulls=word == "IGNORE"), end + 2
            case _:
                return aggregate, end


def _refuse_kept_nulls(analysis: Analysis, index: int, end: int) -> None:
    """RESPECT NULLS of an aggregate that otherwise leaves NULL out, which Spark has since 4.2."""
    if analysis.key(index) not in COLLECTING:
        return
    for word in range(index, end - 1):
        if analysis.says(word, "RESPECT", "NULLS"):
            span = analysis.span(word, word + 2)
            raise expression_errors.kept_nulls(
                span, function=analysis.tokens[index].text, clause=analysis.clause
            )


def _sort_item(analysis: Analysis, index: int, part: Range) -> tuple[Term, str]:
    """One item of WITHIN GROUP (ORDER BY ...): what it sorts by, and the words after it."""
    start, end = part
    last = end
    while last - 1 > start and analysis.key(last - 1) in ("ASC", "DESC", "NULLS", "FIRST", "LAST"):
        last -= 1
    words = " ".join(analysis.key(word) for word in range(last, end))
    return _term(analysis, row_terms.Operand(index, start, last)), words


def _without_nulls_treatment(
    analysis: Analysis, arguments: tuple[Range, ...]
) -> tuple[tuple[Range, ...], bool]:
    """The arguments of `any_value(x IGNORE NULLS)` without the last two words."""
    if not arguments:
        return arguments, False
    start, end = arguments[-1]
    word = analysis.key(end - 2)
    if end - start < 3 or analysis.key(end - 1) != "NULLS" or word not in ("IGNORE", "RESPECT"):
        return arguments, False
    return (*arguments[:-1], (start, end - 2)), word == "IGNORE"


# PREV, NEXT, FIRST and LAST: calls → what they read, on the row that they find.
#
# A navigation over an expression with CLASSIFIER in it reads several things of one row:
#
#     PREV(CLASSIFIER() || x)   →   IF(PREV(TRUE), PREV(CLASSIFIER()) || PREV(x), NULL)


def read_navigation(analysis: Analysis, index: int, semantics: Semantics) -> Term:
    """What the navigation called at `index` reads."""
    name = analysis.key(index)
    arguments = row_terms.checked_arguments(analysis, index, range(1, 3), "one or two arguments")
    _refuse_nulls_treatment(analysis, index, arguments)
    default = 1 if name in PHYSICAL else 0
    offset = _offset(analysis, name, arguments[1], default) if len(arguments) == 2 else default
    read = _operand(analysis, index, arguments[0], semantics)

    def moved(piece: Piece) -> Piece:
        if not isinstance(piece, ColumnReference | Classifier):
            return piece
        if name in LOGICAL:
            there = replace(piece.navigation, end=End(name), logical_offset=offset)
        else:
            step = -offset if name == "PREV" else offset
            there = replace(piece.navigation, physical_offset=step)
        return replace(piece, navigation=there)

    return replace(read, pieces=tuple(map(moved, read.pieces)), span=analysis.call_span(index))


def _operand(analysis: Analysis, index: int, argument: Range, semantics: Semantics) -> Term:
    """What the navigation at `index` goes on from or reads: FIRST or LAST in PREV or NEXT,
    CLASSIFIER, SQL over one row, or both together.
    """
    start, end = argument
    span = analysis.span(start, end)
    prefixed = is_semantics(analysis, start)
    inner = start + prefixed
    if _is_whole_call(analysis, inner, end):
        seen = Semantics(analysis.key(start)) if prefixed else semantics
        if analysis.key(inner) in LOGICAL and analysis.key(index) in PHYSICAL:
            return read_navigation(analysis, inner, seen)
        if analysis.key(inner) == "CLASSIFIER":
            return Term((row_terms.read_classifier(analysis, inner, seen),), span)
    operand = row_terms.Operand(index, start, end)
    variable = row_terms.variable_of_argument(analysis, operand)
    of_the_row = row_terms.row_term(analysis, operand, semantics)
    navigation = Navigation(variable, semantics=semantics)
    if any(isinstance(reference, Classifier) for reference in references(of_the_row)):
        exists = ColumnReference(navigation, "TRUE", None, NO_OPERATIONS)
        pieces = "IF(", exists, ", ", *of_the_row.pieces, ", NULL)"
        return Term(pieces, span, of_the_row.own | named("IF"))
    if not analysis.columns_in(start, end):
        only = analysis.tokens[start]
        if end == start + 1 and only.in_double_quotes:
            raise column_in_double_quotes(only.span, clause=analysis.clause, text=only.text)
        call = analysis.call_span(index)
        raise pattern_errors.no_column(call, function=analysis.key(index), clause=analysis.clause)
    text, operations = analysis.row_text(start, end), analysis.operations_in(start, end)
    return Term((ColumnReference(navigation, text, None, operations),), span)


def _is_whole_call(analysis: Analysis, index: int, end: int) -> bool:
    return analysis.is_call(index) and analysis.pairs.get(index + 1) == end - 1


def _offset(analysis: Analysis, name: str, argument: Range, default: int) -> int:
    start, end = argument
    span = analysis.span(start, end)
    written = analysis.written(span)
    token = analysis.tokens[start]
    rows = analysis[end - 1].text
    if token.key == "-" and end == start + 2 and rows.isdigit():
        raise pattern_errors.negative_offset(
            span, function=name, clause=analysis.clause, written=written, rows=rows
        )
    if not (end == start + 1 and token.kind is TokenKind.NUMBER and token.text.isdigit()):
        raise pattern_errors.bad_offset(
            span, function=name, clause=analysis.clause, written=written, default=default
        )
    offset = whole_number(token.text)
    if offset is None:
        raise pattern_errors.offset_too_large(
            span, function=name, clause=analysis.clause, limit=MOST
        )
    return offset


def _refuse_nulls_treatment(analysis: Analysis, index: int, arguments: tuple[Range, ...]) -> None:
    """IGNORE NULLS or RESPECT NULLS in the parentheses of the call at `index`."""
    for _, end in arguments:
        word = analysis.key(end - 2)
        if analysis.key(end - 1) == "NULLS" and word in ("IGNORE", "RESPECT"):
            span = analysis.span(end - 2, end)
            raise pattern_errors.modifier_of_navigation(
                analysis.key(index), word, analysis.clause, span
            )


@dataclass(frozen=True, slots=True)
class Hole:
    """Tokens `start .. end` of an expression, and what they read of the match."""

    start: int
    end: int
    read: Term


def find_holes(analysis: Analysis) -> tuple[Hole, ...]:
    """What an expression reads of a match, left to right; holes do not overlap."""
    _refuse_everywhere(analysis)
    return tuple(_holes(analysis))


def refuse_references(analysis: Analysis) -> None:
    """Refuses what reads rows of a match, in an expression that is evaluated before it."""
    for index, token in enumerate(analysis.tokens):
        if _in_subquery(analysis, index):
            continue
        if token.key == "OVER" and analysis.key(index - 1) == ")":
            raise expression_errors.reads_rows_of_a_match(
                token.span, function="window function", clause=analysis.clause
            )
        if is_reading_call(analysis, index):
            raise expression_errors.reads_rows_of_a_match(
                token.span, function=token.text, clause=analysis.clause
            )


def _holes(analysis: Analysis) -> Iterator[Hole]:
    index = 0
    while index < len(analysis.tokens):
        if analysis.is_subquery(index):
            index = analysis.past(index)
        elif hole := _hole_at(analysis, index):
            yield hole
            index = hole.end
        else:
            index += 1


def _hole_at(analysis: Analysis, index: int) -> Hole | None:
    prefixed = is_semantics(analysis, index)
    semantics = Semantics(analysis.key(index)) if prefixed else Semantics.RUNNING
    function = index + prefixed
    if prefixed:
        _refuse_semantics(analysis, index)
    if is_reading_call(analysis, function):
        read, end = _call(analysis, function, semantics)
        return Hole(index, end, _spanned(read, analysis.span(index, end)))
    column = analysis.columns.get(index)
    if index == 0 and analysis.key(index) == "*":
        raise expression_errors.bare_star(analysis.span(index, index + 1), clause=analysis.clause)
    if column is not None and column.star and not column.in_query:
        raise expression_errors.bare_star(column.span, clause=analysis.clause)
    reference = row_terms.read_column(analysis, index)
    if column is None or reference is None:
        return None
    return Hole(index, analysis.after(index, column.span), Term((reference,), column.span))


def _spanned(term: Term, span: Span) -> Term:
    """The readings as if all of them were written at `span`."""
    pieces = (one if isinstance(one, str) else replace(one, span=span) for one in term.pieces)
    return replace(term, pieces=tuple(pieces), span=span)


def is_reading_call(analysis: Analysis, index: int) -> bool:
    """Whether a navigation, an aggregate or another function of the match is called at `index`."""
    if not analysis.is_call(index):
        return False
    name = analysis.key(index)
    quantifies = name in ("ANY", "SOME") and analysis.key(index - 1) in ("LIKE", "ILIKE", "RLIKE")
    return name in OF_THE_MATCH or (name in AGGREGATES and not quantifies)


def _call(analysis: Analysis, index: int, semantics: Semantics) -> tuple[Term, int]:
    """What the call at `index` reads, and the token after it."""
    name, end = analysis.key(index), analysis.past(index + 1)
    if name in NAVIGATION:
        return read_navigation(analysis, index, semantics), end
    reference: Reference
    if name in row_terms.READERS:
        reference = row_terms.READERS[name](analysis, index, semantics)
    else:
        reference, end = read_aggregate(analysis, index, semantics)
    return Term((reference,), analysis.span(index, end)), end


def _refuse_semantics(analysis: Analysis, index: int) -> None:
    """RUNNING and FINAL stand before FIRST, LAST, CLASSIFIER and aggregates; FINAL in MEASURES."""
    function = analysis.key(index + 1)
    written = analysis.tokens[index + 1].text
    span = analysis.span(index, index + 2)
    if not (function in LOGICAL or function in AGGREGATES or function == "CLASSIFIER"):
        raise expression_errors.semantics_before(
            analysis.key(index), written, analysis.clause, span
        )
    if analysis.key(index) == "FINAL" and analysis.scope.clause is ClausePart.DEFINE:
        raise expression_errors.final_in_define(span, function=function)


def _refuse_everywhere(analysis: Analysis) -> None:
    """What may stand nowhere in an expression over a match, not even in an argument."""
    for index, token in enumerate(analysis.tokens):
        name = token.key
        if is_semantics(analysis, index):
            _refuse_semantics(analysis, index)
        over = name == "OVER" and analysis.key(index - 1) in (")", "NULLS")
        if over and not _in_subquery(analysis, index) and not is_frame(analysis, index):
            raise expression_errors.window(token.span, clause=analysis.clause)
        if not analysis.is_call(index) or _in_subquery(analysis, index):
            continue
        if name in WINDOW_ONLY:
            raise expression_errors.window_function(
                token.span, function=token.text, clause=analysis.clause
            )
        if name in NONDETERMINISTIC and analysis.scope.clause is ClausePart.DEFINE:
            raise expression_errors.nondeterministic(token.span, function=token.text.lower())
    for column in analysis.columns.values():
        variable = analysis.variable(column)
        if column.in_query and variable is not None:
            raise expression_errors.correlated_subquery(
                column.span, clause=analysis.clause, name=variable
            )


def _in_subquery(analysis: Analysis, index: int) -> bool:
    return any(map(analysis.is_subquery, analysis.brackets_around(index)))
