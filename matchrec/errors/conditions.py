"""Errors in conditions that are found from the types of the input or from the limits of the search.

They apply to SQL, SASE+ and Patterns. `errors.within` has such errors in WITHIN.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import (
    USERS_TEXT,
    MatchRecognizeError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import PATTERN_CALLS, current_language, name_part
from matchrec.errors.run.expression_text import split_at_operator, split_chain
from matchrec.errors.run.origins import read_users_text, read_users_text_around
from matchrec.errors.sql.foreign_names import find_keyword_argument_hint
from matchrec.errors.sql.operand_hints import find_operands_hint, write_comparison_with
from matchrec.errors.sql.type_kinds import TypedText, TypeKind, classify_type
from matchrec.errors.sql.type_mismatches import find_number_example, find_operator_hint
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import LONGEST, join_alternatives, join_lines, shorten
from matchrec.source import Span

# The comparison that makes a condition of a value, by the type of the value.
COMPARISONS_BY_TYPE = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "float", "double", "decimal"), "> 0"),
    **dict.fromkeys(("string", "char", "varchar"), "= 'a'"),
    "date": "> DATE'2026-01-31'",
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "> TIMESTAMP'2026-01-31 12:00:00'"),
}


def function_of_several_rows(span: Span, *, what: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a function over several rows that a condition cannot have.

    Args:
        span: the call in the text of the query.
        what: the function, with or without backticks.
    """
    language = current_language()
    what = what.strip("`")
    text = read_users_text(span) or ""
    first_word = re.match(r"\w+", text)
    if first_word is not None and first_word[0].upper() == what.upper():
        what = first_word[0]  # the function as the user spells it
    measure = "make it a measure, and filter the matches by it"
    if text and len(text) <= LONGEST and language is not PATTERN_CALLS:  # a Pattern has no MEASURES
        definition = f"{name_part('MEASURES')} {join_lines(text)} AS x"
        measure = f"make it a measure, {definition}, and filter the matches by x"
    hints = [measure]
    calls = write_calls_of_one_row(text)
    call_in_spark = find_keyword_argument_hint(what, text)
    if call_in_spark is not None:  # DATE_DIFF(ts, A.ts, DAY), as another product writes it
        hints = [call_in_spark]
    elif calls:
        hints.insert(0, f"call {what.lower()} on each value alone: {', '.join(calls)}")
    else:
        hints.append("compute the parts that read one row as columns of the input")
    note = (
        "operators, CASE, LIKE, CAST and some functions may combine several rows (see "
        '"Functions of several rows" in the documentation)'
    )
    return MatchRecognizeUnsupportedError(
        f"`{what}` over several {language.rows} of the match is not supported in "
        f"{name_part('DEFINE')}",
        span,
        notes=(note,) if call_in_spark is None else (),
        hint="; or ".join(hints),
        code="function-of-several-rows",
    )


# A call whose argument has no string, no bracket, and no operator except `||` and arithmetic.
_CALL = re.compile(
    r"(?P<function>\w+)\s*\((?P<argument>[\w\s.,()|+*/`-]*?)(?P<type>\s+AS\s+\w+)?\)", re.IGNORECASE
)
# A value of one row: a navigation, or a column with or without its variable.
_VALUE_OF_ROW = re.compile(
    r"(?:LAST|FIRST|PREV|NEXT)\s*\([\w\s.`]*\)|(?:[\w`]+\.)*[A-Za-z_`][\w`]*(?!\w|\s*\()",
    re.IGNORECASE,
)


# Navigations, and functions that return or join the values of their arguments.
_READABLE_CALLS = frozenset(("LAST", "FIRST", "PREV", "NEXT", "GREATEST", "LEAST", "CONCAT"))


def write_calls_of_one_row(text: str) -> list[str]:
    """Return the calls that apply a function to each value alone, of a call that combines values.

    A value is a navigation or a column: what one row has. The list is empty if the text is not such
    a call, or if its argument has only one value.

    >>> write_calls_of_one_row("upper(k || LAST(A.k))")
    ['upper(k)', 'upper(LAST(A.k))']
    >>> write_calls_of_one_row("CAST(greatest(A.ts, B.ts) AS BIGINT)")
    ['CAST(A.ts AS BIGINT)', 'CAST(B.ts AS BIGINT)']
    >>> write_calls_of_one_row("startswith(B.name, A.name)")
    []
    >>> write_calls_of_one_row("upper(trim(k) || A.k)")
    []
    """
    call = _CALL.fullmatch(text)
    if call is None:
        return []
    argument = call["argument"]
    # Drop the contents of parentheses, which may be nested two deep: a navigation in a call.
    outermost = argument
    for _ in range(2):
        outermost = re.sub(r"\([^()]*\)", "", outermost)
    if "," in outermost or re.search(r"(?i)\b(?:FROM|CASE|AND|OR|NOT|IS|AS)\b", argument):
        return []
    calls = re.findall(r"(\w+)\s*\(", argument)
    if not _READABLE_CALLS.issuperset(map(str.upper, calls)):
        return []
    values = dict.fromkeys(value[0] for value in _VALUE_OF_ROW.finditer(argument))
    if len(values) < 2:
        return []
    return [f"{call['function']}({value}{call['type'] or ''})" for value in values]


def only_engine_can_compute(span: Span, *, condition: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a condition over several rows that workers cannot compute.

    Args:
        span: the condition in the text of the query.
        condition: the condition.
    """
    language = current_language()
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"`{shorten(condition)}` reads several {language.rows}, and only the engine can compute it",
        span,
        hint=f"write {surface.write_option('sort', 'engine')}",
        code="only-engine-can-compute",
    )


def lambda_of_several_rows(span: Span, *, what: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a function with a lambda in a condition that reads several rows.

    Args:
        span: the call in the text of the query.
        what: the function.
    """
    rows = current_language().rows
    return MatchRecognizeUnsupportedError(
        f"`{what}` with a lambda in {name_part('DEFINE')} reads several {rows} of the match",
        span,
        notes=("Spark computes a lambda, from one row at a time",),
        hint=(
            "compare values of one row, such as array_max(A.xs) > B.y; use an aggregate, such as "
            "array_contains(collect_list(A.x), B.y); or make it a measure, and filter the matches "
            "by it"
        ),
        code="lambda-of-several-rows",
    )


def types_cannot_be_combined(
    operator: str, left: str, right: str, span: Span
) -> MatchRecognizeError:
    """Return the error for an operator that cannot combine the types of values of several rows.

    Args:
        operator: the operator, or IF for the branches of a conditional or a CASE.
        left: the type of the left value.
        right: the type of the right value.
        span: the expression in the text of the query.
    """
    rows = current_language().rows
    text = read_users_text(span) or ""
    hint = _find_operands_hint(operator, left, right, text)
    hint = hint or find_operator_hint(operator, left, right, text)
    if operator == "IF" and text.upper().startswith("CASE"):
        operator = "CASE"
    operation = split_at_operator(text)
    note = f"values of several {rows} of the match must be of one type"
    if operation is not None and left != right:
        note = f"{operation.left} is of type {left}, {operation.right} is of type {right}"
    elif left == right:
        note = f"`{operator}` cannot combine values of this type from several {rows} of the match"
    if operator in ("<", "<=", ">", ">=") and left == "boolean":
        chain = split_chain(text)
        hint = f"write {chain}" if chain else "write x > 1 AND x < 5 for a value between two others"
    return MatchRecognizeUnsupportedError(
        f"`{operator}` in {name_part('DEFINE')} cannot combine {left} and {right}",
        span,
        notes=(note,),
        hint=hint,
        code="types-cannot-be-combined",
    )


# The results of a CASE with one condition.
_RESULTS_OF_CASE = re.compile(
    r"CASE\s+WHEN\b.*?\bTHEN\s+(?P<first>.+?)\s+ELSE\s+(?P<second>.+?)\s+END",
    re.IGNORECASE | re.DOTALL,
)
# Kinds of types for which functions of one row are no help.
_KINDS_WITHOUT_ADVICE = frozenset((TypeKind.OTHER, TypeKind.COLLATED, TypeKind.BINARY))


def _find_operands_hint(operator: str, left: str, right: str, text: str) -> str | None:
    """Return what to write instead of an operator, with its operands; None if it is not clear.

    Args:
        operator: the operator, or IF for the branches of a conditional or a CASE.
        left: the type of the left value.
        right: the type of the right value.
        text: the operation in the text of the query; "" if it is not known.

    >>> _find_operands_hint(">", "timestamp", "int", "A.ts > 20260131")
    "write A.ts > TIMESTAMP'2026-01-31 00:00:00'"
    """
    types = (left, right)
    if left == right or not _KINDS_WITHOUT_ADVICE.isdisjoint(map(classify_type, types)):
        return None
    case = _RESULTS_OF_CASE.fullmatch(text)
    if operator == "IF" and case is not None:
        results = [TypedText(case["first"], left), TypedText(case["second"], right)]
        return find_operands_hint("CASE", results)
    operation = split_at_operator(text)
    if operation is None or operation.operator != operator:
        return None
    operands = [TypedText(operation.left, left), TypedText(operation.right, right)]
    return find_operands_hint(operator, operands)


def negated_decimal(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for `-` before a DECIMAL that Sail would compute wrongly.

    Examples are ORDER BY - price and FIRST(- price). matchrec passes this text to the engine as the
    user wrote it, so it cannot correct the result.
    """
    return MatchRecognizeUnsupportedError(
        "`-` before a DECIMAL in a key, an argument or a lambda is not supported on Sail without "
        "ANSI mode",
        span,
        notes=("Sail would move the decimal point of the value",),
        hint=(
            "write 0 - x instead of - x, or "
            f"{current_surface().write_setting('spark.sql.ansi.enabled', 'true')}"
        ),
        code="negated-decimal",
    )


def string_function_in_argument(span: Span, *, function: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a call in an argument or a lambda that Sail would compute wrongly.

    An example is `LAST(initcap(name))`. matchrec passes this text to the engine as the user wrote
    it, so it cannot correct the result.

    Args:
        span: the text with the call.
        function: the function, such as `INITCAP`.
    """
    name = function.lower()
    return MatchRecognizeUnsupportedError(
        f"`{name}` in an argument or a lambda is not supported on Sail",
        span,
        notes=(_describe_string_function(function),),
        hint=f"write {name}(...) around FIRST, LAST, PREV or NEXT instead of inside, or use "
        f"{current_surface().write_option('engine', 'spark')}",
        code="string-function-in-argument",
    )


def string_function_in_key(span: Span, *, function: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a call in a key that Sail would compute wrongly.

    Args:
        span: the key in PARTITION BY or ORDER BY.
        function: the function, such as `INITCAP`.
    """
    return MatchRecognizeUnsupportedError(
        f"`{function.lower()}` in PARTITION BY or ORDER BY is not supported on Sail",
        span,
        notes=(_describe_string_function(function),),
        hint="write the key in another way, or use "
        f"{current_surface().write_option('engine', 'spark')}",
        code="string-function-in-key",
    )


def _describe_string_function(function: str) -> str:
    """Return the sentence that says how Sail's function of strings differs from Spark's."""
    if function == "INITCAP":
        return "Sail begins a word after any sign, such as a hyphen; Spark begins it after a space"
    return "Sail reads a negative start or length in another way than Spark"


def wrong_argument_type(span: Span, *, function: str, value: str) -> MatchRecognizeUnsupportedError:
    """Return the error for an argument of a function in a condition with a wrong type.

    Args:
        span: the call in the text of the query.
        function: the function.
        value: the type of the argument, with the type to which the function converts, if any.
    """
    language = current_language()
    calls = write_calls_of_one_row(read_users_text(span) or "")
    return MatchRecognizeUnsupportedError(
        f"`{function}` in {name_part('DEFINE')} does not take {value}",
        span,
        notes=(
            f"here it reads values of several {language.rows} of the match, and takes fewer types",
        ),
        hint=f"call it on each value alone: {', '.join(calls) or language.call_on_one_row}",
        code="wrong-argument-type",
    )


def unknown_time_zone(span: Span, *, function: str, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a session's time zone that Python does not know."""
    return MatchRecognizeUnsupportedError(
        f"`{function}` in {name_part('DEFINE')} needs the time zone `{name}`, which Python does "
        "not know",
        span,
        notes=("it is the time zone of the session",),
        hint=(
            f"{current_surface().write_setting('spark.sql.session.timeZone', 'Europe/Paris')} or "
            "another region, or install tzdata"
        ),
        code="unknown-time-zone",
    )


def filter_not_boolean(span: Span, *, function: str, type_name: str) -> MatchRecognizePlanError:
    """Return the error for FILTER (WHERE condition) whose condition is not boolean.

    Args:
        span: the condition.
        function: the name of the aggregate.
        type_name: the type of the condition.
    """
    return MatchRecognizePlanError(
        f"FILTER of {function} in {name_part('DEFINE')} must be boolean, but this is {type_name}",
        span,
        hint=f"write FILTER (WHERE {write_comparison(USERS_TEXT, type_name)})",
        code="filter-not-boolean",
    )


def write_comparison(text: str, type_name: str) -> str:
    """Return a condition on a value that is not boolean.

    Args:
        text: the SQL of the value.
        type_name: the type of the value, such as `decimal(10,2)`.

    >>> [write_comparison("x", type_name) for type_name in ("int", "string", "date", "binary")]
    ['x > 0', "x = 'a'", "x > DATE'2026-01-31'", 'x IS NOT NULL']
    """
    name = re.split(r"\W", type_name.lower())[0]
    if name in ("array", "map"):
        return f"size({text}) > 0"
    return f"{text} {COMPARISONS_BY_TYPE.get(name, 'IS NOT NULL')}"


def not_boolean(span: Span | None, *, type_name: str) -> MatchRecognizePlanError:
    """Return the error for a condition that is not boolean."""
    language = current_language()
    text = "x" if span is None else USERS_TEXT
    alternatives = dict.fromkeys((write_comparison(text, type_name), f"{text} IS NOT NULL"))
    comparison = None if span is None else _continue_comparison(span, type_name)
    hint = f"write {comparison or join_alternatives(list(alternatives))}"
    constant = "" if span is None else read_users_text(span) or ""
    if comparison is None and re.fullmatch(r"'[^']*'|[\d.]+", constant):
        operator = "=" if constant.startswith("'") else ">"
        hint = f"compare a column with it, such as x {operator} {shorten(constant)}"
    return MatchRecognizePlanError(
        f"{language.condition} must be boolean, but this is {type_name}",
        span,
        hint=hint,
        code="not-boolean",
    )


def _continue_comparison(span: Span, type_name: str) -> str | None:
    """Return the condition that is meant by a constant after AND or OR: `x > 1 AND 5`.

    Returns None for other values, and if no comparison with a constant is before AND or OR.

    Args:
        span: the value in the text of the query.
        type_name: the type of the value.
    """
    text, start = read_users_text_around(span)
    before = re.fullmatch(
        r"(?:.*\bAS\s+)?(?P<condition>.+?)\s+(?P<operator>AND|OR)\s*",
        text[:start],
        re.IGNORECASE | re.DOTALL,
    )
    value = TypedText(read_users_text(span) or "", type_name)
    if before is None:
        return None
    condition = TypedText(before["condition"], "boolean")
    return write_comparison_with(before["operator"].upper(), condition, value)


def operations_nested_too_deep(span: Span, *, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for a condition whose operations are too deeply nested for the kernel."""
    return MatchRecognizeUnsupportedError(
        f"an expression in {name_part('DEFINE')} that depends on the run has over {limit} nested "
        "operations",
        span,
        notes=("CASE and COALESCE nest one operation for each branch; a + b + c has two",),
        hint=(
            "write AND, OR or IN, which may have any number of parts; or compute parts first: FROM "
            "(SELECT *, ... AS y FROM t)"
        ),
        code="operations-nested-too-deep",
    )


def query_nested_too_deep() -> MatchRecognizeUnsupportedError:
    """Return the error for a query on which Python's stack overflows."""
    return MatchRecognizeUnsupportedError(
        "the query is too deeply nested to plan",
        hint="remove parentheses and groups, or compute parts of it as columns of the input",
        code="query-nested-too-deep",
    )


def clauses_nested_too_deep() -> MatchRecognizeUnsupportedError:
    """Return the error for more nested clauses than Spark Connect can send."""
    return MatchRecognizeUnsupportedError(
        "the query has more nested clauses than Spark Connect can send",
        hint=current_surface().advice_on_inner_view,
        code="clauses-nested-too-deep",
    )


def too_many_operations(span: Span, *, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for a condition with more operations than the kernel can hold."""
    language = current_language()
    return MatchRecognizeUnsupportedError(
        f"{language.condition} that depends on the run has over {limit:,} operations",
        span,
        notes=("ABS, COALESCE, GREATEST, LEAST and NULLIF evaluate their arguments several times",),
        hint=(
            "do not nest these functions, or compute parts first: FROM (SELECT *, ... AS y FROM t)"
        ),
        code="too-many-operations",
    )


def aggregate_not_supported_in_define(
    span: Span, *, function: str, hint: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for an aggregate in a condition that cannot be updated row by row."""
    return MatchRecognizeUnsupportedError(
        f"aggregate `{function}` is not supported in {name_part('DEFINE')}",
        span,
        notes=(
            (
                f"{name_part('DEFINE')} takes count, sum, avg, min, max and others (see "
                '"Aggregates" in the documentation)'
            ),
        ),
        hint=hint,
        code="aggregate-not-supported-in-define",
    )


def not_a_constant(span: Span, *, position: int, function: str) -> MatchRecognizePlanError:
    """Return the error for an argument of an aggregate that must be a constant.

    Args:
        span: the argument in the text of the query.
        position: the number of the argument, from 1.
        function: the aggregate.
    """
    return MatchRecognizePlanError(
        f"argument {position} of `{function}` must be a constant",
        span,
        hint="write a literal, such as percentile(A.x, 0.9) or listagg(A.x, ', ')",
        code="not-a-constant",
    )


_ONE_ARGUMENT_AGGREGATES = frozenset(
    ("avg", "mean", "sum", "min", "max", "median", "stddev", "variance")
)
_AGGREGATES_OF_NUMBERS = frozenset(("avg", "mean", "sum", "median", "stddev", "variance"))
# The names of functions that are computed by a negation, and of the negation itself.
_NEGATIONS = frozenset(("-", "abs", "negative"))
# Advice for an aggregate that a condition cannot have.
AS_MEASURE = "compute it as a measure, and filter the result with WHERE after the clause"


def wrong_aggregate_argument_type(
    function: str, type_names: Sequence[str], span: Span | None
) -> MatchRecognizeError:
    """Return the error for an aggregate in DEFINE that does not take arguments of these types.

    Args:
        function: the aggregate.
        type_names: the types of the arguments.
        span: the aggregate in the text of the query.
    """
    if function.lower() in _ONE_ARGUMENT_AGGREGATES and len(type_names) > 1:
        count = len(type_names)
        return MatchRecognizePlanError(
            f"`{function}` in {name_part('DEFINE')} takes one argument, not {count}",
            span,
            hint=f"write one argument, such as {function}(A.x)",
            code="aggregate-takes-one-argument",
        )
    arguments = ", ".join(type_names) or "no argument"
    return MatchRecognizeUnsupportedError(
        f"`{function}` in {name_part('DEFINE')} does not take {arguments}",
        span,
        notes=(_describe_aggregate_types(function, type_names),),
        hint=_find_aggregate_hint(function, type_names, span),
        code="wrong-aggregate-argument-type",
    )


def wrong_negated_type(type_name: str, span: Span) -> MatchRecognizeError:
    """Return the error for a value in DEFINE that cannot be negated because of its type.

    The user wrote `-`, ABS or NEGATIVE, which are all computed by a negation.

    Args:
        type_name: the type of the value.
        span: the negation or the call in the text of the query.
    """
    call = re.match(r"(?P<function>\w+)\s*\(", read_users_text(span) or "")
    name = "-" if call is None else call["function"]
    return wrong_aggregate_argument_type(name, [type_name], span)


def _describe_aggregate_types(function: str, type_names: Sequence[str]) -> str:
    """Return a note on the types that an aggregate takes; the arguments are as for its error."""
    if function.lower() in _NEGATIONS:
        return "it takes a number or an interval"
    if function.lower() in _AGGREGATES_OF_NUMBERS and type_names:
        if type_names[0].startswith("string"):
            return "a measure converts strings to numbers, but a condition does not"
        return "its argument must be a number"
    if type_names and type_names[0].startswith(("map", "variant")):
        return "values of this type cannot be compared"
    return (
        "it takes the same types as in a measure, except VARIANT, strings with other collations, "
        "and values that Spark would first convert to another type"
    )


def _find_aggregate_hint(function: str, type_names: Sequence[str], span: Span | None) -> str:
    """Return what to write instead of an aggregate; the arguments are as for its error."""
    text = join_lines((read_users_text(span) if span is not None else None) or "")
    call = re.fullmatch(r"(?is)(?P<start>\w+\s*\(\s*(?:DISTINCT\b\s*)?)(?P<value>.+)\)", text)
    if len(type_names) != 1:
        return AS_MEASURE
    if function == "-":
        number = find_number_example(type_names[0], text.removeprefix("-").strip() or "A.x")
        return AS_MEASURE if number is None else f"write -{number}"
    start, value = (call["start"], call["value"]) if call else (f"{function}(", "A.x")
    if function.lower() == "count":
        return f"write {start}to_json({value}))"
    if function.lower() == "sum" and type_names[0] == "boolean" and call is not None:
        return f"write count_if({value})"
    number = find_number_example(type_names[0], value)
    return AS_MEASURE if number is None else f"write {start}{number})"
