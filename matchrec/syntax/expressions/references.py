"""What reads rows of a match: navigation, aggregates, CLASSIFIER and other functions of the match.

Everything that the standard forbids about them is refused here, because only here is it known how
they were written.
Source: ISO/IEC 19075-5, row pattern navigation operations; running versus final semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import pattern as pattern_errors
from matchrec.plan.expression import (
    MATCH_NUMBER,
    MATCHED_ROW,
    MATCHED_ROWS,
    OF_ENDINGS,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Frame,
    MatchFunction,
    MatchValue,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    column_term,
    inner_references,
    literal,
    names_of,
    row_text,
    with_references,
    with_semantics,
    written_operations,
)
from matchrec.plan.show import show_frame
from matchrec.source import Span
from matchrec.syntax.expressions.reader import (
    AFTER_OPERAND,
    ClausePart,
    ExpressionCursor,
    RowRead,
    items_between,
)
from matchrec.syntax.row_pattern import number_of, parameter_at
from matchrec.syntax.tokens import (
    AGGREGATES,
    LOGICAL,
    MATCH_FUNCTIONS,
    MOST,
    NAVIGATION,
    PHYSICAL,
    SEMANTICS,
    Range,
    TokenKind,
    TokenSequence,
    whole_number,
)

_SUFFIXES = frozenset({"FILTER", "IGNORE", "RESPECT", "WITHIN"})

# Calls, with RUNNING or FINAL before some of them.


def read_with_semantics(reader: ExpressionCursor) -> Scalar | None:
    """What follows RUNNING or FINAL; None where the word is a name."""
    start = reader.position
    following = reader.tokens[start + 1] if start + 1 < reader.end else None
    if following is None or not following.is_name or following.key in AFTER_OPERAND:
        return None
    if not reader.text.is_call(start + 1):
        span = reader.span(start, start + 2)
        raise errors.semantics_before(span, word=reader.key, what="a column", clause=reader.clause)
    _refuse_semantics(reader, start)
    return read_call(reader, start)


def read_call(reader: ExpressionCursor, start: int) -> Scalar:
    """What the call at `start`, or behind its RUNNING or FINAL, reads."""
    prefixed = reader.key_at(start) in SEMANTICS
    semantics = Semantics(reader.key_at(start)) if prefixed else Semantics.RUNNING
    index = start + prefixed
    function = reader.tokens[index]
    if not reader.scope.reads_match:
        span, name = function.span, function.text
        raise errors.reads_rows_of_a_match(span, function=name, clause=reader.clause)
    if reader.caller is not None:
        _refuse_in_call(reader, reader.caller, index)
    reader.position = end = reader.text.past(index + 1)
    read: Scalar
    if function.key in NAVIGATION:
        read = read_navigation(reader, index, semantics)
    elif function.key in READERS:
        read = Term((READERS[function.key](reader, index, semantics),), function.span)
    else:
        aggregate, end = read_aggregate(reader, index, semantics)
        read = Term((aggregate,), function.span)
    reader.position, reader.last_read = end, reader.span(start, end)
    span = reader.last_read
    return replace(with_references(read, partial(replace, span=span)), span=span)


def _refuse_semantics(reader: ExpressionCursor, index: int) -> None:
    """RUNNING and FINAL stand before FIRST, LAST, CLASSIFIER and aggregates; FINAL in MEASURES."""
    function = reader.key_at(index + 1)
    span = reader.span(index, index + 2)
    if not (function in LOGICAL or function in AGGREGATES or function == "CLASSIFIER"):
        written = reader.tokens[index + 1].text
        word = reader.key_at(index)
        raise errors.semantics_before(span, word=word, what=written, clause=reader.clause)
    if reader.key_at(index) == "FINAL" and reader.scope.clause is ClausePart.DEFINE:
        raise errors.final_in_define(span, function=function)


def _refuse_in_call(reader: ExpressionCursor, function: int, index: int) -> None:
    """What cannot stand at `index`, in the navigation or aggregate at `function`."""
    outer, inner = reader.tokens[function], reader.tokens[index]
    aggregate = outer.key in AGGREGATES
    at, clause = (outer.span, inner.span), reader.clause
    of_measures = reader.scope.clause is ClausePart.MEASURES
    name = outer.text if aggregate else outer.key
    match inner.key:
        case "CLASSIFIER":
            pass
        case "MATCH_NUMBER" if aggregate:
            pass
        case "MATCH_ROW_NUMBER" if aggregate and of_measures:
            pass
        case key if key in MATCH_FUNCTIONS:
            raise errors.called_inside(inner.span, inner=key, function=name, clause=clause)
        case key if key in NAVIGATION and aggregate:
            raise errors.navigation_in_aggregate(at, navigation=key, aggregate=name, clause=clause)
        case key if key in NAVIGATION:
            raise pattern_errors.wrong_nesting(at, inner=key, outer=name, clause=clause)
        case _:
            raise errors.aggregate_in(at, aggregate=inner.text, outer=name, clause=clause)


# `avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)` in DEFINE: the rows of its frame.
#
# The frame is cut from the partition, in the clause's own order, whatever is mapped; so Spark
# computes it for every row before the match.

_ENDLESS = {"PRECEDING": -1, "FOLLOWING": 1}
EXAMPLE_FRAME = Frame(-2, 0)  # that errors suggest if the window does not say which rows are meant


def read_frame(reader: ExpressionCursor, aggregate: Aggregate, index: int) -> tuple[Aggregate, int]:
    """The aggregate over the frame whose OVER stands at `index`, and the token after it."""
    opening = index + 1
    closing = reader.text.pairs.get(opening)
    if reader.key_at(opening) != "(" or closing is None:
        raise pattern_errors.no_frame(reader.tokens[index].span, frame=show_frame(EXAMPLE_FRAME))
    span = reader.span(opening, closing + 1)
    if aggregate.variable is not None:
        raise pattern_errors.frame_of_variable(aggregate.span or span, name=aggregate.variable)
    if aggregate.distinct:
        raise pattern_errors.distinct_with_frame(aggregate.span or span)
    for reference in inner_references(aggregate):
        if reference == MATCH_NUMBER and reference.span is not None:
            here, name, clause = reference.span, aggregate.function, reader.clause
            raise errors.called_inside(here, inner="MATCH_NUMBER", function=name, clause=clause)
    frame = _frame(reader.text, opening + 1, closing)
    if frame is None:
        meant = _meant_frame(reader.text, opening + 1, closing)
        raise pattern_errors.no_frame(span, frame=show_frame(meant))
    if None not in (frame.start, frame.end) and (frame.start or 0) > (frame.end or 0):
        raise pattern_errors.frame_without_rows(span)
    whole = reader.span(reader.text.index_at[(aggregate.span or span).start], closing + 1)
    return replace(aggregate, frame=frame, span=whole), closing + 1


def _frame(tokens: TokenSequence, start: int, end: int) -> Frame | None:
    """The frame of tokens `start .. end`; None where they are none of ROWS."""
    return _bounds(tokens, start + 1, end) if tokens.key(start) == "ROWS" else None


def _bounds(tokens: TokenSequence, start: int, end: int) -> Frame | None:
    """The frame of the tokens after ROWS; None if they are not the bounds of one."""
    if tokens.key(start) != "BETWEEN":
        first = _bound(tokens, start, end)
        return Frame(first[0], 0) if first else None
    middle = next((at for at in range(start, end) if tokens.key(at) == "AND"), end)
    first, last = _bound(tokens, start + 1, middle), _bound(tokens, middle + 1, end)
    return Frame(first[0], last[0]) if first and last else None


def _meant_frame(tokens: TokenSequence, start: int, end: int) -> Frame:
    """Return the frame of rows that a window definition means, to suggest it.

    This is its own ROWS frame if only PARTITION BY or ORDER BY stand before it. Without a frame, a
    window with ORDER BY has all rows up to the current one, and without ORDER BY all rows of the
    partition. A frame of RANGE or GROUPS has no equivalent, unless its bounds are UNBOUNDED or
    CURRENT ROW. `EXAMPLE_FRAME` is for all other windows.
    """
    keys = [tokens.key(at) for at in range(start, end)]
    for unit in ("ROWS", "RANGE", "GROUPS"):
        if unit not in keys:
            continue
        written = _bounds(tokens, start + keys.index(unit) + 1, end)
        if written is None:
            return EXAMPLE_FRAME
        has_equivalent = unit == "ROWS" or {written.start, written.end} <= {0, None}
        return written if has_equivalent else EXAMPLE_FRAME
    if "ORDER" in keys:
        return Frame(None, 0)
    return Frame(None, None) if not keys or keys[0] == "PARTITION" else EXAMPLE_FRAME


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


def read_aggregate(
    reader: ExpressionCursor, index: int, semantics: Semantics
) -> tuple[Aggregate, int]:
    """The aggregate called at `index`, with what belongs to it, and the token after it."""
    closing = reader.text.pairs[index + 1]
    function = reader.tokens[index].text.lower()
    distinct = reader.key_at(index + 2) == "DISTINCT"
    arguments = call_arguments(reader, index)
    if reader.key_at(index + 2) in ("DISTINCT", "ALL") and arguments:
        arguments = ((arguments[0][0] + 1, arguments[0][1]), *arguments[1:])
    if not arguments and function == "count":
        raise _wrong_number(reader, index, function, "an argument", 0)
    before = len(reader.rows_read)
    aggregate = Aggregate(function, None, (), semantics, distinct)
    aggregate, end = _with_suffix(reader, index, aggregate, closing + 1)
    _refuse_kept_nulls(reader, index, end)
    start, stop = arguments[-1] if arguments else (0, 0)
    word = _nulls_treatment(reader, stop) if stop - start > 2 else ""
    if word:  # any_value(x IGNORE NULLS)
        arguments = (*arguments[:-1], (start, stop - 2))
    read = [_argument(reader, index, argument) for argument in arguments]
    aggregate = replace(
        aggregate,
        variable=_one_variable(reader, index, before),
        arguments=tuple(term for term in read if term is not None),
        ignore_nulls=aggregate.ignore_nulls or word == "IGNORE",
        span=reader.span(index, end),
    )
    is_frame = reader.key_at(end) == "OVER" and reader.scope.clause is ClausePart.DEFINE
    return read_frame(reader, aggregate, end) if is_frame else (aggregate, end)


def _argument(reader: ExpressionCursor, index: int, argument: Range) -> Scalar | None:
    """One argument; None for the `*` of `count(*)` and `count(A.*)`."""
    start, end = argument
    is_qualified = end == start + 3 and reader.key_at(start + 1) == "."
    if reader.key_at(end - 1) != "*" or not (is_qualified or end == start + 1):
        return reader.read_argument(index, start, end)
    name, span = reader.tokens[index].text, reader.span(start, end)
    whole = reader.key_at(index + 2) not in ("DISTINCT", "ALL") and reader.key_at(end) == ")"
    if reader.key_at(index) != "COUNT" or not whole or start != index + 2:
        raise errors.star_outside_count(span, function=name, clause=reader.clause)
    qualifier = reader.tokens[start]
    if is_qualified and qualifier.variable not in reader.scope.variables:
        raise reader.unknown_variable(qualifier)
    variable = qualifier.variable if is_qualified else None
    reader.rows_read.append(RowRead(variable, span, is_column=True))
    return None


def _one_variable(reader: ExpressionCursor, index: int, before: int) -> str | None:
    """The variable of all that the call at `index` reads; before: how much was read before it."""
    found: dict[str | None, Span] = {}
    for read in sorted(reader.rows_read[before:], key=attrgetter("span.start")):
        found.setdefault(read.variable, read.span)
    if len(found) > 1:
        first, second, *_ = (f"`{name}`" if name else "all variables" for name in found)
        here, there, *_ = found.values()
        spans, name, clause = (here, there), reader.tokens[index].text, reader.clause
        raise errors.two_variables(spans, function=name, clause=clause, first=first, second=second)
    return next(iter(found), None)


def _with_suffix(
    reader: ExpressionCursor, index: int, aggregate: Aggregate, end: int
) -> tuple[Aggregate, int]:
    """The aggregate with what follows its parentheses, and the token after that."""
    while True:
        match reader.key_at(end), reader.key_at(end + 1), reader.key_at(end + 2):
            case "FILTER", "(", "WHERE":
                closing = reader.text.pairs[end + 1]
                condition = reader.read_argument(index, end + 3, closing)
                aggregate, end = replace(aggregate, condition=condition), closing + 1
            case "WITHIN", "GROUP", "(":
                closing = reader.text.pairs[end + 2]
                reader.position = end + 3
                reader.expect("ORDER", "BY")
                parts = reader.text.separated(end + 5, closing)
                ordering = tuple(_sort_item(reader, index, part) for part in parts)
                aggregate, end = replace(aggregate, ordering=ordering), closing + 1
            case ("IGNORE" | "RESPECT") as word, "NULLS", _:
                aggregate, end = replace(aggregate, ignore_nulls=word == "IGNORE"), end + 2
            case _:
                return aggregate, end


def _refuse_kept_nulls(reader: ExpressionCursor, index: int, end: int) -> None:
    """RESPECT NULLS of an aggregate that otherwise leaves NULL out, which Spark has since 4.2."""
    if reader.key_at(index) not in COLLECTING:
        return
    for word in range(index, end - 1):
        if reader.text.says(word, "RESPECT", "NULLS"):
            span = reader.span(word, word + 2)
            raise errors.kept_nulls(span, function=reader.tokens[index].text, clause=reader.clause)


def _sort_item(reader: ExpressionCursor, index: int, part: Range) -> tuple[Scalar, str]:
    """One item of WITHIN GROUP (ORDER BY ...): what it sorts by, and the words after it."""
    start, end = part
    last = end
    while last - 1 > start and reader.key_at(last - 1) in ("ASC", "DESC", "NULLS", "FIRST", "LAST"):
        last -= 1
    words = " ".join(reader.key_at(word) for word in range(last, end))
    return reader.read_argument(index, start, last), words


def _nulls_treatment(reader: ExpressionCursor, end: int) -> str:
    """The word of IGNORE NULLS or RESPECT NULLS before `end`; nothing where neither stands."""
    word = reader.key_at(end - 2)
    return word if reader.key_at(end - 1) == "NULLS" and word in ("IGNORE", "RESPECT") else ""


# PREV, NEXT, FIRST and LAST: calls → what they read, on the row that they find.
#
# A navigation over an expression with CLASSIFIER in it reads several things of one row:
#
#     PREV(CLASSIFIER() || x)   →   IF(PREV(TRUE), PREV(CLASSIFIER()) || PREV(x), NULL)


def read_navigation(reader: ExpressionCursor, index: int, semantics: Semantics) -> Scalar:
    """What the navigation called at `index` reads."""
    name = reader.key_at(index)
    arguments = checked_arguments(reader, index, range(1, 3), "one or two arguments")
    for _, end in arguments:
        if word := _nulls_treatment(reader, end):
            span = reader.span(end - 2, end)
            raise pattern_errors.modifier_of_navigation(name, word, reader.clause, span)
    default = 1 if name in PHYSICAL else 0
    offset = _offset(reader, name, arguments[1], default) if len(arguments) == 2 else default
    read = _operand(reader, index, arguments[0], semantics)

    def moved(one: Reference) -> Reference:
        if not isinstance(one, ColumnReference | Classifier):
            return one
        if name in LOGICAL:
            there = replace(one.navigation, end=End(name), logical_offset=offset)
        else:
            step = -offset if name == "PREV" else offset
            there = replace(one.navigation, physical_offset=step)
        return replace(one, navigation=there)

    return with_references(read, moved)


def _operand(reader: ExpressionCursor, index: int, argument: Range, semantics: Semantics) -> Scalar:
    """What a navigation goes on from or reads: FIRST, LAST, CLASSIFIER or SQL over one row."""
    start, end = argument
    span, before = reader.span(start, end), len(reader.rows_read)
    prefixed = reader.key_at(start) in SEMANTICS and reader.text.is_call(start + 1)
    inner = start + prefixed
    if reader.text.is_call(inner) and reader.text.pairs.get(inner + 1) == end - 1:
        seen = Semantics(reader.key_at(start)) if prefixed else semantics
        if reader.key_at(inner) in LOGICAL and reader.key_at(index) in PHYSICAL:
            if prefixed:
                _refuse_semantics(reader, start)
            return read_navigation(reader, inner, seen)
        if reader.key_at(inner) == "CLASSIFIER":
            return Term((read_classifier(reader, inner, seen),), span)
    tree = reader.read_argument(index, start, end)
    navigation = Navigation(_one_variable(reader, index, before), semantics=semantics)
    if Classifier in map(type, tree.references):
        exists = column_term(navigation, "TRUE", span)
        seen_there = with_references(tree, partial(with_semantics, semantics=semantics))
        parts = "IF(", exists, ", ", seen_there, ", ", literal("NULL", span), ")"
        return Operation("IF", parts, span)
    if not any(map(attrgetter("is_column"), reader.rows_read[before:])):
        only = reader.tokens[start]
        if end == start + 1 and only.in_double_quotes:
            raise errors.column_in_double_quotes(only.span, clause=reader.clause, text=only.text)
        call = reader.text.call_span(index)
        raise pattern_errors.no_column(call, function=reader.key_at(index), clause=reader.clause)
    operations = written_operations(tree)
    found = ColumnReference(navigation, row_text(tree), None, operations, names_of(tree))
    return Term((found,), span)


def _offset(reader: ExpressionCursor, name: str, argument: Range, default: int) -> int:
    start, end = argument
    while reader.key_at(start) == "(" and reader.text.pairs.get(start) == end - 1:
        start, end = start + 1, end - 1
    span = reader.span(start, end)
    written = reader.written(span)
    parameter = parameter_at(reader.tokens[start:end])
    if parameter is not None and reader.scope.values is not None:
        what = f"the offset of {name} in {reader.clause}"
        return number_of(parameter, reader.scope.values, what)
    token = reader.tokens[start]
    rows = reader.tokens[end - 1].text
    if token.key == "-" and end == start + 2 and rows.isdigit():
        raise pattern_errors.negative_offset(
            span, function=name, clause=reader.clause, written=written, rows=rows
        )
    if not (end == start + 1 and token.kind is TokenKind.NUMBER and token.text.isdigit()):
        raise pattern_errors.bad_offset(
            span, function=name, clause=reader.clause, written=written, default=default
        )
    offset = whole_number(token.text)
    if offset is None:
        raise pattern_errors.offset_too_large(span, function=name, clause=reader.clause, limit=MOST)
    return offset


# Functions of the match.


def read_classifier(reader: ExpressionCursor, index: int, semantics: Semantics) -> Classifier:
    variable, span = _variable(reader, index), reader.text.call_span(index)
    reader.rows_read.append(RowRead(variable, span, is_column=False))
    return Classifier(Navigation(variable, semantics=semantics), span)


def _read_matched_rows(reader: ExpressionCursor, index: int, _: Semantics) -> Aggregate:
    span, variable = reader.text.call_span(index), _variable(reader, index)
    if reader.scope.clause is not ClausePart.MEASURES:
        raise errors.matched_rows_of_unfinished_match(span, clause=reader.clause)
    row = column_term(Navigation(variable), MATCHED_ROW, span)
    return Aggregate(MATCHED_ROWS, variable, (row,), Semantics.FINAL, span=span)


def _read_match_value(
    function: MatchFunction, reader: ExpressionCursor, index: int, _: Semantics
) -> Reference:
    """A value of the match; the number of a row that no aggregate counts is RUNNING count(*)."""
    span = reader.text.call_span(index)
    checked_arguments(reader, index, range(1), "no argument")
    if function is MatchFunction.ROW_NUMBER and reader.caller is None:
        return Aggregate("count", None, (), span=span)
    if function in OF_ENDINGS and reader.scope.clause is ClausePart.DEFINE:
        raise errors.ending_in_define(span, function=function.value)
    return MatchValue(function, span)


# What reads a call, by its name, but for those of navigation and of aggregates.
READERS: Mapping[str, Callable[[ExpressionCursor, int, Semantics], Reference]] = {
    "CLASSIFIER": read_classifier,
    "MATCHED_ROWS": _read_matched_rows,
    **{one.words: partial(_read_match_value, one) for one in MatchFunction},
}


def _variable(reader: ExpressionCursor, index: int) -> str | None:
    """The variable that the call at `index` names, if any."""
    arguments = checked_arguments(reader, index, range(2), "at most one variable")
    if not arguments:
        return None
    ((start, end),) = arguments
    token = reader.tokens[start]
    if end - start != 1 or not token.can_name:
        span, name = reader.span(start, end), reader.key_at(index)
        raise errors.expression_for_variable(span, function=name, clause=reader.clause)
    if token.variable not in reader.scope.variables:
        raise reader.unknown_variable(token)
    return token.variable


def checked_arguments(
    reader: ExpressionCursor, index: int, wanted: range, expected: str
) -> tuple[Range, ...]:
    """The index ranges of the arguments of a call that nothing follows, of which some number is
    wanted. Raises MatchRecognizeError for DISTINCT in it, or FILTER and the like after it.
    """
    closing = reader.text.pairs[index + 1]
    for place in (index + 2, closing + 1):
        key, name = reader.key_at(place), reader.key_at(index)
        if (key == "DISTINCT" and place < closing) or (key in _SUFFIXES and place > closing):
            span = reader.tokens[place].span
            raise pattern_errors.modifier_of_navigation(name, key, reader.clause, span)
    arguments = call_arguments(reader, index)
    if len(arguments) not in wanted:
        raise _wrong_number(reader, index, reader.key_at(index), expected, len(arguments))
    return arguments


def _wrong_number(
    reader: ExpressionCursor, index: int, function: str, expected: str, given: int
) -> MatchRecognizeError:
    span, clause = reader.text.call_span(index), reader.clause
    return pattern_errors.wrong_number_of_arguments(
        span, function=function, clause=clause, expected=expected, given=given
    )


def call_arguments(reader: ExpressionCursor, index: int) -> tuple[Range, ...]:
    start, end = index + 2, reader.text.pairs[index + 1]
    return items_between(reader.text, (start, end), reader.clause) if start < end else ()
