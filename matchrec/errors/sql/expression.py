"""Errors in the expressions of MEASURES and DEFINE, such as unknown names or unfit types.

In every message and function, `clause` is the clause of the expression, such as MEASURES.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from matchrec.errors.kinds import MatchRecognizePlanError, find_nearest, shorten
from matchrec.errors.language import PATTERN_CALLS, current_language, current_surface
from matchrec.errors.message import (
    as_name,
    fill_words,
    give_codes,
    parse_error,
    plan_error,
    unsupported,
)
from matchrec.errors.sql.clause import IN_BACKTICKS, IN_DOUBLE_QUOTES
from matchrec.errors.sql.foreign_names import add_dialect_cure, find_function_cure
from matchrec.source import Span

unknown_variable = plan_error("""unknown pattern variable `{name}` in {clause}
    note: {part[PATTERN]} has: {primary}
    note: SUBSET has: {unions:some}
    near: write {near}, or add {name} to {part[PATTERN]}
    add {name} to {part[PATTERN]}""")
two_variables = plan_error("""{function} in {clause} reads rows of two variables, {first} and
        {second}
    code: columns-of-two-variables
    note: every column in it must belong to one variable; a column without a variable belongs to all
    write the variable before each column, or one {function} for each variable""")
aggregate_in = plan_error("""aggregate {aggregate} is not allowed in {outer} in {clause}
    code: aggregate-inside-call
    write them side by side, each over columns only""")
navigation_in_aggregate = plan_error("""{navigation} is not allowed in aggregate {aggregate} in
        {clause}
    note: an aggregate reads columns of the rows that are mapped to one variable
    compute the value as a column of the input, e.g. with LAG, and aggregate that""")
expression_for_variable = plan_error("""{function} in {clause} takes a pattern variable, not an
        expression
    write {function}() or {function}(A)""")
matched_rows_of_unfinished_match = plan_error("""MATCHED_ROWS is not allowed in {clause}
    code: matched-rows-in-define
    note: MATCHED_ROWS is the whole match, which is known only after its last row
    in {clause} write an aggregate of the rows so far, such as collect_list(A.x)""")


def constant_key(text: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """Return the error for a key that is a constant, as in ORDER BY 1 or PARTITION BY "sym"."""
    if text.startswith('"'):
        return _STRING_AS_KEY(span, text=text, clause=clause)
    note = "a number is not a column position there" if text.isdigit() else ""
    return _CONSTANT_KEY(span, text=text, clause=clause, note=note)


_KEY_OF_ALL = "`{text}` in {clause} is the same for every row"
_CONSTANT_KEY = plan_error(
    _KEY_OF_ALL, notes=("{note:some}",), hint="name a column, or leave {clause} out"
)
_STRING_AS_KEY = plan_error(
    _KEY_OF_ALL, notes=(IN_DOUBLE_QUOTES,), hint=IN_BACKTICKS, code="constant-key"
)
column_in_double_quotes = parse_error(
    "double quotes are not allowed around a column in {clause}",
    notes=(IN_DOUBLE_QUOTES,),
    hint=IN_BACKTICKS,
)

semantics_before = plan_error("""{word} is not allowed before {what} in {clause}
    code: misplaced-running-or-final
    note: {word} is allowed before FIRST, LAST, CLASSIFIER and aggregates
    remove {word}, or write {word} LAST(A.x)""")
order_in_call = parse_error("""ORDER BY is not allowed in a call in {clause}
    note: a call sees the rows of a match in the order of {part[ORDER BY]}
    remove it, or sort the values: array_sort(collect_list(x)), max_by(x, y), listagg(x, ',') WITHIN
        GROUP (ORDER BY y)""")
final_in_define = plan_error("""FINAL is not allowed before {function} in {part[DEFINE]}
    note: in {part[DEFINE]} only the rows so far are known, so everything is RUNNING
    remove FINAL""")
nondeterministic = plan_error("""{function}() in {part[DEFINE]} returns another value at every
        evaluation
    code: nondeterministic-condition
    note: {word.condition} may be evaluated never, once or several times
    condition: MATCH_RECOGNIZE_NONDETERMINISTIC_DEFINE
    compute it as a column of the input""")
changing_measure = plan_error("""measure `{name}` is not allowed in another measure
    code: nondeterministic-measure
    note: {function}() would return another value there
    compute with {name} in the SELECT around the clause""")

# OVER, or a function that is used only with OVER.
_in_place_of_a_window = partial(
    plan_error,
    notes=("the {word.rows} of the match replace the window",),
    hint="write {word.of_rows}, or compute it as a column of the input",
    condition="MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION",
)
window = _in_place_of_a_window("OVER is not allowed in {clause}", code="over-not-allowed")
window_function = _in_place_of_a_window("""window function {function} is not allowed in {clause}
    code: window-function-not-allowed
    case LAG: write PREV(x, n), or pass {option[dialect=snowflake]}
    case LEAD: write NEXT(x, n), or pass {option[dialect=snowflake]}
    case NTH_VALUE: write FIRST(x, n - 1)
    case ROW_NUMBER: write count(*) for the number of the row in the match""")

# A subquery that reads a row of the match, or a column of the input: it would have to run again for
# each row of the match. `what` is what it reads.
correlated_subquery = unsupported("""subquery in {clause} that refers to {what} is not supported
    join the input with the subquery's table first""")
kept_nulls = unsupported("""RESPECT NULLS of {function} in {clause} is not supported
    code: respect-nulls
    collect what is never NULL, such as {function}(struct(A.x))""")
identifier_call = unsupported("""IDENTIFIER(...) in {clause} is not supported
    write the name itself; if the name varies, let Python put it into the text of the query""")

# MATCH_NUMBER() in a navigation or in an aggregate over a frame; MATCH_STATUS() or MATCH_TIMEOUT()
# in a navigation or an aggregate; MATCH_ROW_NUMBER() in a navigation or in an aggregate in DEFINE.
called_inside = unsupported("""{inner}() in the argument of {function} in {clause} is not supported
    code: call-inside-navigation
    case MATCH_ROW_NUMBER: write MATCH_ROW_NUMBER() by itself, or in an aggregate in MEASURES
    write {inner}() outside {function}: it is the same on every row of a match""")
ending_in_define = plan_error("""{function}() is not allowed in DEFINE
    code: status-in-define
    note: how a run ends is known only after it has ended
    write it in MEASURES""")
reads_rows_of_a_match = plan_error("""{function} is not allowed in {clause}
    code: match-function-before-match
    note: {clause} is evaluated before the match, on each row alone
    compute it as a column of the input, in a subquery before the clause""")
star_outside_count = plan_error("""`*` is not allowed in {function} in {clause}
    write count(*) or count(A.*), or name the columns""")
bare_star = unsupported("""`*`, all columns of a row, is not supported outside a navigation in
        {clause}
    code: star-outside-navigation
    write LAST(struct(A.*)), or name the columns""")

_PLAIN = (
    "compare or combine plain values computed from each, such as to_json(x), size(x) or x.field"
)
_OF_COLLATIONS = (
    "compare CAST({word.before} AS STRING) with CAST({word.current} AS STRING),"
    " both in lower(...) if the collation ignores case"
)
_ONE_TYPE = "compute columns of one type in the input, and combine these"
NUMBER_TYPES = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")
_COMPARISONS = ("=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "IF")


def find_operator_cure(operator: str, left: str, right: str) -> str:
    """Return what to write instead of an operator between values of two types.

    Args:
        operator: such as `+` or `<`; IF for the branches of a conditional.
        left: the type of the left value, such as `decimal(18,2)`.
        right: the type of the right value.

    >>> find_operator_cure("=", "boolean", "int")
    'write a CAST around one navigation, such as CAST(LAST(A.x) AS INT) for the boolean'
    """
    return fill_words(_find_cure_template(operator, left, right))


def _find_cure_template(operator: str, left: str, right: str) -> str:
    """Return the advice of `find_operator_cure` as a template for `fill_words`."""
    kinds = {classify_type(left), classify_type(right)}
    without_time_zone = {name.removesuffix("_ntz") for name in kinds}
    for pair in (kinds, without_time_zone):
        key = " ".join(sorted(pair))
        cure = _CURES.get(key)
        if cure is not None:
            return cure if operator in _COMPARISONS else _COMPUTED.get(key, cure)
    if kinds == {"number"} or kinds == {"string"}:
        return _advise_cast("DOUBLE")
    if kinds == {"collated"} or kinds == {"collated", "string"}:
        return _OF_COLLATIONS
    if "string" in kinds and not kinds & {"other", "collated"}:
        (other,) = (name for name in (left, right) if classify_type(name) != "string")
        type_name = "DOUBLE" if classify_type(other) == "number" else other.upper()
        return _advise_cast(type_name, " for the string")
    return _PLAIN if "other" in kinds else _ONE_TYPE


def find_number_example(type_name: str) -> str | None:
    """Return an expression that makes a number from a value A.x of a type; None without one.

    >>> find_number_example("timestamp")
    'unix_timestamp(A.x)'
    """
    return _NUMBERS.get(classify_type(type_name))


# For each kind of types: an expression that makes a number from A.x.
_NUMBERS = {
    **dict.fromkeys(("number", "string", "boolean", "collated"), "CAST(A.x AS DOUBLE)"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "unix_timestamp(A.x)"),
    "date": "unix_date(A.x)",
    "other": "size(A.x)",
}


def classify_type(type_name: str) -> str:
    """Return the kind of a type. Types of one kind get the same advice.

    >>> [classify_type(name) for name in ("decimal(18,2)", "interval year to month", "array<int>")]
    ['number', 'months', 'other']
    """
    word = type_name.split("(", maxsplit=1)[0].lower()
    if word in NUMBER_TYPES:
        return "number"
    if word in (*_TIMES, "string", "boolean", "binary", "time"):
        return word
    if word.startswith("string collate"):
        return "collated"
    if word.startswith("interval "):
        return "months" if "month" in word or "year" in word else "interval"
    return "other"


def _advise_cast(type_name: str, which_value: str = "") -> str:
    """Return advice to cast one of two values; `which_value` is such as " for the date"."""
    example = f"CAST({{word.one}} AS {type_name}){which_value}"
    return f"write a CAST around {{word.one_value}}, such as {example}"


_DATE_AS_TIMESTAMP = _advise_cast("TIMESTAMP", " for the date")
_DIFFERENCE = (
    "write the difference of two times: {word.current} - {word.before} > INTERVAL '30' DAY"
)
_SECONDS = "write seconds: unix_timestamp({word.later}) - unix_timestamp({word.earlier})"
# What to write for two kinds of values, in alphabetical order, or for two values of one kind.
_CURES = {
    "interval number": "write INTERVAL '30' DAY for a number of days, or compare "
    "datediff({word.later}, {word.earlier})",
    "interval string": "write INTERVAL '10' MINUTE for the string",
    "months number": "write INTERVAL '3' MONTH for a number of months",
    "date number": "write a date for the number, or unix_date({word.one}) for days",
    "number timestamp": "write a timestamp for the number, or unix_timestamp({word.one}) for "
    "seconds",
    "date timestamp": _DATE_AS_TIMESTAMP,
    "date timestamp_ntz": _advise_cast("TIMESTAMP_NTZ", " for the date"),
    "timestamp timestamp_ntz": _advise_cast("TIMESTAMP", " for the timestamp_ntz"),
    "date interval": _DIFFERENCE,
    "interval timestamp": _DIFFERENCE,
    "boolean number": _advise_cast("INT", " for the boolean"),
    "binary string": _advise_cast("STRING", " for the binary"),
    "date": "write the days between them: datediff({word.later}, {word.earlier})",
    "timestamp": _DIFFERENCE,
    "interval": _SECONDS,
    "time": "write minutes of the day: 60 * hour({word.one}) + minute({word.one})",
}
# The same for operators that are not comparisons, if it differs.
_COMPUTED = {
    "interval number": _SECONDS,
    "number timestamp": "write INTERVAL '30' DAY for a number of days",
    "date number": "write unix_date({word.one}) for days as a number",
    "date interval": _DATE_AS_TIMESTAMP,
}

# Errors that Spark finds when it analyses a part of the query.

BEFORE_THE_MATCH = ("PARTITION BY", "ORDER BY", "WITHIN")
# For names that Spark does not read as values: what to write instead.
_VALUES = {
    "NAN": "isnan(x) for a test, CAST('NaN' AS DOUBLE) for the value",
    **dict.fromkeys(("SYSDATE", "SYSTIMESTAMP"), "current_timestamp()"),
}
_CALLS = ("MATCH_NUMBER", "CLASSIFIER", "MATCH_ROW_NUMBER", "MATCHED_ROWS")
_MATCH_FUNCTIONS = (*_CALLS, "PREV", "NEXT", "FIRST", "LAST", "MATCH_STATUS", "MATCH_TIMEOUT")


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names that an expression can use, for advice on a name that is unknown."""

    # The columns of the input, and the variables of PATTERN.
    columns: tuple[str, ...]
    variables: tuple[str, ...]
    # For each measure: its value so far, as a condition can compute it; "" if no condition can.
    measures: Mapping[str, str]
    # Names that PARTITION BY gives to columns of the result.
    keys: tuple[str, ...] = ()
    # The start of the function call around the name, or of the one that it is compared with, such
    # as `COUNT(`; "" if there is none.
    call: str = ""
    # A column for the advice.
    example: str = "x"
    # True if the expression is a function over a row pattern window.
    over_window: bool = False
    # The names of the index of a pandas frame; None for an index of times without a name.
    index: tuple[str | None, ...] = ()


def unknown_column(
    name: str, clause: str, names: KnownNames, span: Span | None
) -> MatchRecognizePlanError:
    """Return the error for a name that is not a column of the input.

    Args:
        name: the name, with its qualifier if it has one, such as `A.price`.
        clause: the clause of the expression.
        names: what the user could have meant.
        span: the name in the text of the query.
    """
    qualifier, _, column = name.rpartition(".")
    if qualifier and clause in BEFORE_THE_MATCH and qualifier.upper() in names.variables:
        return _variable_before_the_match(span, qualifier=qualifier, clause=clause, column=column)
    if qualifier and names.over_window and qualifier.upper() in names.variables:
        return _variable_over_window(span, qualifier=qualifier)
    table, _, variable = qualifier.rpartition(".")
    if table and variable.upper() in names.variables:
        return _variable_of_table(span, name=name, clause=clause, variable=variable, column=column)
    if qualifier and column in names.columns:
        return _unknown_qualifier(
            span, name=qualifier, clause=clause, known=names.variables, column=column
        )
    note, cure = _explain_name(name, clause, names)
    return _unknown_column(
        span, name=name, clause=clause, known=names.columns, what=note, cure=cure
    )


def _explain_name(name: str, clause: str, names: KnownNames) -> tuple[str, str]:
    """Explain a name that is not a column.

    Returns:
        note: what the name is instead, such as a measure; "" if it is nothing.
        cure: what to write.
    """
    if not names.columns:
        return "", "if the input is a folder, check that it has files"
    if names.columns[0] == "_c0":
        return "", current_surface().header
    cure = _find_spelling_in_spark(name, names)
    if cure:
        return "", cure
    first, _, field = name.partition(".")
    if field and first in names.columns:
        shown = "printSchema() shows the fields of a struct"
        cure = f"write {first}['{field}'] if it is a map; {shown}"
        return f"`{first}` is a column without the field `{field}`", cure
    if name.upper() in names.variables and clause not in BEFORE_THE_MATCH:
        cure = _replace_variable(name, names)
        return f"`{name}` is a pattern variable, which stands for rows", cure
    if name in names.measures:
        return _explain_measure(name, clause, names.measures[name])
    if name in names.index:
        return "", _OF_INDEX.format("reset_index()")
    near = find_nearest(name, names.columns)
    if clause == "ORDER BY" and None in names.index and not near:
        return "", _OF_INDEX.format(f'rename_axis("{name}").reset_index()')
    if name in names.keys:
        note = f"`{name}` is a name that PARTITION BY gives to a column of the result"
        return note, f"repeat the expression before AS {name}"
    return "", f"write {as_name(near)}" if near else "write one of these"


def _explain_measure(name: str, clause: str, so_far: str) -> tuple[str, str]:
    """Explain the name of a measure where a column is needed.

    Args:
        name: the measure.
        clause: the clause that uses it.
        so_far: its value so far as a condition can compute it, or "".

    Returns:
        The note and the cure, as `_explain_name` returns them.
    """
    if clause != "DEFINE":
        note = f"`{name}` is a measure; only a later measure can read it, by its name alone"
        cure = f"repeat its expression, or compute with {name} in the SELECT around the clause"
        return note, cure
    if so_far and current_language() is PATTERN_CALLS:
        note = f"`{name}` is a stage, which has one or several events"
        return note, fill_words("write {word.another}")
    cure = f"test {name} in a query around this one: SELECT * FROM (SELECT ...) WHERE {name} ..."
    if so_far:
        cure = f"write {shorten(so_far)} for its value so far, or {cure}"
    return f"`{name}` is a measure, which has no value before the match is complete", cure


_unknown_column = plan_error("""unknown column `{name:short}` in {clause:part}
    note: {what:some}
    note: the input has: {known}
    culprit: name
    {cure}""")
_OF_INDEX = "write df.{} for the pandas DataFrame: its index is not a column"


def _find_spelling_in_spark(name: str, names: KnownNames) -> str | None:
    """Return what to write for something that is spelled differently in Spark; else None.

    Examples are SYSDATE, CLASSIFIER without parentheses, and 1_000 for a number.
    """
    if name.upper() == "CLASSIFIER":
        return add_dialect_cure(f"write {name}()", "snowflake")
    if name.upper() in _CALLS:
        return f"write {name}()"
    digits = name.replace("_", "")
    if digits.isdigit():
        return f"write {digits} for a number, `{name}` for a name"
    if name.upper() in _VALUES and not find_nearest(name, names.columns):
        return f"write {_VALUES[name.upper()]}"
    return None


def _replace_variable(name: str, names: KnownNames) -> str:
    """Return what to write instead of a pattern variable where a value is needed."""
    cures = {
        "": f"write a column of its row: {name}.{names.example}",
        "CLASSIFIER(": f"write its name as a string: CLASSIFIER() = '{name.upper()}'",
        "COUNT(": f"write COUNT({name}.*) for the number of its rows",
    }
    argument = f"write a column of its rows: {names.call}{name}.{names.example})"
    return cures.get(names.call, argument)


unknown_type_column = plan_error("""unknown column `{name}` in type_column
    note: the input has: {known}
    near: write {option[type_column={near:name}]}
    write one of these""")
type_column_without_texts = plan_error("""type_column is {type_name}, but event types in SEQ are
        strings
    write {option[type_column=CAST({name} AS STRING)]}""")
_variable_before_the_match = plan_error("""pattern variable `{qualifier}` is not allowed in
        {clause:part}
    note: {clause:part} is evaluated before the match, on each row alone
    culprit: qualifier
    write {column}""")
_variable_over_window = plan_error("""pattern variable `{qualifier}` is not allowed in a function
        over a window
    note: outside MEASURES, functions see the rows of the match, but not its variables
    culprit: qualifier
    make it a measure of the window: MEASURES ... AS m, then m OVER w""")
_variable_of_table = plan_error("""unknown column `{name}` in {clause:part}
    code: unknown-column
    note: `{variable}` is a pattern variable; no table name is allowed before it
    culprit: name
    write {variable}.{column}""")
_unknown_qualifier = plan_error("""unknown pattern variable `{name}` in {clause:part}
    code: unknown-variable
    note: {part[PATTERN]} has: {known}
    near: write {near}.{column}
    culprit: name
    write {column}, or add {name} to {part[PATTERN]}""")
ambiguous_column = plan_error("""column `{name}` in {clause:part} is ambiguous
    note: several columns of the input have this name
    culprit: name
    rename them in a subquery before the clause: SELECT a.x, b.x AS x2 FROM ...""")
doubtful_column = plan_error("""`{name}` in {clause:part} is both a column of the input and a
        function of Spark
    code: column-or-function
    culprit: name
    write A.{name}, with the pattern variable of the row, for the column, or {name}() for the
        function""")


def unknown_function(
    name: str, clause: str, functions: Iterable[str], span: Span | None
) -> MatchRecognizePlanError:
    """Return the error for a function that does not exist; `functions` are those that do."""
    cure = find_unknown_function_cure(name, (*functions, *_MATCH_FUNCTIONS))
    if name.upper() in ("FINAL", "RUNNING"):
        cure = f"write {name} before each FIRST, LAST and aggregate in the parentheses"
    return _unknown_function(span, name=name, clause=clause, cure=cure)


def find_unknown_function_cure(name: str, functions: Iterable[str]) -> str:
    """Return what to write for a function that the session does not have.

    Args:
        name: the function, with a qualifier as in `price.shift`.
        functions: the functions that the session has.
    """
    qualifier, _, plain = name.rpartition(".")
    cure = find_function_cure(plain)
    if cure:
        return cure
    if qualifier:
        return f"write {plain}(x): a function comes before its argument"
    candidates = (function for function in functions if _is_similar(name, function))
    near = find_nearest(name, candidates)
    return f"write {near}" if near else current_surface().own_function.format(name=name)


_unknown_function = plan_error("""unknown function `{name}` in {clause:part}
    culprit: name
    {cure}""")


def _is_similar(name: str, function: str) -> bool:
    """Return whether `name` may be a misspelling of a function.

    A name of at most 4 letters may lack a letter or have its letters in another order. A wrong
    letter does not count, because every short name would be similar to many functions.
    """
    swapped = sorted(name.upper()) == sorted(function.upper())
    longer = len(function) - len(name)
    return -2 <= longer <= 2 and (len(name) > 4 or swapped or longer == 1)


def not_sortable(clause: str, type_name: str, span: Span | None) -> MatchRecognizePlanError:
    """Return the error for a key of PARTITION BY or ORDER BY whose type Spark cannot sort."""
    sortable = "CAST(x AS STRING)" if type_name == "interval" else "to_json(x)"
    if type_name.startswith(("geometry", "geography")):
        sortable = "ST_AsBinary(x)"
    return _not_sortable(span, clause=clause, type_name=type_name, sortable=sortable)


_not_sortable = plan_error("""{clause:part} has a key of type {type_name}, which Spark cannot sort
    note: rows are sorted by {part[PARTITION BY]} and {part[ORDER BY]}
    write an expression of another type, such as {sortable}""")


give_codes(globals())
