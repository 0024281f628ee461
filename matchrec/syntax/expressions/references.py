"""Read the calls that read rows of a match: navigation, aggregates, CLASSIFIER and the like.

Everything that the standard forbids about them is rejected here, because only here it is known how
they are written.

In this module `reader` is the cursor of the expression, and `index` is the token of a function's
name, unless a docstring says otherwise.
Source: ISO/IEC 19075-5, row pattern navigation operations; running versus final semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import pattern as pattern_errors
from matchrec.plan.expression import (
    FUNCTIONS_OF_ENDED_RUNS,
    MATCH_NUMBER,
    MATCHED_ROW,
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Frame,
    MatchFunction,
    MatchValue,
    Navigation,
    Operation,
    OrderedTerm,
    Reference,
    Scalar,
    Semantics,
    Term,
    find_column_names,
    list_inner_references,
    list_text_operations,
    make_column,
    make_literal,
    map_references,
    set_semantics,
    write_row_sql,
)
from matchrec.plan.show import show_frame
from matchrec.source import Span
from matchrec.syntax.expressions.reader import (
    AFTER_OPERAND,
    ClausePart,
    ExpressionCursor,
    RowRead,
    split_items,
)
from matchrec.syntax.row_pattern import read_number, read_parameter
from matchrec.syntax.tokens import (
    AGGREGATES,
    LOGICAL,
    MATCH_FUNCTIONS,
    MOST_ROWS,
    NAVIGATION,
    PHYSICAL,
    SEMANTICS,
    TokenKind,
    TokenRange,
    TokenSequence,
    read_whole_number,
)

_SUFFIXES = frozenset({"FILTER", "IGNORE", "RESPECT", "WITHIN"})

# Calls, with RUNNING or FINAL before some of them.


def read_with_semantics(reader: ExpressionCursor) -> Scalar | None:
    """Read RUNNING or FINAL and the call after it.

    Returns None, and reads nothing, if the word is a name.
    """
    start = reader.position
    next_token = reader.tokens[start + 1] if start + 1 < reader.end else None
    if next_token is None or not next_token.is_name or next_token.key in AFTER_OPERAND:
        return None
    if not reader.text.is_call(start + 1):
        span = reader.text.span(start, start + 2)
        raise errors.misplaced_running_or_final(
            span, word=reader.key, what="a column", clause=reader.where
        )
    _reject_semantics(reader, start)
    return read_call(reader, start)


def read_call(reader: ExpressionCursor, start: int) -> Scalar:
    """Read the call at `start`, which may have RUNNING or FINAL before it."""
    index = start
    semantics = Semantics.RUNNING
    if reader.key_at(start) in SEMANTICS:
        semantics = Semantics(reader.key_at(start))
        index += 1
    function = reader.tokens[index]
    if not reader.scope.reads_match:
        span, name = function.span, function.text
        raise errors.match_function_before_match(span, function=name, clause=reader.where)
    if reader.caller is not None:
        _reject_nested_call(reader, reader.caller, index)
    end = reader.text.index_after(index + 1)
    reader.position = end
    tree: Scalar
    if function.key in NAVIGATION:
        tree = read_navigation(reader, index, semantics)
    elif function.key in READERS:
        tree = Term((READERS[function.key](reader, index, semantics),), function.span)
    else:
        aggregate, end = read_aggregate(reader, index, semantics)
        tree = Term((aggregate,), function.span)
    span = reader.text.span(start, end)
    reader.position = end
    reader.last_read = span
    return replace(map_references(tree, partial(replace, span=span)), span=span)


def _reject_semantics(reader: ExpressionCursor, index: int) -> None:
    """Raise an error for the RUNNING or FINAL at `index` before a function that does not allow it.

    FIRST, LAST, CLASSIFIER and aggregates allow it, FINAL in MEASURES only.
    """
    function = reader.key_at(index + 1)
    span = reader.text.span(index, index + 2)
    if not (function in LOGICAL or function in AGGREGATES or function == "CLASSIFIER"):
        name = reader.tokens[index + 1].text
        word = reader.key_at(index)
        raise errors.misplaced_running_or_final(span, word=word, what=name, clause=reader.where)
    if reader.key_at(index) == "FINAL" and reader.scope.part is ClausePart.DEFINE:
        raise errors.final_in_define(span, function=function)


def _reject_nested_call(reader: ExpressionCursor, function: int, index: int) -> None:
    """Raise an error if the call at `index` is not allowed in the one around it.

    Args:
        reader: the cursor.
        function: the navigation or aggregate around it.
        index: the call.
    """
    outer = reader.tokens[function]
    inner = reader.tokens[index]
    is_in_aggregate = outer.key in AGGREGATES
    is_measure = reader.scope.part is ClausePart.MEASURES
    spans = outer.span, inner.span
    clause = reader.where
    name = outer.text if is_in_aggregate else outer.key
    match inner.key:
        case "CLASSIFIER":
            pass
        case "MATCH_NUMBER" if is_in_aggregate:
            pass
        case "MATCH_ROW_NUMBER" if is_in_aggregate and is_measure:
            pass
        case key if key in MATCH_FUNCTIONS:
            raise errors.nested_match_function(inner.span, inner=key, function=name, clause=clause)
        case key if key in NAVIGATION and is_in_aggregate:
            raise errors.navigation_in_aggregate(
                *spans, navigation=key, aggregate=name, clause=clause
            )
        case key if key in NAVIGATION:
            arguments = [
                reader.write_span(reader.text.span(*argument))
                for argument in find_arguments(reader, index)
            ]
            raise pattern_errors.wrong_navigation_nesting(
                *spans, inner=key, outer=name, clause=clause, arguments=arguments
            )
        case _:
            raise errors.nested_aggregate(*spans, aggregate=inner.text, outer=name, clause=clause)


# Frames in DEFINE: `avg(x) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)`.
#
# A frame has rows of the partition, in the order of the clause. It does not depend on the match, so
# Spark computes the aggregate for every row before it.

_DIRECTIONS = {"PRECEDING": -1, "FOLLOWING": 1}
# The frame that errors suggest if the window does not tell which rows are meant.
EXAMPLE_FRAME = Frame(-2, 0)


def read_frame(reader: ExpressionCursor, aggregate: Aggregate, index: int) -> tuple[Aggregate, int]:
    """Return the aggregate over the frame of the OVER at `index`, and the token after the frame.

    Raises:
        MatchRecognizeError: OVER has no frame of rows, or the aggregate cannot have one.
    """
    opening = index + 1
    closing = reader.text.pairs.get(opening)
    if reader.key_at(opening) != "(" or closing is None:
        raise pattern_errors.over_without_frame(
            reader.tokens[index].span, frame=show_frame(EXAMPLE_FRAME)
        )
    span = reader.text.span(opening, closing + 1)
    if aggregate.variable is not None:
        raise pattern_errors.over_with_variable(aggregate.span or span, name=aggregate.variable)
    if aggregate.distinct:
        raise pattern_errors.distinct_with_over(aggregate.span or span)
    for reference in list_inner_references(aggregate):
        if reference == MATCH_NUMBER and reference.span is not None:
            raise errors.nested_match_function(
                reference.span,
                inner="MATCH_NUMBER",
                function=aggregate.function,
                clause=reader.where,
            )
    frame = None
    if reader.key_at(opening + 1) == "ROWS":
        frame = _read_bounds(reader.text, opening + 2, closing)
    if frame is None:
        suggestion = _suggest_frame(reader.text, opening + 1, closing)
        raise pattern_errors.over_without_frame(span, frame=show_frame(suggestion))
    if frame.start is not None and frame.end is not None and frame.start > frame.end:
        raise pattern_errors.empty_frame(span)
    start = reader.text.index_at[(aggregate.span or span).start]
    with_frame = replace(aggregate, frame=frame, span=reader.text.span(start, closing + 1))
    return with_frame, closing + 1


def _read_bounds(tokens: TokenSequence, start: int, end: int) -> Frame | None:
    """Return the frame in the tokens after ROWS; None if they are not the bounds of a frame."""
    if tokens.key(start) != "BETWEEN":
        first = _read_bound(tokens, start, end)
        return Frame(first[0], 0) if first else None
    and_ = next((index for index in range(start, end) if tokens.key(index) == "AND"), end)
    first = _read_bound(tokens, start + 1, and_)
    last = _read_bound(tokens, and_ + 1, end)
    return Frame(first[0], last[0]) if first and last else None


def _suggest_frame(tokens: TokenSequence, start: int, end: int) -> Frame:
    """Return the frame of rows that a window definition means, to suggest it.

    This is its own ROWS frame if only PARTITION BY or ORDER BY is before it. Without a frame, a
    window with ORDER BY has all rows up to the current one, and without ORDER BY all rows of the
    partition. A frame of RANGE or GROUPS has no equivalent, unless its bounds are UNBOUNDED or
    CURRENT ROW. `EXAMPLE_FRAME` is for all other windows.
    """
    keys = [tokens.key(at) for at in range(start, end)]
    for unit in ("ROWS", "RANGE", "GROUPS"):
        if unit not in keys:
            continue
        frame = _read_bounds(tokens, start + keys.index(unit) + 1, end)
        if frame is None:
            return EXAMPLE_FRAME
        has_equivalent = unit == "ROWS" or {frame.start, frame.end} <= {0, None}
        return frame if has_equivalent else EXAMPLE_FRAME
    if "ORDER" in keys:
        return Frame(None, 0)
    return Frame(None, None) if not keys or keys[0] == "PARTITION" else EXAMPLE_FRAME


def _read_bound(tokens: TokenSequence, start: int, end: int) -> tuple[int | None] | None:
    """Return the bound of a frame in tokens `start .. end`; None if they are not a bound.

    A bound is a tuple with one item: the number of rows after the current one, or None for
    UNBOUNDED.
    """
    if end - start != 2:
        return None
    rows, side = tokens.key(start), tokens.key(start + 1)
    if (rows, side) == ("CURRENT", "ROW"):
        return (0,)
    if side not in _DIRECTIONS:
        return None
    if rows == "UNBOUNDED":
        return (None,)
    digits = tokens[start].text
    number = read_whole_number(digits) if digits.isdigit() else None
    return None if number is None else (_DIRECTIONS[side] * number,)


# Aggregates over the rows of one variable: calls, with what may follow them.

COLLECTING = frozenset({"COLLECT_LIST", "ARRAY_AGG", "COLLECT_SET"})


def read_aggregate(
    reader: ExpressionCursor, index: int, semantics: Semantics
) -> tuple[Aggregate, int]:
    """Read the aggregate at `index` with FILTER and the like, and return the token after it."""
    function = reader.tokens[index].text.lower()
    arguments, nulls_word = _find_aggregate_arguments(reader, index)
    if not arguments and function == "count":
        raise _explain_wrong_number(reader, index, function, "an argument", 0)
    rows_read_before = len(reader.rows_read)
    is_distinct = reader.key_at(index + 2) == "DISTINCT"
    aggregate = Aggregate(function, None, (), semantics, distinct=is_distinct)
    closing = reader.text.pairs[index + 1]
    aggregate, end = _read_suffixes(reader, index, aggregate, closing + 1)
    _reject_kept_nulls(reader, index, end)
    read_arguments = [_read_argument(reader, index, argument) for argument in arguments]
    aggregate = replace(
        aggregate,
        variable=_find_variable(reader, index, rows_read_before),
        arguments=tuple(argument for argument in read_arguments if argument is not None),
        ignore_nulls=aggregate.ignore_nulls or nulls_word == "IGNORE",
        span=reader.text.span(index, end),
    )
    has_frame = reader.key_at(end) == "OVER" and reader.scope.part is ClausePart.DEFINE
    return read_frame(reader, aggregate, end) if has_frame else (aggregate, end)


def _find_aggregate_arguments(
    reader: ExpressionCursor, index: int
) -> tuple[tuple[TokenRange, ...], str]:
    """Return the arguments of the aggregate at `index`, and IGNORE or RESPECT if NULLS follows.

    For `any_value(DISTINCT x IGNORE NULLS)` these are the tokens of x, and "IGNORE".
    """
    arguments = find_arguments(reader, index)
    if not arguments:
        return (), ""
    if reader.key_at(index + 2) in ("DISTINCT", "ALL"):
        (first_start, first_end), *others = arguments
        arguments = ((first_start + 1, first_end), *others)
    last_start, last_end = arguments[-1]
    nulls_word = _find_nulls_word(reader, last_end) if last_end - last_start > 2 else ""
    if nulls_word:
        arguments = (*arguments[:-1], (last_start, last_end - 2))
    return arguments, nulls_word


def _read_argument(reader: ExpressionCursor, index: int, argument: TokenRange) -> Scalar | None:
    """Read an argument of the aggregate at `index`; None for the `*` of a count."""
    start, end = argument
    is_qualified = end == start + 3 and reader.key_at(start + 1) == "."
    if reader.key_at(end - 1) != "*" or not (is_qualified or end == start + 1):
        return reader.read_argument(index, start, end)
    name = reader.tokens[index].text
    span = reader.text.span(start, end)
    has_quantifier = reader.key_at(index + 2) in ("DISTINCT", "ALL")
    is_only_argument = start == index + 2 and reader.key_at(end) == ")" and not has_quantifier
    if reader.key_at(index) != "COUNT" or not is_only_argument:
        raise errors.star_outside_count(span, function=name, clause=reader.where)
    qualifier = reader.tokens[start]
    if is_qualified and qualifier.variable not in reader.scope.variables:
        raise reader.make_unknown_variable_error(qualifier)
    variable = qualifier.variable if is_qualified else None
    reader.rows_read.append(RowRead(variable, span, is_column=True))
    return None


def _find_variable(reader: ExpressionCursor, index: int, rows_read_before: int) -> str | None:
    """Return the variable whose rows the call at `index` reads; None for all rows of the match.

    Args:
        reader: the cursor.
        index: the call.
        rows_read_before: the length of `reader.rows_read` before the call.

    Raises:
        MatchRecognizeError: the call reads rows of several variables.
    """
    first_spans: dict[str | None, Span] = {}  # in the order of the text
    for read in sorted(reader.rows_read[rows_read_before:], key=lambda read: read.span.start):
        first_spans.setdefault(read.variable, read.span)
    if len(first_spans) > 1:
        names = [f"`{name}`" if name else "all variables" for name in first_spans]
        spans = list(first_spans.values())
        raise errors.columns_of_two_variables(
            spans[0],
            spans[1],
            function=reader.tokens[index].text,
            clause=reader.where,
            first=names[0],
            second=names[1],
        )
    return next(iter(first_spans), None)


def _read_suffixes(
    reader: ExpressionCursor, index: int, aggregate: Aggregate, end: int
) -> tuple[Aggregate, int]:
    """Read what follows the parentheses of an aggregate: FILTER, WITHIN GROUP, IGNORE NULLS.

    Args:
        reader: the cursor.
        index: the name of the aggregate.
        aggregate: the aggregate.
        end: the token after its parentheses.

    Returns:
        The aggregate with them, and the token after them.
    """
    while True:
        match reader.key_at(end), reader.key_at(end + 1), reader.key_at(end + 2):
            case "FILTER", "(", "WHERE":
                closing = reader.text.pairs[end + 1]
                condition = reader.read_argument(index, end + 3, closing)
                aggregate = replace(aggregate, condition=condition)
                end = closing + 1
            case "WITHIN", "GROUP", "(":
                closing = reader.text.pairs[end + 2]
                reader.position = end + 3
                reader.expect("ORDER", "BY")
                items = reader.text.split_at_commas(end + 5, closing)
                ordering = tuple(_read_sort_item(reader, index, item) for item in items)
                aggregate = replace(aggregate, ordering=ordering)
                end = closing + 1
            case ("IGNORE" | "RESPECT") as word, "NULLS", _:
                aggregate = replace(aggregate, ignore_nulls=word == "IGNORE")
                end += 2
            case _:
                return aggregate, end


def _reject_kept_nulls(reader: ExpressionCursor, index: int, end: int) -> None:
    """Raise an error for RESPECT NULLS of an aggregate that drops NULL, which needs Spark 4.2.

    `end` is the token after the aggregate.
    """
    if reader.key_at(index) not in COLLECTING:
        return
    for word in range(index, end - 1):
        if reader.text.has_keys(word, "RESPECT", "NULLS"):
            span = reader.text.span(word, word + 2)
            raise errors.respect_nulls_not_supported(
                span, function=reader.tokens[index].text, clause=reader.where
            )


def _read_sort_item(reader: ExpressionCursor, index: int, item: TokenRange) -> OrderedTerm:
    """Read an item of WITHIN GROUP (ORDER BY ...): its expression, and the words after it.

    `index` is the aggregate.
    """
    start, end = item
    words_start = end
    while words_start - 1 > start and reader.key_at(words_start - 1) in _SORT_WORDS:
        words_start -= 1
    words = " ".join(reader.key_at(word) for word in range(words_start, end))
    return OrderedTerm(reader.read_argument(index, start, words_start), words)


_SORT_WORDS = ("ASC", "DESC", "NULLS", "FIRST", "LAST")


def _find_nulls_word(reader: ExpressionCursor, end: int) -> str:
    """Return the first word of the IGNORE NULLS or RESPECT NULLS before `end`; "" if none is."""
    word = reader.key_at(end - 2)
    return word if reader.key_at(end - 1) == "NULLS" and word in ("IGNORE", "RESPECT") else ""


# PREV, NEXT, FIRST and LAST.
#
# If CLASSIFIER is in the expression of a navigation, several values of the same row are read:
#
#     PREV(CLASSIFIER() || x)   →   IF(PREV(TRUE), PREV(CLASSIFIER()) || PREV(x), NULL)


def read_navigation(reader: ExpressionCursor, index: int, semantics: Semantics) -> Scalar:
    """Read the navigation at `index`, which may have another one in it: `PREV(LAST(A.x), 2)`."""
    name = reader.key_at(index)
    arguments = check_arguments_of_call(reader, index, range(1, 3), "one or two arguments")
    for _, end in arguments:
        word = _find_nulls_word(reader, end)
        if word:
            span = reader.text.span(end - 2, end)
            raise pattern_errors.modifier_after_navigation(name, word, reader.where, span)
    default = 1 if name in PHYSICAL else 0
    offset = default
    if len(arguments) == 2:
        offset = _read_offset(reader, name, arguments, default)
    operand = _read_operand(reader, index, arguments[0], semantics)

    def navigate(reference: Reference) -> Reference:
        """Return the reference to the row that the navigation finds."""
        if not isinstance(reference, ColumnReference | Classifier):
            return reference
        if name in LOGICAL:
            navigation = replace(reference.navigation, end=End(name), logical_offset=offset)
        else:
            step = -offset if name == "PREV" else offset
            navigation = replace(reference.navigation, physical_offset=step)
        return replace(reference, navigation=navigation)

    return map_references(operand, navigate)


def _read_operand(
    reader: ExpressionCursor, index: int, argument: TokenRange, semantics: Semantics
) -> Scalar:
    """Read the operand of the navigation at `index`.

    It is FIRST or LAST in PREV or NEXT, CLASSIFIER, or an expression over the row that is found.

    Args:
        reader: the cursor.
        index: the navigation.
        argument: the tokens of the operand.
        semantics: whether the navigation is running or final.
    """
    start, end = argument
    span = reader.text.span(start, end)
    rows_read_before = len(reader.rows_read)
    has_prefix = reader.key_at(start) in SEMANTICS and reader.text.is_call(start + 1)
    inner = start + 1 if has_prefix else start
    if reader.text.is_call(inner) and reader.text.pairs.get(inner + 1) == end - 1:
        inner_semantics = Semantics(reader.key_at(start)) if has_prefix else semantics
        if reader.key_at(inner) in LOGICAL and reader.key_at(index) in PHYSICAL:
            if has_prefix:
                _reject_semantics(reader, start)
            return read_navigation(reader, inner, inner_semantics)
        if reader.key_at(inner) == "CLASSIFIER":
            return Term((read_classifier(reader, inner, inner_semantics),), span)
    tree = reader.read_argument(index, start, end)
    variable = _find_variable(reader, index, rows_read_before)
    navigation = Navigation(variable, semantics=semantics)
    if any(isinstance(reference, Classifier) for reference in tree.references):
        row_exists = make_column(navigation, "TRUE", span)
        value = map_references(tree, partial(set_semantics, semantics=semantics))
        parts = "IF(", row_exists, ", ", value, ", ", make_literal("NULL", span), ")"
        return Operation("IF", parts, span)
    if not any(read.is_column for read in reader.rows_read[rows_read_before:]):
        token = reader.tokens[start]
        if end == start + 1 and token.in_double_quotes:
            raise errors.column_in_double_quotes(token.span, clause=reader.where, text=token.text)
        call = reader.text.find_call_span(index)
        raise pattern_errors.navigation_without_column(
            call, function=reader.key_at(index), clause=reader.where
        )
    reference = ColumnReference(
        navigation, write_row_sql(tree), None, list_text_operations(tree), find_column_names(tree)
    )
    return Term((reference,), span)


def _read_offset(
    reader: ExpressionCursor, name: str, arguments: tuple[TokenRange, ...], default: int
) -> int:
    """Read the offset of a navigation: a whole number, or a parameter if it has a value.

    Args:
        reader: the cursor.
        name: the navigation.
        arguments: the tokens of its two arguments; the second one is the offset.
        default: its offset without an argument, for messages.

    Raises:
        MatchRecognizeError: it is something else.
    """
    start, end = arguments[1]
    while reader.key_at(start) == "(" and reader.text.pairs.get(start) == end - 1:
        start += 1
        end -= 1
    span = reader.text.span(start, end)
    written = reader.write_span(span)
    parameter = read_parameter(reader.tokens[start:end])
    if parameter is not None and reader.scope.values is not None:
        what = f"the offset of {name} in {reader.where}"
        return read_number(parameter, reader.scope.values, what)
    token = reader.tokens[start]
    rows = reader.tokens[end - 1].text
    if token.key == "-" and end == start + 2 and rows.isdigit():
        value = reader.write_span(reader.text.span(*arguments[0]))
        raise pattern_errors.negative_offset(
            span, function=name, clause=reader.where, value=value, rows=rows
        )
    if not (end == start + 1 and token.kind is TokenKind.NUMBER and token.text.isdigit()):
        raise pattern_errors.malformed_offset(
            span, function=name, clause=reader.where, offset=written, default=default
        )
    offset = read_whole_number(token.text)
    if offset is None:
        raise pattern_errors.offset_too_large(
            span, function=name, clause=reader.where, limit=MOST_ROWS
        )
    return offset


# Functions of the match.


def read_classifier(reader: ExpressionCursor, index: int, semantics: Semantics) -> Classifier:
    """Read `CLASSIFIER()` or `CLASSIFIER(variable)`."""
    variable = _read_variable(reader, index)
    span = reader.text.find_call_span(index)
    reader.rows_read.append(RowRead(variable, span, is_column=False))
    return Classifier(Navigation(variable, semantics=semantics), span)


def _read_matched_rows(reader: ExpressionCursor, index: int, _: Semantics) -> Aggregate:
    """Read `MATCHED_ROWS()` or `MATCHED_ROWS(variable)`, which only MEASURES may call."""
    span = reader.text.find_call_span(index)
    variable = _read_variable(reader, index)
    if reader.scope.part is not ClausePart.MEASURES:
        raise errors.matched_rows_in_define(span, clause=reader.where)
    row = make_column(Navigation(variable), MATCHED_ROW, span)
    return Aggregate(MATCHED_ROWS, variable, (row,), Semantics.FINAL, span=span)


def _read_match_value(
    function: MatchFunction, reader: ExpressionCursor, index: int, _: Semantics
) -> Reference:
    """Read a function without arguments, such as `MATCH_NUMBER()`.

    Outside of aggregates, `MATCH_ROW_NUMBER()` is RUNNING count(*).
    """
    span = reader.text.find_call_span(index)
    check_arguments_of_call(reader, index, range(1), "no argument")
    if function is MatchFunction.ROW_NUMBER and reader.caller is None:
        return Aggregate("count", None, (), span=span)
    if function in FUNCTIONS_OF_ENDED_RUNS and reader.scope.part is ClausePart.DEFINE:
        raise errors.status_in_define(span, function=function.value)
    return MatchValue(function, span)


# For each function of the match, the function that reads its call.
READERS: Mapping[str, Callable[[ExpressionCursor, int, Semantics], Reference]] = {
    "CLASSIFIER": read_classifier,
    "MATCHED_ROWS": _read_matched_rows,
    **{function.words: partial(_read_match_value, function) for function in MatchFunction},
}


def _read_variable(reader: ExpressionCursor, index: int) -> str | None:
    """Read the only argument of the call at `index`, a variable; None if it has no argument."""
    arguments = check_arguments_of_call(reader, index, range(2), "at most one variable")
    if not arguments:
        return None
    ((start, end),) = arguments
    token = reader.tokens[start]
    if end - start != 1 or not token.can_name:
        span = reader.text.span(start, end)
        name = reader.key_at(index)
        raise errors.argument_not_a_variable(span, function=name, clause=reader.where)
    if token.variable not in reader.scope.variables:
        raise reader.make_unknown_variable_error(token)
    return token.variable


def check_arguments_of_call(
    reader: ExpressionCursor, index: int, numbers: range, expected: str
) -> tuple[TokenRange, ...]:
    """Return the arguments of the call at `index`, as ranges of tokens.

    Args:
        reader: the cursor.
        index: the call.
        numbers: the numbers of arguments that it may have.
        expected: these numbers, for messages.

    Raises:
        MatchRecognizeError: it has another number of arguments, DISTINCT in it, or FILTER or the
            like after it.
    """
    closing = reader.text.pairs[index + 1]
    name = reader.key_at(index)
    for modifier in (index + 2, closing + 1):
        key = reader.key_at(modifier)
        is_distinct = key == "DISTINCT" and modifier < closing
        is_suffix = key in _SUFFIXES and modifier > closing
        if is_distinct or is_suffix:
            span = reader.tokens[modifier].span
            raise pattern_errors.modifier_after_navigation(name, key, reader.where, span)
    arguments = find_arguments(reader, index)
    if len(arguments) not in numbers:
        raise _explain_wrong_number(reader, index, name, expected, len(arguments))
    return arguments


def _explain_wrong_number(
    reader: ExpressionCursor, index: int, function: str, expected: str, number: int
) -> MatchRecognizeError:
    """Return the error for a wrong number of arguments of the call at `index`."""
    return pattern_errors.wrong_number_of_arguments(
        reader.text.find_call_span(index),
        function=function,
        clause=reader.where,
        expected=expected,
        count=number,
    )


def find_arguments(reader: ExpressionCursor, index: int) -> tuple[TokenRange, ...]:
    """Return the arguments of the call at `index`, as ranges of tokens."""
    start = index + 2
    end = reader.text.pairs[index + 1]
    return split_items(reader.text, (start, end), reader.where) if start < end else ()
