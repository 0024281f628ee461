"""Errors about what DEFINE conditions and measures may compute."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeError
from matchrec.errors.language import current_language, name_part
from matchrec.errors.message import fill_words, give_codes, plan_error, unsupported
from matchrec.errors.sql.expression import classify_type, find_number_example, find_operator_cure
from matchrec.source import Span

not_known_during_the_match = unsupported("""`{what:bare}` in {part[DEFINE]} combines several
        {word.rows} of the match
    code: function-of-several-rows
    note: values of several rows may be combined there with operators, CASE, LIKE, CAST, and some
        functions: docs/reference/functions.md
    call it on each value alone, {word.alone}; or compute it as a column of the input; or make it a
        measure, and filter the matches by that""")
only_spark_computes = unsupported("""{condition:short} spans several {word.rows}, and only Spark can
        compute it
    code: only-spark-can-compute
    write {option[sort=spark]}""")
lambda_of_several_rows = unsupported("""`{what}` with a lambda in {part[DEFINE]} reads several
        {word.rows} of the match
    note: Spark computes a lambda, from one row at a time
    compare values of one row, such as array_max(A.xs) > B.y; use an aggregate, such as
        array_contains(collect_list(A.x), B.y); or make it a measure, and filter the matches by
        that""")


def cannot_combine(operator: str, left: str, right: str, span: Span) -> MatchRecognizeError:
    """Return the error for an operator between values of several rows of the match.

    Args:
        operator: the operator, or IF for the branches of a conditional.
        left: the type of the left value.
        right: the type of the right value.
        span: the expression in the text of the query.
    """
    rows = current_language().rows
    note = f"values of several {rows} of the match must be of one type"
    if left == right:
        note = f"two such values of several {rows} of the match have no {operator} there"
    hint = find_operator_cure(operator, left, right)
    return _cannot_combine(span, operator=operator, left=left, right=right, note=note, cure=hint)


_cannot_combine = unsupported("""`{operator}` in {part[DEFINE]} cannot combine {left} and {right}
    note: {note}
    {cure}""")

# FIRST(- price), exists(prices, x -> - x < 0): the engine computes this text exactly as written.
negated_decimal = unsupported("""`-` before a DECIMAL in an argument or a lambda is not supported on
        Sail without ANSI mode
    note: Sail would move the decimal point of the value
    write 0 - x instead of - x, or set spark.sql.ansi.enabled to true""")
does_not_take = unsupported("""`{function}` in {part[DEFINE]} does not take {value}
    code: wrong-argument-type
    note: here it reads values of several {word.rows} of the match, and takes fewer types
    call it on each value alone: {word.alone}""")
unknown_time_zone = unsupported("""`{function}` in {part[DEFINE]} needs the time zone `{name}`,
        which Python does not know
    note: it is the time zone of the session
    set spark.sql.session.timeZone to a region, such as Europe/Paris, or install tzdata""")
filter_not_boolean = plan_error("""FILTER of {function} in {part[DEFINE]} must be boolean, but this
        is {type_name}
    write a comparison, such as FILTER (WHERE A.x > 0)""")
not_boolean = plan_error("""{word.condition} must be boolean, but this is {type_name}
    compare it with something, such as x > 0, x = 'a' or x IS NOT NULL""")
operations_nested_too_deep = unsupported("""an expression in {part[DEFINE]} that depends on the run
        has over {limit} nested operations
    note: CASE and COALESCE nest one operation for each branch; a + b + c has two
    write AND, OR or IN, which may have any number of parts; or compute parts first: FROM (SELECT *,
        ... AS y FROM t)""")

# Expressions or groups are nested so deep that Python's stack overflows.
nested_too_deep_to_plan = unsupported("""the query is nested too deep to plan
    remove parentheses and groups, or compute parts of it as columns of the input""")
clauses_nested_too_deep = unsupported("""the query nests more clauses in one another than Spark
        Connect can send
    {here.inner_view}""")
too_many_operations = unsupported("""{word.condition} that depends on the run has over {limit:,}
        operations
    note: ABS, COALESCE, GREATEST, LEAST and NULLIF evaluate their arguments several times
    do not nest these functions, or compute parts first: FROM (SELECT *, ... AS y FROM t)""")
aggregate_not_grown = unsupported("""aggregate `{function}` is not supported in {part[DEFINE]}
    code: aggregate-not-supported-in-define
    note: {part[DEFINE]} takes count, sum, avg, min, max and others that
        docs/reference/aggregate_functions.md lists
    {cure}""")
not_a_constant = plan_error("""argument {place} of `{function}` must be a constant
    write a literal, such as percentile(A.x, 0.9) or listagg(A.x, ', ')""")


def aggregate_cannot_take(
    function: str, type_names: Sequence[str], span: Span | None
) -> MatchRecognizeError:
    """Return the error for an aggregate in DEFINE that does not take arguments of these types."""
    if function.lower() in _OF_ONE_VALUE and len(type_names) > 1:
        return _aggregate_of_several(span, function=function, count=len(type_names))
    number = find_number_example(type_names[0]) if type_names else None
    arguments = ", ".join(type_names) or "no argument"
    hint = f"write a number in it, such as {number}" if number else AS_MEASURE
    return _aggregate_cannot_take(span, function=function, taken=arguments, cure=hint)


_aggregate_of_several = plan_error(
    "`{function}` in {part[DEFINE]} takes one argument, not {count}",
    code="aggregate-takes-one-argument",
)
_aggregate_cannot_take = unsupported("""`{function}` in {part[DEFINE]} does not take {taken}
    note: it takes the same types as in a measure, except VARIANT, strings with other collations,
        and values that Spark would first convert to another type
    {cure}""")
_OF_ONE_VALUE = frozenset({"avg", "mean", "sum", "min", "max", "median", "stddev", "variance"})
AS_MEASURE = "make it a measure, and test that with WHERE after the clause"


def within_of_other_type(order: str, interval: str, *spans: Span | None) -> MatchRecognizeError:
    """Return the error for WITHIN whose type is not a distance along the key of ORDER BY.

    Args:
        order: the type of the key.
        interval: the type of the length in WITHIN.
        spans: the key and the length in the text of the query.
    """
    key = f"{name_part('ORDER BY')} key of type {order}"
    hint = _WITHIN.get(
        classify_type(order), "order by a number or a time, such as CAST(x AS TIMESTAMP)"
    )
    return _within_of_other_type(spans, interval=interval, key=key, cure=fill_words(hint))


_within_of_other_type = plan_error("""WITHIN of type {interval} is not a distance along an {key}
    {cure}""")

_OF_TIME = (
    "write an INTERVAL of days to seconds, such as INTERVAL 1 HOUR; for a parameter {here.length}"
)
_WITHIN = {
    "date": _OF_TIME,
    "timestamp": _OF_TIME,
    "timestamp_ntz": _OF_TIME,
    "number": "write a number in the unit of the key: 30 minutes are 1800 seconds, or 1800000 "
    "milliseconds; or order by a time, such as timestamp_seconds(x) or timestamp_millis(x)",
}

# A window that is not a distance along its key, without their types: see `within_of_other_type`.
not_measured_by = unsupported(
    "WITHIN is not a distance along the {part[ORDER BY]} key", code="within-not-a-distance"
)

duplicate_output_column = plan_error("""the result would have two columns `{name}`
    leave out one of them, or give it another name; rename an input column in a subquery""")
two_classifiers = plan_error("""MATCHED_ROWS would have two fields `classifier`: the input has a
        column of that name
    code: duplicate-classifier-field
    rename the column first: FROM (SELECT * EXCEPT (classifier), classifier AS c ...)""")
within_needs_ascending_order = unsupported("""WITHIN needs a first {part[ORDER BY]} key that ascends
    order by the time, ascending; without WITHIN any order is allowed""")
no_output_columns = plan_error("""the result would have no columns: ONE ROW PER MATCH has neither
        PARTITION BY nor MEASURES
    add MEASURES, such as MATCH_NUMBER() AS match, or write ALL ROWS PER MATCH""")

give_codes(globals())
