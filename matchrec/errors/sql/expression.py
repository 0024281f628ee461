"""Errors in what MEASURES and DEFINE say about a match, and of values that do not combine.

`clause` is the clause in which the expression stands, e.g. MEASURES.
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
from matchrec.errors.sql.foreign_names import cure_of, or_dialect
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
    """ORDER BY 1, PARTITION BY "sym"."""
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

# OVER, or a function that needs it.
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

# A subquery that looks at a row of the match, or at a column of the input, which it would have for
# each row of the match. what: it looks at.
correlated_subquery = unsupported("""subquery in {clause} that refers to {what} is not supported
    join the input with the subquery's table first""")
kept_nulls = unsupported("""RESPECT NULLS of {function} in {clause} is not supported
    code: respect-nulls
    collect what is never NULL, such as {function}(struct(A.x))""")
identifier_call = unsupported("""IDENTIFIER(...) in {clause} is not supported
    write the name itself; if the name varies, let Python put it into the text of the query""")

# MATCH_NUMBER() in a navigation, or in an aggregate over a frame; MATCH_STATUS() or MATCH_TIMEOUT()
# in a navigation or an aggregate; MATCH_ROW_NUMBER() in an aggregate in DEFINE, or in a navigation.
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
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")
_COMPARISONS = ("=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "IF")


def cure(operator: str, left: str, right: str) -> str:
    """What to write instead of an operator between values of two types."""
    return fill_words(_template(operator, left, right))


def _template(operator: str, left: str, right: str) -> str:
    kinds = {kind(left), kind(right)}
    for alike in (kinds, {name.removesuffix("_ntz") for name in kinds}):
        both = " ".join(sorted(alike))
        if found := _CURES.get(both):
            return found if operator in _COMPARISONS else _COMPUTED.get(both, found)
    if kinds == {"number"} or kinds == {"string"}:
        return _cast("DOUBLE")
    if kinds == {"collated"} or kinds == {"collated", "string"}:
        return _OF_COLLATIONS
    if "string" in kinds and not kinds & {"other", "collated"}:
        (other,) = (name for name in (left, right) if kind(name) != "string")
        type_name = "DOUBLE" if kind(other) == "number" else other.upper()
        return _cast(type_name, " for the string")
    return _PLAIN if "other" in kinds else _ONE_TYPE


def number_of(type_name: str) -> str | None:
    """A number that stands for a value A.x of a type, or None."""
    return _NUMBERS.get(kind(type_name))


_NUMBERS = {
    **dict.fromkeys(("number", "string", "boolean", "collated"), "CAST(A.x AS DOUBLE)"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "unix_timestamp(A.x)"),
    "date": "unix_date(A.x)",
    "other": "size(A.x)",
}


def kind(type_name: str) -> str:
    """The kind of a type: types of one kind have the same cures."""
    word = type_name.split("(", maxsplit=1)[0].lower()
    if word in NUMBERS:
        return "number"
    if word in (*_TIMES, "string", "boolean", "binary", "time"):
        return word
    if word.startswith("string collate"):
        return "collated"
    if word.startswith("interval "):
        return "months" if "month" in word or "year" in word else "interval"
    return "other"


def _cast(type_name: str, of: str = "") -> str:
    return f"write a CAST around {{word.one_value}}, such as CAST({{word.one}} AS {type_name}){of}"


_DATE_AS_TIMESTAMP = _cast("TIMESTAMP", " for the date")
_DIFFERENCE = (
    "write the difference of two times: {word.current} - {word.before} > INTERVAL '30' DAY"
)
_SECONDS = "write seconds: unix_timestamp({word.later}) - unix_timestamp({word.earlier})"
_CURES = {
    "interval number": "write INTERVAL '30' DAY for a number of days, or compare "
    "datediff({word.later}, {word.earlier})",
    "interval string": "write INTERVAL '10' MINUTE for the string",
    "months number": "write INTERVAL '3' MONTH for a number of months",
    "date number": "write a date for the number, or unix_date({word.one}) for days",
    "number timestamp": "write a timestamp for the number, or unix_timestamp({word.one}) for "
    "seconds",
    "date timestamp": _DATE_AS_TIMESTAMP,
    "date timestamp_ntz": _cast("TIMESTAMP_NTZ", " for the date"),
    "timestamp timestamp_ntz": _cast("TIMESTAMP", " for the timestamp_ntz"),
    "date interval": _DIFFERENCE,
    "interval timestamp": _DIFFERENCE,
    "boolean number": _cast("INT", " for the boolean"),
    "binary string": _cast("STRING", " for the binary"),
    "date": "write the days between them: datediff({word.later}, {word.earlier})",
    "timestamp": _DIFFERENCE,
    "interval": _SECONDS,
    "time": "write minutes of the day: 60 * hour({word.one}) + minute({word.one})",
}
_COMPUTED = {
    "interval number": _SECONDS,
    "number timestamp": "write INTERVAL '30' DAY for a number of days",
    "date number": "write unix_date({word.one}) for days as a number",
    "date interval": _DATE_AS_TIMESTAMP,
}

# Errors that Spark's own analysis of a part of the query brings up.

BEFORE_THE_MATCH = ("PARTITION BY", "ORDER BY", "WITHIN")
_VALUES = {
    "NAN": "isnan(x) for a test, CAST('NaN' AS DOUBLE) for the value",
    **dict.fromkeys(("SYSDATE", "SYSTIMESTAMP"), "current_timestamp()"),
}
_CALLS = ("MATCH_NUMBER", "CLASSIFIER", "MATCH_ROW_NUMBER", "MATCHED_ROWS")
_OWN = (*_CALLS, "PREV", "NEXT", "FIRST", "LAST", "MATCH_STATUS", "MATCH_TIMEOUT")


@dataclass(frozen=True, slots=True)
class Names:
    """What an expression could have meant: the input's columns, variables of PATTERN, measures.

    measures: by name, each as a condition can compute it, or empty where none can. keys: names that
    PARTITION BY gives to columns of the result. call: of the function around the expression, up to
    there, or with which it is compared. example: the column that a cure names. over_window: whether
    the function is one over a row pattern window. index: how an index of pandas is called, None of
    times without a name.
    """

    columns: tuple[str, ...]
    variables: tuple[str, ...]
    measures: Mapping[str, str]
    keys: tuple[str, ...] = ()
    call: str = ""
    example: str = "x"
    over_window: bool = False
    index: tuple[str | None, ...] = ()


def unknown_column(
    name: str, clause: str, known: Names, span: Span | None
) -> MatchRecognizePlanError:
    qualifier, _, column = name.rpartition(".")
    if qualifier and clause in BEFORE_THE_MATCH and qualifier.upper() in known.variables:
        return _variable_before_the_match(span, qualifier=qualifier, clause=clause, column=column)
    if qualifier and known.over_window and qualifier.upper() in known.variables:
        return _variable_over_window(span, qualifier=qualifier)
    table, _, variable = qualifier.rpartition(".")
    if table and variable.upper() in known.variables:
        return _variable_of_table(span, name=name, clause=clause, variable=variable, column=column)
    if qualifier and column in known.columns:
        return _unknown_qualifier(
            span, name=qualifier, clause=clause, known=known.variables, column=column
        )
    what, cure = _no_column(name, clause, known)
    return _unknown_column(
        span, name=name, clause=clause, known=known.columns, what=what, cure=cure
    )


def _no_column(name: str, clause: str, known: Names) -> tuple[str, str]:
    """What a name is that is no column, nothing where it is nothing else, and what to write."""
    if not known.columns:
        return "", "if the input is a folder, check that it has files"
    if known.columns[0] == "_c0":
        return "", current_surface().header
    if cure := _called_otherwise(name, known):
        return "", cure
    first, _, field = name.partition(".")
    if field and first in known.columns:
        shown = "printSchema() shows the fields of a struct"
        cure = f"write {first}['{field}'] if it is a map; {shown}"
        return f"`{first}` is a column without the field `{field}`", cure
    if name.upper() in known.variables and clause not in BEFORE_THE_MATCH:
        cure = _instead_of_variable(name, known)
        return f"`{name}` is a pattern variable, which stands for rows", cure
    if name in known.measures:
        return _of_measure(name, clause, known.measures[name])
    if name in known.index:
        return "", _OF_INDEX.format("reset_index()")
    near = find_nearest(name, known.columns)
    if clause == "ORDER BY" and None in known.index and not near:
        return "", _OF_INDEX.format(f'rename_axis("{name}").reset_index()')
    if name in known.keys:
        what = f"`{name}` is a name that PARTITION BY gives to a column of the result"
        return what, f"repeat the expression before AS {name}"
    return "", f"write {as_name(near)}" if near else "write one of these"


def _of_measure(name: str, clause: str, so_far: str) -> tuple[str, str]:
    """The same of a measure. so_far: see `Names`."""
    if clause != "DEFINE":
        what = f"`{name}` is a measure; only a later measure can read it, by its name alone"
        cure = f"repeat its expression, or compute with {name} in the SELECT around the clause"
        return what, cure
    if so_far and current_language() is PATTERN_CALLS:
        return f"`{name}` is a stage, which has one or several events", fill_words(
            "write {word.another}"
        )
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


def _called_otherwise(name: str, known: Names) -> str | None:
    """What to write for a name of what Spark calls otherwise; None of any other name."""
    if name.upper() == "CLASSIFIER":
        return or_dialect(f"write {name}()", "snowflake")
    if name.upper() in _CALLS:
        return f"write {name}()"
    if (digits := name.replace("_", "")).isdigit():
        return f"write {digits} for a number, `{name}` for a name"
    if name.upper() in _VALUES and not find_nearest(name, known.columns):
        return f"write {_VALUES[name.upper()]}"
    return None


def _instead_of_variable(name: str, known: Names) -> str:
    written = {
        "": f"write a column of its row: {name}.{known.example}",
        "CLASSIFIER(": f"write its name as a string: CLASSIFIER() = '{name.upper()}'",
        "COUNT(": f"write COUNT({name}.*) for the number of its rows",
    }
    column = f"write a column of its rows: {known.call}{name}.{known.example})"
    return written.get(known.call, column)


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
    name: str, clause: str, known: Iterable[str], span: Span | None
) -> MatchRecognizePlanError:
    cure = cure_of_unknown_function(name, (*known, *_OWN))
    if name.upper() in ("FINAL", "RUNNING"):
        cure = f"write {name} before each FIRST, LAST and aggregate in the parentheses"
    return _unknown_function(span, name=name, clause=clause, cure=cure)


def cure_of_unknown_function(name: str, known: Iterable[str]) -> str:
    """Return what to write for a function that the session does not have.

    Args:
        name: the function, with a qualifier as in `price.shift`.
        known: the functions that there are.
    """
    qualifier, _, plain = name.rpartition(".")
    if cure := cure_of(plain):
        return cure
    if qualifier:
        return f"write {plain}(x): a function comes before its argument"
    near = find_nearest(name, (one for one in known if _similar(name, one)))
    return f"write {near}" if near else current_surface().own_function.format(name=name)


_unknown_function = plan_error("""unknown function `{name}` in {clause:part}
    culprit: name
    {cure}""")


def _similar(name: str, function: str) -> bool:
    """Whether a function may be meant: a short name is like too many to have a wrong letter."""
    swapped = sorted(name.upper()) == sorted(function.upper())
    longer = len(function) - len(name)
    return -2 <= longer <= 2 and (len(name) > 4 or swapped or longer == 1)


def not_sortable(clause: str, type_name: str, span: Span | None) -> MatchRecognizePlanError:
    sortable = "CAST(x AS STRING)" if type_name == "interval" else "to_json(x)"
    if type_name.startswith(("geometry", "geography")):
        sortable = "ST_AsBinary(x)"
    return _not_sortable(span, clause=clause, type_name=type_name, sortable=sortable)


_not_sortable = plan_error("""{clause:part} has a key of type {type_name}, which Spark cannot sort
    note: rows are sorted by {part[PARTITION BY]} and {part[ORDER BY]}
    write an expression of another type, such as {sortable}""")


give_codes(globals())
