"""Errors in expressions of a clause: functions, keywords and variables that are not allowed there.

`unknown_columns` and `unknown_functions` have the errors about names that do not exist,
`wrong_types` those about types, and `navigation` those about PREV, NEXT, FIRST and LAST. In the
arguments, `clause` is the part of the clause that has the expression, such as MEASURES.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    about_argument,
)
from matchrec.errors.language import SQL, current_language, find_argument, name_part
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.run.origins import read_users_text, read_users_text_around
from matchrec.errors.sql.tokens import IN_DOUBLE_QUOTES, advise_backticks
from matchrec.errors.wording import join_names, list_candidates, shorten, write_name
from matchrec.source import Span


def unknown_variable(
    span: Span | None, *, name: str, clause: str, primary: Sequence[str], unions: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a variable that neither PATTERN nor SUBSET has.

    Args:
        span: the location in the text of the query.
        name: the variable.
        clause: the part of the clause that reads the variable.
        primary: the variables of PATTERN.
        unions: the variables of SUBSET.
    """
    variables = (*primary, *unions)
    correction = find_nearest(name, variables) or list_candidates(variables)
    name = _write_as_user(name, span)
    hint = f"write {correction}, or add {name} to {name_part('PATTERN')}"
    return MatchRecognizePlanError(
        f"unknown pattern variable `{name}` in {clause}",
        span,
        notes=(
            f"{name_part('PATTERN')} has: {join_names(primary)}",
            f"SUBSET has: {join_names(unions)}" if unions else "",
        ),
        hint=hint,
        code="unknown-variable",
    )


def _write_as_user(name: str, span: Span | None) -> str:
    """Return the name of a variable in upper or lower case as the user wrote it at a span."""
    users_text = read_users_text(span) if span is not None else None
    return users_text if users_text and users_text.upper() == name.upper() else name


# For an aggregate of one argument: the function of several arguments, and what it finds.
_OF_SEVERAL_VALUES = {"MAX": ("GREATEST", "largest"), "MIN": ("LEAST", "smallest")}


def advise_on_several_arguments(function: str, arguments: Sequence[str]) -> str | None:
    """Return what to write for MAX(x, y) and MIN(x, y); None for other calls.

    >>> advise_on_several_arguments("max", ["A.price", "B.price"])
    'write greatest(A.price, B.price) for the largest of these values, or greatest(max(A.price), \
max(B.price)) for the largest of all rows'
    """
    if function.upper() not in _OF_SEVERAL_VALUES or len(arguments) < 2:
        return None
    name, result = _OF_SEVERAL_VALUES[function.upper()]
    name = name.lower() if function.islower() else name
    aggregates = ", ".join(f"{function}({argument})" for argument in arguments)
    return (
        f"write {name}({', '.join(arguments)}) for the {result} of these values, or "
        f"{name}({aggregates}) for the {result} of all rows"
    )


def columns_of_two_variables(
    *spans: Span, function: str, clause: str, first: str, second: str, hint: str = ""
) -> MatchRecognizePlanError:
    """Return the error for a call that reads columns of two variables, as in sum(A.x + B.x).

    Args:
        spans: the locations in the text of the query, the main one first.
        function: the call.
        clause: the clause.
        first: a variable.
        second: another variable, or the words for all rows of the match.
        hint: what to write, with the columns of the call; "" if it is not clear.
    """
    return MatchRecognizePlanError(
        f"{function} in {clause} reads rows of {first} and of {second}",
        *spans,
        notes=("all columns in a call must have the same pattern variable before them, or none",),
        hint=hint or f"write the variable before each column, or one {function} for each variable",
        code="columns-of-two-variables",
    )


def nested_aggregate(
    *spans: Span, aggregate: str, outer: str, clause: str
) -> MatchRecognizePlanError:
    """Return the error for an aggregate in a navigation or in another aggregate.

    Args:
        spans: the inner aggregate, then other locations in the text of the query.
        aggregate: the inner aggregate.
        outer: the navigation or the aggregate around it.
        clause: the part of the clause.
    """
    return MatchRecognizePlanError(
        f"aggregate {aggregate} is not allowed in {outer} in {clause}",
        *spans,
        hint=f"write {aggregate} as a separate expression, not inside {outer}",
        code="nested-aggregate",
    )


def navigation_in_aggregate(
    *spans: Span, navigation: str, aggregate: str, clause: str
) -> MatchRecognizePlanError:
    """Return the error for a navigation in an aggregate, as in sum(PREV(x))."""
    return MatchRecognizePlanError(
        f"{navigation} is not allowed in aggregate {aggregate} in {clause}",
        *spans,
        notes=("an aggregate reads columns of the rows that are mapped to one variable",),
        hint="compute the value as a column of the input, for example with LAG, and aggregate that",
        code="navigation-in-aggregate",
    )


def argument_not_a_variable(span: Span, *, function: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for CLASSIFIER(A.x) and the like."""
    argument = re.fullmatch(r"['\"](\w+)['\"]", read_users_text(span) or "")
    variable = argument[1] if argument else "A"
    return MatchRecognizePlanError(
        f"{function} in {clause} takes a pattern variable, not an expression",
        span,
        hint=f"write {function}() or {function}({variable})",
        code="argument-not-a-variable",
    )


def matched_rows_in_define(span: Span, *, clause: str) -> MatchRecognizePlanError:
    """Return the error for MATCHED_ROWS in a condition."""
    return MatchRecognizePlanError(
        f"MATCHED_ROWS is not allowed in {clause}",
        span,
        notes=("MATCHED_ROWS is the whole match, which is known only after its last row",),
        hint=f"in {clause} write an aggregate of the rows so far, such as collect_list(A.x)",
        code="matched-rows-in-define",
    )


def constant_key(text: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """Return the error for a key that is a constant, as in ORDER BY 1 or PARTITION BY "sym"."""
    note = ""
    hint = f"name a column, or leave {clause} out"
    if text.startswith('"'):
        note = IN_DOUBLE_QUOTES
        hint = advise_backticks(text)
    elif text.startswith("'"):
        note = "single quotes are for strings"
        hint = f"write {write_name(text.strip(chr(39)))} for a column"
    elif text.isdigit():
        note = "a number is not a column position there"
    return MatchRecognizePlanError(
        f"`{text}` in {clause} is the same for every row",
        span,
        notes=(note,),
        hint=hint,
        code="constant-key",
    )


def column_in_double_quotes(span: Span, *, clause: str, text: str) -> MatchRecognizeParseError:
    """Return the error for "price" as a column, which Spark SQL reads as a string."""
    return MatchRecognizeParseError(
        f"double quotes are not allowed around a column in {clause}",
        span,
        notes=(IN_DOUBLE_QUOTES,),
        hint=advise_backticks(text),
        code="column-in-double-quotes",
    )


def misplaced_running_or_final(
    span: Span, *, word: str, what: str, clause: str
) -> MatchRecognizePlanError:
    """Return the error for RUNNING or FINAL before something without running and final semantics.

    Args:
        span: the location in the text of the query.
        word: RUNNING or FINAL.
        what: what follows the word, such as "a column".
        clause: the part of the clause.
    """
    text, start = read_users_text_around(span)
    column = re.match(rf"(?i){word}\s+(?!FINAL\b|RUNNING\b)((?:\w+\.)?\w+)(?![\w.(])", text[start:])
    return MatchRecognizePlanError(
        f"{word} is not allowed before {what} in {clause}",
        span,
        notes=(f"{word} is allowed before FIRST, LAST, CLASSIFIER and aggregates",),
        hint=f"remove {word}, or write {word} LAST({column[1] if column else 'A.x'})",
        code="misplaced-running-or-final",
    )


def order_by_in_call(span: Span, *, clause: str) -> MatchRecognizeParseError:
    """Return the error for collect_list(x ORDER BY y)."""
    return MatchRecognizeParseError(
        f"ORDER BY is not allowed in a call in {clause}",
        span,
        notes=(f"a call sees the rows of a match in the order of {name_part('ORDER BY')}",),
        hint=(
            "remove it, or sort the values: array_sort(collect_list(x)), max_by(x, y), listagg(x, "
            "',') WITHIN GROUP (ORDER BY y)"
        ),
        code="order-by-in-call",
    )


def final_in_define(span: Span, *, function: str) -> MatchRecognizePlanError:
    """Return the error for FINAL in a condition."""
    return MatchRecognizePlanError(
        f"FINAL is not allowed before {function} in {name_part('DEFINE')}",
        span,
        notes=(
            f"in {name_part('DEFINE')} only the rows so far are known, so everything is RUNNING",
        ),
        hint="remove FINAL",
        code="final-in-define",
    )


def nondeterministic_condition(span: Span, *, function: str) -> MatchRecognizePlanError:
    """Return the error for rand() and the like in a condition."""
    language = current_language()
    return MatchRecognizePlanError(
        f"{function}() in {name_part('DEFINE')} returns another value at every evaluation",
        span,
        notes=(f"{language.condition} may be evaluated never, once or several times",),
        hint="compute it as a column of the input",
        code="nondeterministic-condition",
        condition="MATCH_RECOGNIZE_NONDETERMINISTIC_DEFINE",
    )


def nondeterministic_measure(
    span: Span | None, *, name: str, function: str
) -> MatchRecognizePlanError:
    """Return the error for a measure that reads another measure with rand() or the like in it.

    Args:
        span: the name of the measure that is read.
        name: this name.
        function: the function, such as rand.
    """
    return MatchRecognizePlanError(
        f"measure `{name}` is not allowed in another measure",
        span,
        notes=(f"{function}() would return another value there",),
        hint=f"compute with {name} in the SELECT around the clause",
        code="nondeterministic-measure",
    )


def over_not_allowed(span: Span, *, clause: str) -> MatchRecognizePlanError:
    """Return the error for OVER in an expression that reads the rows of a match."""
    language = current_language()
    return MatchRecognizePlanError(
        f"OVER is not allowed in {clause}",
        span,
        notes=(f"expressions read the {language.rows} of the match, not a window",),
        hint=f"write {language.calls_on_rows}, or compute it as a column of the input",
        code="over-not-allowed",
        condition="MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION",
    )


def window_function_not_allowed(
    span: Span, *, function: str, clause: str, arguments: str
) -> MatchRecognizePlanError:
    """Return the error for a function that is used only with OVER, such as LAG.

    Args:
        span: the name of the function in the text of the query.
        function: this name.
        clause: the part of the clause.
        arguments: the arguments of the call in parentheses, as the user wrote them.
    """
    language = current_language()
    match function.upper():
        case "LAG":
            hint = f"write PREV{arguments}"
        case "LEAD":
            hint = f"write NEXT{arguments}"
        case "NTH_VALUE":
            hint = "write FIRST(x, n - 1)"
        case "ROW_NUMBER":
            hint = "write count(*) for the number of the row in the match"
        case _:
            hint = f"write {language.calls_on_rows}, or compute it as a column of the input"
    return MatchRecognizePlanError(
        f"window function {function} is not allowed in {clause}",
        span,
        notes=(f"expressions read the {language.rows} of the match, not a window",),
        hint=hint,
        code="window-function-not-allowed",
        condition="MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION",
    )


def correlated_subquery(span: Span, *, clause: str, what: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a subquery that reads a row of the match, or a column of the input.

    The subquery would have to run again for each row of the match.

    Args:
        span: the subquery in the text of the query.
        clause: the part of the clause that has the subquery.
        what: what the subquery reads.
    """
    return MatchRecognizeUnsupportedError(
        f"subquery in {clause} that refers to {what} is not supported",
        span,
        hint="join the input with the subquery's table first",
        code="correlated-subquery",
    )


def respect_nulls_not_supported(
    span: Span, *, function: str, clause: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for collect_list(x) RESPECT NULLS."""
    return MatchRecognizeUnsupportedError(
        f"RESPECT NULLS of {function} in {clause} is not supported",
        span,
        hint=f"collect what is never NULL, such as {function}(struct(A.x))",
        code="respect-nulls-not-supported",
    )


def distinct_last_value(span: Span, *, function: str, clause: str) -> MatchRecognizeParseError:
    """Return the error for last_value(DISTINCT x), which could mean two values.

    Args:
        span: DISTINCT in the text of the query.
        function: last_value as the user wrote it.
        clause: the clause of the expression.
    """
    return MatchRecognizeParseError(
        f"DISTINCT is not allowed with {function} in {clause}",
        span,
        notes=("the last of the different values need not be the value of the last row",),
        hint="remove DISTINCT to read the last row",
        code="distinct-last-value",
    )


def identifier_not_supported(span: Span, *, clause: str) -> MatchRecognizeUnsupportedError:
    """Return the error for IDENTIFIER('x'), which names a column by a string."""
    return MatchRecognizeUnsupportedError(
        f"IDENTIFIER(...) in {clause} is not supported",
        span,
        hint="write the name itself; if the name varies, put it into the text of the query",
        code="identifier-not-supported",
    )


def nested_match_function(
    span: Span, *, inner: str, function: str, clause: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for a match function in a call that may not have it.

    MATCH_NUMBER() may not be in a navigation or in an aggregate over a frame, MATCH_STATUS() and
    MATCH_TIMEOUT() not in a navigation or an aggregate, and MATCH_ROW_NUMBER() not in a navigation
    or in an aggregate in DEFINE.

    Args:
        span: the location in the text of the query.
        inner: the match function.
        function: the call around it.
        clause: the clause.
    """
    hint = f"write {inner}() outside {function}: it is the same on every row of a match"
    if inner.upper() == "MATCH_ROW_NUMBER":
        hint = "write MATCH_ROW_NUMBER() by itself, or in an aggregate in MEASURES"
    return MatchRecognizeUnsupportedError(
        f"{inner}() in the argument of {function} in {clause} is not supported",
        span,
        hint=hint,
        code="nested-match-function",
    )


def status_in_define(span: Span, *, function: str) -> MatchRecognizePlanError:
    """Return the error for MATCH_STATUS() or MATCH_TIMEOUT() in a condition."""
    return MatchRecognizePlanError(
        f"{function}() is not allowed in DEFINE",
        span,
        notes=("how a run ends is known only after it has ended",),
        hint="write it in MEASURES",
        code="status-in-define",
    )


# Functions that read rows of a match, and so are not aggregates of the input.
_FUNCTIONS_OF_MATCHES = frozenset(("FIRST", "LAST", "PREV", "NEXT", "CLASSIFIER", "MATCH_NUMBER"))


def match_function_before_match(
    span: Span, *, function: str, clause: str, call: str = ""
) -> MatchRecognizePlanError:
    """Return the error for PREV, CLASSIFIER or OVER in PARTITION BY, ORDER BY or WITHIN.

    Args:
        span: the function in the text of the query.
        function: the name of the function, or "window function".
        clause: the part of the clause.
        call: the whole call of an aggregate, as the query writes it; otherwise "".
    """
    hint = current_language().advice_on_columns
    subject = function
    if call and function.upper() not in _FUNCTIONS_OF_MATCHES:
        subject = f"aggregate `{function}`"
        if current_language() == SQL:
            column = f"{shorten(call)} OVER (PARTITION BY ...) AS x"
            hint = f"compute it in the input, FROM (SELECT *, {column} FROM ...), and write x"
    return MatchRecognizePlanError(
        f"{subject} is not allowed in {clause}",
        span,
        notes=(f"{clause} is evaluated before the match, on each row alone",),
        hint=hint,
        code="match-function-before-match",
    )


def star_outside_count(
    span: Span, *, function: str, clause: str, star: str
) -> MatchRecognizePlanError:
    """Return the error for `*` in a call that is not count, as in sum(*).

    Args:
        span: the star in the text of the query.
        function: the call.
        clause: the part of the clause.
        star: the star as it is written, `*` or `A.*`.
    """
    hint = f"write count({star}) for the number of rows, or name a column: {function}({star[:-1]}x)"
    if function.upper() == "COUNT":
        hint = "write count(*) or count(A.*), or name the columns"
    return MatchRecognizePlanError(
        f"`*` is not allowed in {function} in {clause}", span, hint=hint, code="star-outside-count"
    )


def star_outside_navigation(
    span: Span, *, star: str, clause: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for `*` that is not in a call.

    Args:
        span: the star in the text of the query.
        star: the columns of one variable, such as `A.*`.
        clause: the part of the clause.
    """
    return MatchRecognizeUnsupportedError(
        f"`*`, all columns of a row, is not supported outside a navigation in {clause}",
        span,
        hint=f"write LAST(struct({star})), or name the columns",
        code="star-outside-navigation",
    )


def not_sortable(
    clause: str, type_name: str, span: Span | None, *, text: str = "x"
) -> MatchRecognizePlanError:
    """Return the error for a key of PARTITION BY or ORDER BY whose type Spark cannot sort.

    Args:
        clause: the part of the clause.
        type_name: the type of the key.
        span: the key in the text of the query; None if it is an argument of a call.
        text: the key, for the help.
    """
    sortable = f"CAST({text} AS STRING)" if type_name == "interval" else f"to_json({text})"
    if type_name.startswith(("geometry", "geography")):
        sortable = f"ST_AsBinary({text})"
    return about_argument(
        MatchRecognizePlanError(
            f"{name_part(clause)} has a key of type {type_name}, which Spark cannot sort",
            span,
            notes=(f"rows are sorted by {name_part('PARTITION BY')} and {name_part('ORDER BY')}",),
            hint=f"write a value of another type, such as {sortable}",
            code="not-sortable",
        ),
        find_argument(clause),
    )
