"""Parts that calls of several kinds share: RUNNING and FINAL, arguments, and the variable read.

In this module, `cursor` reads the expression, and `name_index` is the token of the function's name.
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import navigation as navigation_errors
from matchrec.errors.wording import join_lines, join_with_and
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.cursor import ExpressionCursor, RowRead
from matchrec.syntax.function_names import AGGREGATES, LOGICAL
from matchrec.syntax.token_checks import split_items
from matchrec.syntax.tokens import TokenRange

# Aggregates for which users write several arguments, although they take one.
_AGGREGATES_OF_ONE_VALUE = frozenset({"SUM", "AVG", "MEAN", "STDDEV", "VARIANCE", "MEDIAN"})
# The first words of the suffixes of aggregates.
_SUFFIXES = frozenset({"FILTER", "IGNORE", "RESPECT", "WITHIN"})


def check_semantics(cursor: ExpressionCursor, word_index: int) -> None:
    """Check that the RUNNING or FINAL at `word_index` is allowed before the function that follows.

    FIRST, LAST, CLASSIFIER and aggregates allow RUNNING, and in MEASURES also FINAL.

    Raises:
        MatchRecognizeError: the word is not allowed.
    """
    function = cursor.key_at(word_index + 1)
    span = cursor.sequence.span(word_index, word_index + 2)
    if not (function in LOGICAL or function in AGGREGATES or function == "CLASSIFIER"):
        name = cursor.tokens[word_index + 1].text
        word = cursor.key_at(word_index)
        raise errors.misplaced_running_or_final(span, word=word, what=name, clause=cursor.where)
    if cursor.key_at(word_index) == "FINAL" and cursor.scope.part is ClausePart.DEFINE:
        raise errors.final_in_define(span, function=function)


def find_arguments(cursor: ExpressionCursor, name_index: int) -> tuple[TokenRange, ...]:
    """Return the arguments of the call at `name_index`, as ranges of tokens.

    Raises:
        MatchRecognizeError: an argument has no tokens.
    """
    start = name_index + 2
    end = cursor.sequence.pairs[name_index + 1]
    return split_items(cursor.sequence, (start, end), cursor.where) if start < end else ()


def require_arguments(
    cursor: ExpressionCursor, name_index: int, allowed_counts: range, expected: str
) -> tuple[TokenRange, ...]:
    """Return the arguments of a call that is not an aggregate, as ranges of tokens.

    Args:
        cursor: the cursor.
        name_index: the name of the function.
        allowed_counts: the numbers of arguments that the call may have.
        expected: these numbers in words, for messages: `one or two arguments`.

    Raises:
        MatchRecognizeError: the call has another number of arguments, DISTINCT before an argument,
            or a suffix such as FILTER, as only an aggregate may have.
    """
    closing = cursor.sequence.pairs[name_index + 1]
    name = cursor.key_at(name_index)
    for modifier in (name_index + 2, closing + 1):
        key = cursor.key_at(modifier)
        is_distinct = key == "DISTINCT" and modifier < closing
        is_suffix = key in _SUFFIXES and modifier > closing
        if is_distinct or is_suffix:
            span = cursor.tokens[modifier].span
            raise navigation_errors.modifier_after_navigation(name, key, cursor.where, span)
    arguments = find_arguments(cursor, name_index)
    if len(arguments) not in allowed_counts:
        raise explain_wrong_number(cursor, name_index, name, expected, arguments)
    return arguments


def explain_wrong_number(
    cursor: ExpressionCursor,
    name_index: int,
    function: str,
    expected: str,
    arguments: Sequence[TokenRange],
) -> MatchRecognizeError:
    """Return the error for a wrong number of arguments of the call at `name_index`.

    Args:
        cursor: the cursor.
        name_index: the name of the function.
        function: the name, as the message shows it.
        expected: the allowed numbers of arguments in words.
        arguments: the arguments that the call has, as ranges of tokens.
    """
    sequence = cursor.sequence
    value = sequence.text_at(sequence.span(*arguments[0])) if arguments else ""
    return navigation_errors.wrong_number_of_arguments(
        cursor.sequence.find_call_span(name_index),
        function=function,
        clause=cursor.where,
        expected=expected,
        count=len(arguments),
        value=join_lines(value),
    )


def find_variable_read(
    cursor: ExpressionCursor, name_index: int, rows_read_before: int
) -> str | None:
    """Return the variable whose rows a call reads; None for all rows of the match.

    Args:
        cursor: the cursor.
        name_index: the name of the function.
        rows_read_before: the length of `cursor.rows_read` before the call was read.

    Raises:
        MatchRecognizeError: the call reads rows of several variables.
    """
    first_spans: dict[str | None, Span] = {}  # in the order of the text
    reads = sorted(cursor.rows_read[rows_read_before:], key=lambda read: read.span.start)
    for read in reads:
        first_spans.setdefault(read.variable, read.span)
    if len(first_spans) > 1:
        names = [f"`{name}`" if name else "all variables" for name in first_spans]
        spans = list(first_spans.values())
        raise errors.columns_of_two_variables(
            spans[0],
            spans[1],
            function=cursor.tokens[name_index].text,
            clause=cursor.where,
            first=names[0],
            second=names[1],
            hint=_advise_on_two_variables(cursor, name_index, reads),
        )
    return next(iter(first_spans), None)


def _advise_on_two_variables(
    cursor: ExpressionCursor, name_index: int, reads: Sequence[RowRead]
) -> str:
    """Return what to write instead of a call that reads rows of several variables.

    - `MAX(A.x, B.x)`: two values, see `errors.sql.expression.advise_on_several_arguments`
    - `AVG(A.x, B.x)`: `AVG(A.x)` and `AVG(B.x)`
    - `SUM(A.x - y)`: `SUM(A.x - A.y)`
    - `SUM(A.x - B.x)`: `SUM(A.x) - SUM(B.x)`

    Returns "" if the call reads a CLASSIFIER or a `*`, or a column in a suffix such as FILTER.

    Args:
        cursor: the cursor.
        name_index: the name of the function.
        reads: the columns that the call reads, in the order of the text.
    """
    sequence = cursor.sequence
    function = cursor.tokens[name_index].text
    inside = sequence.span(name_index + 2, sequence.pairs[name_index + 1])
    has_only_columns = all(
        read.is_column and not sequence.text_at(read.span).endswith("*") for read in reads
    )
    has_quantifier = cursor.key_at(name_index + 2) in ("DISTINCT", "ALL")
    if not has_only_columns or has_quantifier or reads[-1].span.end > inside.end:
        return ""
    ranges = find_arguments(cursor, name_index)
    arguments = [join_lines(sequence.text_at(sequence.span(*part))) for part in ranges]
    variables = {read.variable for read in reads}
    if None in variables and len(variables) == 2:
        (variable,) = variables - {None}
        prefixes = ["" if read.variable else f"{variable}." for read in reads]
        return f"write {function}({_change_columns(cursor, inside, reads, prefixes, '')})"
    if None in variables:
        return ""
    if len(arguments) == 1:
        prefixes = [f"{function}("] * len(reads)
        return f"write {_change_columns(cursor, inside, reads, prefixes, ')')}"
    if function.upper() in _AGGREGATES_OF_ONE_VALUE:
        calls = [f"{function}({argument})" for argument in arguments]
        return f"write one {function} for each variable: {join_with_and(calls)}"
    return errors.advise_on_several_arguments(function, arguments) or ""


def _change_columns(
    cursor: ExpressionCursor,
    span: Span,
    reads: Sequence[RowRead],
    prefixes: Sequence[str],
    suffix: str,
) -> str:
    """Return the text at a span with a prefix and a suffix at each column that it reads.

    Args:
        cursor: the cursor.
        span: the text.
        reads: the columns, in the order of the text.
        prefixes: the prefix of each column.
        suffix: the suffix of all columns.
    """
    pieces = []
    start = span.start
    for read, prefix in zip(reads, prefixes, strict=True):
        before = Span(start, read.span.start)
        pieces.append(cursor.sequence.text_at(before))
        pieces.append(f"{prefix}{cursor.sequence.text_at(read.span)}{suffix}")
        start = read.span.end
    pieces.append(cursor.sequence.text_at(Span(start, span.end)))
    return join_lines("".join(pieces))


def find_nulls_word(cursor: ExpressionCursor, end: int) -> str:
    """Return IGNORE or RESPECT if this word and NULLS are right before `end`, otherwise ""."""
    word = cursor.key_at(end - 2)
    return word if cursor.key_at(end - 1) == "NULLS" and word in ("IGNORE", "RESPECT") else ""
