"""Translate Sail's error messages into plain words, and into Spark's error conditions.

Sail's errors are texts without error conditions. Three tables map regular expressions for such
texts to plain sentences:

    NAME_REFUSALS     an unknown or ambiguous name, with Spark's error condition
    OTHER_REFUSALS    a call, a type, or a part of the query that Sail cannot run
    VALUE_FAILURES    a value of a row that cannot be computed, so that the running query fails

`simplify_refusal` uses the first two, `explain_value_failure` and `find_value_failure` the third.
For example:

    unknown function: uper                       →   unknown function `uper`
    Arrow error: Divide by zero error            →   Division by zero. Write NULLIF(..., 0) ...
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeVar
from zoneinfo import available_timezones

from matchrec.errors.misspellings import find_nearest, find_nearest_choice
from matchrec.errors.sql.type_mismatches import name_types_as_spark
from matchrec.errors.sql.written_times import read_times
from matchrec.errors.wording import uncapitalise
from matchrec.plan.words import NO_ALIAS_OF_SAIL
from matchrec.source import Span
from matchrec.spark.errors.name_conditions import (
    AMBIGUOUS_COLUMN,
    PARAMETER_WITHOUT_VALUE,
    UNKNOWN_COLUMN,
    UNKNOWN_FUNCTION,
    UNKNOWN_STAR,
    UNKNOWN_TABLE,
)
from matchrec.worker.error_reports import find_cause

TableValue = TypeVar("TableValue")

# Separates a sentence from advice, in `OTHER_REFUSALS` and in the results of `simplify_refusal`.
HELP = "\n  help: "

# A name in a text of Sail: as a Rust value, `ObjectName([Identifier("t"), Identifier("x")])`, or
# as SQL, `t.x`.
NAME = r"(?:ObjectName\(\[(?P<parts>(?:[^\]]|\](?!\)))*)\]\)|`?(?P<name>[\w.]+(?:`\.`[\w.]+)*)`?)"

# Refusals that are about a name, by regular expressions for Sail's texts.
NAME_REFUSALS = {
    rf"attribute {NAME} is missing": UNKNOWN_COLUMN,
    rf"ambiguous attribute: {NAME}": AMBIGUOUS_COLUMN,
    rf"unknown function: {NAME}": UNKNOWN_FUNCTION,
    rf"Table or view not found: {NAME}": UNKNOWN_TABLE,
    # The table into which an INSERT writes. Spark's sentence is longer.
    rf"The table or view {NAME} cannot be found$": UNKNOWN_TABLE,
    rf"cannot resolve wildcard: {NAME}": UNKNOWN_STAR,
    rf"No value found for placeholder with name :{NAME}": PARAMETER_WITHOUT_VALUE,
    rf"Placeholder ':{NAME}' was not provided a value": PARAMETER_WITHOUT_VALUE,
    rf"parameter {NAME} has no value": PARAMETER_WITHOUT_VALUE,
}

# The refusal of the table of an INSERT, Sail's only one that begins with a condition of Spark.
UNKNOWN_INSERT_TABLE = re.compile(
    r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view \S+ cannot be found$"
)

# A part of the error that a client raises if the server breaks off its answer, as it does when an
# analysis crashes. The error for a missing server does not have this part.
STREAM_RESET = "RST_STREAM"

# Refusals that are about a call, a number, or something that Sail knows but cannot run in this
# position, each with a sentence in plain words, perhaps with `HELP` and advice after it. `\g<name>`
# stands for a group of the regular expression. Spark has the refusals about columns of files, too.
OTHER_REFUSALS = {
    # Calls and numbers.
    r"^(?P<count>\w+) values? expected": (
        r"a call has the wrong number of arguments: the function takes \g<count>"
    ),
    r"^expected at least one value, but got": "a function is called without arguments",
    r"Function '(?P<name>\w+)' (?:failed|expects)(?s:.*?) but received (?P<count>\d+)": (
        r"wrong number of arguments for the function \g<name>: \g<count>"
    ),
    r"Function '(?P<name>\w+)' failed to match any signature(?s:.*?) but received (?P<type>\w+)": (
        r"the function \g<name> does not accept a value of type \g<type>"
    ),
    r"a call to '(?P<name>\w+)' function: coercion from Utf8 to the signature Exact\(Float64": (
        r"the function \g<name> does not accept a value of type String"
    ),
    r"^(?:invalid argument: )?requires (?P<arguments>(?s:.+))$": r"a function takes \g<arguments>",
    r"min/max was called with": "the functions min and max take one argument",
    r"^invalid argument: interval: (?P<word>[^\d\s+-]\S*)$": r"\g<word> is not a number",
    r"^invalid argument: (?:decimal|interval|(?:big|small|tiny)?int): (?P<number>\S+)$": (
        r"the number \g<number> is too large"
    ),
    # Parts of a query.
    r"^(?:Plan|Command)Node::(?P<node>\w+)$": (
        rf"\g<node> is not supported on Sail{HELP}run it on Spark"
    ),
    STREAM_RESET: (
        "the analysis fails without a reason, as it does for some functions with too few arguments"
    ),
    r"logical expression InSubquery": (
        "IN (SELECT ...) is supported only in WHERE"
        f"{HELP}write array_contains((SELECT collect_list(x) FROM t), x)"
    ),
    r"logical expression ScalarSubquery": (
        "a subquery that reads the row around it is not supported here"
        f"{HELP}write its value without SELECT, or join its table in FROM"
    ),
    r"logical expression Wildcard": (
        "`*` is not allowed in a query over groups of rows"
        f"{HELP}write the columns that GROUP BY has, or, if HAVING has no GROUP BY, WHERE instead "
        "of HAVING"
    ),
    r"logical expression AggregateFunction": "an aggregate is not allowed here",
    r"^Aggregate function calls cannot be nested": (
        "an aggregate is not allowed in another aggregate"
    ),
    r"Scalar subquery should only return one column": (
        "a subquery has several columns where one value is needed"
    ),
    r"Cannot create filter with non-boolean predicate(?s:.*?) returning (?P<type>\w+)": (
        r"a condition must be boolean, but this is \g<type>"
    ),
    r"Aggregate requires at least one grouping": (
        f"HAVING has neither GROUP BY nor an aggregate{HELP}write WHERE instead of HAVING"
    ),
    r"(?s)found end of input expected .*": "Syntax error at or near end of input",
    r'No field named (?:[^.\s]+\.)?"#\d+"': (
        "a column is neither in GROUP BY nor in an aggregate; "
        "without GROUP BY, an aggregate makes one group of all rows"
        f"{HELP}add the column to GROUP BY, or write an aggregate of it, such as max(x)"
    ),
    # Columns of files.
    r"TIMESTAMP\(NANOS": (
        "the file has times in nanoseconds"
        f"{HELP}write the file with microseconds, in pandas by frame.to_parquet(path, "
        'coerce_timestamps="us", allow_truncated_timestamps=True), or read '
        "timestamp_micros(x DIV 1000) of it with the setting "
        "spark.sql.legacy.parquet.nanosAsLong=true"
    ),
    r"Timestamp\(Nanosecond": (
        "the file has times in nanoseconds"
        f"{HELP}write the file with microseconds, in pandas by frame.to_parquet(path, "
        'coerce_timestamps="us", allow_truncated_timestamps=True), or read it as FROM '
        "(SELECT ..., CAST(x AS TIMESTAMP_NTZ) AS x FROM t), AS TIMESTAMP where the "
        "times have a zone"
    ),
    r"^cast Duration\(": (
        "the file has durations that are not in microseconds"
        f"{HELP}read it as FROM (SELECT ..., CAST(x AS INTERVAL DAY TO SECOND) AS x FROM t), "
        'or write it with microseconds, in pandas by frame.astype({"x": "timedelta64[us]"})'
    ),
    r"^cast Time(?:32|64)\(": (
        "values of type TIME are not supported"
        f"{HELP}write date_format(x, 'HH:mm:ss') for the time of day of a timestamp x"
    ),
    r"^cast Dictionary\(": (
        "the file has a column of categories"
        f"{HELP}read it as FROM (SELECT ..., CAST(x AS STRING) AS x FROM t), "
        'or write it with texts, in pandas by frame.astype({"x": "str"})'
    ),
    r"\bFloat16\b|\(FLOAT16\)": (
        f"numbers of type float16 are not supported{HELP}"
        'write them as float32, in pandas by frame.astype({"x": "float32"})'
    ),
}

# A syntax error: a word, the range of its characters, and a long list of words that Sail expects.
SYNTAX_ERROR = re.compile(
    r"(?s)found (?P<word>.+?) at (?P<start>\d+):(?P<end>\d+) expected (?P<list>.*)"
)

# The word and the list of the syntax error for a query that begins with FROM, which Spark accepts.
FROM_WITHOUT_SELECT = re.compile(r"FROM (?:query$|.*\bstatement\b)", re.IGNORECASE | re.DOTALL)

# The text after a sentence about a call: where to report it, and all signatures of the function.
AFTER_SENTENCE = re.compile(
    r"(?:\nThis issue was likely caused by|\.? No function matches the given name).*", re.DOTALL
)

# The text before a sentence: the names of the steps in which Sail has failed.
FAILED_STEPS = re.compile(
    r"(?:(?:Internal|Execution) error: |Error during planning: |invalid argument: "
    r"|Function '\w+' user-defined coercion failed with: )+"
)


def find_matching_row(
    table: Mapping[str, TableValue], error_text: str
) -> tuple[re.Match[str], TableValue] | None:
    """Return the first row of a table whose regular expression is found in an error text.

    Args:
        table: a value for each regular expression.
        error_text: the text.

    Returns:
        The match in the text, and the value for its expression; None if no expression is found.

    >>> find_matching_row({"a": 1, "b+": 2}, "rubble")
    (<re.Match object; span=(2, 4), match='bb'>, 2)
    """
    for pattern, value in table.items():
        pattern_match = re.search(pattern, error_text)
        if pattern_match is not None:
            return pattern_match, value
    return None


class RefusedName(NamedTuple):
    """A name that an engine refuses."""

    # Spark's error condition, such as UNRESOLVED_COLUMN, also if Sail refuses the name.
    condition: str
    # The parts of the name, separated by points and not quoted.
    name: str
    # The same parts, which can contain points; empty if the engine does not tell them apart.
    parts: tuple[str, ...] = ()


def find_name_refused_by_sail(error_text: str) -> RefusedName | None:
    """Return the name that a refusal by Sail is about.

    Returns None if the text is not a refusal by Sail, or not about a name.

    >>> missing = 'attribute ObjectName([Identifier("A"), Identifier("x")]) is missing from'
    >>> find_name_refused_by_sail(missing)
    RefusedName(condition='UNRESOLVED_COLUMN', name='A.x', parts=('A', 'x'))
    >>> find_name_refused_by_sail("unknown function: uper")
    RefusedName(condition='UNRESOLVED_ROUTINE', name='uper', parts=())
    """
    row = find_matching_row(NAME_REFUSALS, error_text)
    if row is None:
        return None
    name_match, name_condition = row
    return RefusedName(name_condition.condition, read_name(name_match), read_parts(name_match))


def read_name(name_match: re.Match[str]) -> str:
    """Return the name in a match of `NAME`, its parts separated by points."""
    return ".".join(read_parts(name_match)) or name_match["name"].replace("`", "")


def read_parts(name_match: re.Match[str]) -> tuple[str, ...]:
    """Return the parts of the name in a match of `NAME`; empty if the name is SQL."""
    return tuple(re.findall(r'Identifier\("([^"]*)"\)', name_match["parts"] or ""))


def find_syntax_error_span(error_text: str, text: str) -> Span | None:
    """Return the span of a text in which Sail's parser has found a syntax error.

    Returns None if the error is another one, or if the word that it names is not in this span. The
    span is wrong for an error inside of a literal, because the parser then counts from the quote.

    Args:
        error_text: Sail's error.
        text: the SQL that Sail has parsed.

    >>> find_syntax_error_span("found bad at 7:10 expected 'FROM'", "SELECT bad")
    Span(start=7, end=10)
    >>> find_syntax_error_span("found x at 0:1 expected number", "SELECT TIMESTAMP'x'")
    """
    syntax_error = SYNTAX_ERROR.search(error_text)
    if syntax_error is None:
        return None
    span = Span(int(syntax_error["start"]), int(syntax_error["end"]))
    word = syntax_error["word"].strip("'\"`")
    if word.lower() not in text[span.start : span.end].lower():
        return None
    return span


def find_word_hint(error_text: str) -> str | None:
    """Return what to write for a word that Spark accepts in its position and Sail does not.

    Returns None if the error is not about such a word.

    >>> find_word_hint("invalid argument: found time at 9:13 expected 'FROM'")
    'write `time` in backticks'
    >>> find_word_hint("invalid argument: found PIVOT at 19:24 expected 'JOIN'")
    'write the alias after the parentheses of PIVOT, not before it'
    """
    syntax_error = SYNTAX_ERROR.search(error_text)
    if syntax_error is None:
        return None
    word = syntax_error["word"]
    if word.upper() in ("PIVOT", "UNPIVOT"):
        return f"write the alias after the parentheses of {word}, not before it"
    if word.upper() in NO_ALIAS_OF_SAIL:
        return f"write `{word}` in backticks"
    return None


def simplify_refusal(error_text: str) -> str:
    """Return a refusal in plain words, with advice after `HELP` if there is any.

    In Spark's texts, and in texts of Sail that no table has, only the words around the sentence are
    removed.

    >>> simplify_refusal("invalid argument: found FROM at 0:4 expected 'SELECT', or '('")
    "Syntax error at or near 'FROM'"
    >>> simplify_refusal('ambiguous attribute: ObjectName([Identifier("x")])')
    'column `x` is ambiguous'
    >>> simplify_refusal("[TABLE_OR_VIEW_NOT_FOUND] The table or view `db`.`t` cannot be found")
    'unknown table or view `db.t`'
    >>> simplify_refusal("found FROM at 11:15 expected query")
    "Syntax error at or near 'FROM'\\n  help: write SELECT * FROM"
    >>> simplify_refusal("f expects 2 arguments. No function matches the given name 'f(Int32)'")
    'f expects 2 arguments'
    >>> simplify_refusal("one value expected: [Literal(Int32(1), None), Literal(Int32(2), None)]")
    'a call has the wrong number of arguments: the function takes one'
    >>> simplify_refusal("Internal error: Function 'sum' expects 1 arguments but received 2,Error")
    'wrong number of arguments for the function sum: 2'
    >>> print(simplify_refusal("PlanNode::CacheTable"))
    CacheTable is not supported on Sail
      help: run it on Spark
    """
    syntax_error = SYNTAX_ERROR.search(error_text)
    if syntax_error is not None:
        word = syntax_error["word"]
        lacks_select = FROM_WITHOUT_SELECT.match(f"{word} {syntax_error['list']}")
        advice = f"{HELP}write SELECT * FROM" if lacks_select else ""
        return f"Syntax error at or near '{word}'{advice}"
    name_row = find_matching_row(NAME_REFUSALS, error_text)
    is_text_of_spark = error_text.startswith("[") and not UNKNOWN_INSERT_TABLE.match(error_text)
    if name_row is not None and not is_text_of_spark:
        name_match, name_condition = name_row
        return name_condition.sentence.format(name=f"`{read_name(name_match)}`")
    other_row = find_matching_row(OTHER_REFUSALS, error_text)
    if other_row is not None:
        pattern_match, template = other_row
        return pattern_match.expand(template)
    return FAILED_STEPS.sub("", AFTER_SENTENCE.sub("", error_text), count=1)


def split_help(sentence: str) -> tuple[str, str | None]:
    """Split a result of `simplify_refusal` into its sentence and its advice, if it has one.

    >>> split_help(simplify_refusal("PlanNode::CacheTable"))
    ('CacheTable is not supported on Sail', 'run it on Spark')
    """
    plain, _, hint = sentence.partition(HELP)
    return plain, hint or None


# The units of `date_trunc` and `trunc`.
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")


class FailureTemplate(NamedTuple):
    """A failure of a value in plain words.

    `{name}` stands for a group of the regular expression, `{TYPE}` for the group `type` in upper
    case, `{FORMAT}` for the format of the group `time` in Spark's letters, and `{UNIT}` and
    `{ZONE}` for the unit and the time zone that the user probably means.
    """

    # Why the value cannot be computed.
    reason: str
    # What to write instead, as the object of "Write"; empty if that is not known.
    replacement: str = ""


# The failure of a cast whose value and type are known.
CAST_FAILURE = FailureTemplate(
    reason="{value} cannot be cast to {TYPE}",
    replacement="TRY_CAST(... AS {TYPE}), which is NULL for such a value",
)

# Failures that are about a value, by regular expressions for the text of Sail or Spark.
VALUE_FAILURES = {
    r"(?i)(?:divi(?:de|sion)|remainder) by zero": FailureTemplate(
        "Division by zero",
        "NULLIF(..., 0) around the divisor, or set spark.sql.ansi.enabled to false",
    ),
    r"(?i)unsupported (?P<function>\w+) granularity: '(?P<unit>[^']*)'": FailureTemplate(
        "{function} has no unit '{unit}'", "{UNIT}"
    ),
    r"(?i)\[INVALID_TIMEZONE\] the timezone: \"(?P<zone>[^\"]*)\"": FailureTemplate(
        "unknown time zone '{zone}'", "{ZONE}"
    ),
    r"(?i)(?P<sentence>invalid datetime pattern\b.*)": FailureTemplate(
        "{sentence}", "the format in Spark's letters, such as 'yyyy-MM-dd HH:mm:ss'"
    ),
    r"(?i)(?P<sentence>invalid (?:timestamp|date)\b(?:: (?P<time>\d[\d./: T-]*\d))?"
    r".*)": FailureTemplate(
        "{sentence}",
        "to_timestamp, or to_date, with a format in Spark's letters, such as '{FORMAT}'",
    ),
    r"(?i)cast error: (?P<sentence>.*'-?\d{1,3}(?:,\d{3})+(?:\.\d*)?'.*)": FailureTemplate(
        "{sentence}", "replace(x, ',') instead of x, which removes the commas"
    ),
    r"(?i)unsupported cast from (?P<source>.*?) to (?P<target>[\w()<>,]+)": FailureTemplate(
        "a value of type {source} cannot be cast to {target}",
        "one element, field or value of it instead",
    ),
    r"(?is)cast error: cannot cast (?:string|value) (?P<value>'.*') to value of "
    r"(?P<type>\S+) type": CAST_FAILURE,
    r"(?i)cast error: (?P<sentence>.*)": FailureTemplate(
        "{sentence}", "TRY_CAST instead of CAST, which is NULL for such a value"
    ),
    r"(?is)\[CAST_INVALID_INPUT\] the value (?P<value>'.*?') of the type \"[^\"]+\" cannot be cast "
    r"to \"(?P<type>[^\"]+)\"": CAST_FAILURE,
    r"(?i)\[CAST_INVALID_INPUT\] (?P<sentence>.*)": FailureTemplate("{sentence}"),
    r"(?is)regex parse error:.*?error: (?P<reason>(?:look-around|backref)[^\n~]+)": FailureTemplate(
        "a regular expression is not valid on Sail: {reason}",
        "a regular expression without (?=, (?!, (?<= and \\1, or run the query on Spark",
    ),
    r"(?is)regex parse error:.*?error: (?P<reason>[^\n~]+)": FailureTemplate(
        "a regular expression is not valid: {reason}",
        "two backslashes before a character that is meant itself, as in '\\\\('",
    ),
    r"(?i)invalid regex pattern|\[INVALID_PARAMETER_VALUE\.PATTERN\]": FailureTemplate(
        "a regular expression is not valid",
        "two backslashes before a character that is meant itself, as in '\\\\('",
    ),
    r"(?i)\bindex 0 is invalid": FailureTemplate(
        "Index 0 is not allowed", "1 for the first element, or -1 for the last one"
    ),
}

# Failures that no value causes. The parser reports an "invalid argument", so it is in the text.
NOT_ABOUT_VALUES = re.compile(
    r"resources exhausted|cancel|object store|\bio error|^invalid argument: ", re.IGNORECASE
)


def explain_value_failure(error_text: str) -> str | None:
    """Return why a value cannot be computed, and advice; None if a query fails for another reason.

    A text that is in no table counts as a failure of a value, with general advice.

    >>> explain_value_failure("Arrow error: Divide by zero error").split(", or ")[0]
    'Division by zero. Write NULLIF(..., 0) around the divisor'
    >>> explain_value_failure("index out of bounds")
    'index out of bounds. Write other arguments, or filter such rows out in FROM'
    >>> explain_value_failure("invalid timestamp: 31/01/2026").partition(",")[0]
    'invalid timestamp: 31/01/2026. Write to_timestamp'
    >>> explain_value_failure("Cast error: Cannot cast '1,136.47'").partition(". ")[2]
    "Write replace(x, ',') instead of x, which removes the commas"
    >>> explain_value_failure("Cast error: Cannot cast string 'high' to value of Int32 type")
    "'high' cannot be cast to INT. Write TRY_CAST(... AS INT), which is NULL for such a value"
    >>> explain_value_failure("unsupported date_trunc granularity: 'hr'. Supported: hour")
    "date_trunc has no unit 'hr'. Write 'hour'"
    >>> explain_value_failure('[INVALID_TIMEZONE] The timezone: "Europe/Pariss" is invalid')
    "unknown time zone 'Europe/Pariss'. Write 'Europe/Paris'"
    >>> explain_value_failure("unknown function: uper") is None
    True
    """
    if find_name_refused_by_sail(error_text) is not None or NOT_ABOUT_VALUES.search(error_text):
        return None
    cause = name_types_as_spark(find_cause(error_text).strip())
    row = find_matching_row(VALUE_FAILURES, cause)
    if row is None:
        return f"{cause.rstrip('. ')}. Write other arguments, or filter such rows out in FROM"
    failure = fill_failure(*row)
    if not failure.replacement:
        return failure.reason
    return f"{failure.reason}. Write {failure.replacement}"


class ValueFailure(NamedTuple):
    """Why a value cannot be computed, as parts of an error message."""

    reason: str
    # What to write instead; None if that is not known.
    hint: str | None


def find_value_failure(error_text: str) -> ValueFailure | None:
    """Return why a value cannot be computed; None for a text that is not in `VALUE_FAILURES`.

    The text is Sail's or Spark's. Unlike this function, `explain_value_failure` has an explanation
    for every failure of a value.

    >>> find_value_failure("[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to ...").reason
    'division by zero'
    >>> find_value_failure("element_at: the index 0 is invalid").hint
    'write 1 for the first element, or -1 for the last one'
    >>> find_value_failure("unknown function: uper") is None
    True
    """
    row = find_matching_row(VALUE_FAILURES, name_types_as_spark(find_cause(error_text)))
    if row is None:
        return None
    failure = fill_failure(*row)
    return ValueFailure(
        reason=uncapitalise(failure.reason),
        hint=f"write {failure.replacement}" if failure.replacement else None,
    )


def fill_failure(pattern_match: re.Match[str], template: FailureTemplate) -> FailureTemplate:
    """Return a template with the groups of a match in it.

    >>> pattern_match = re.search("(?P<value>'.*') to (?P<type>.*)", "'high' to int")
    >>> fill_failure(pattern_match, CAST_FAILURE).reason
    "'high' cannot be cast to INT"
    """
    groups = pattern_match.groupdict(default="")
    groups["TYPE"] = groups.get("type", "").upper()
    times = read_times(groups.get("time", ""))
    groups["FORMAT"] = times[0].letters if times else "dd/MM/yyyy HH:mm:ss"
    unit = find_nearest_choice(groups.get("unit", ""), UNITS)
    groups["UNIT"] = f"'{unit}'" if unit else f"one of these units: {', '.join(UNITS)}"
    zone = find_nearest(groups["zone"], available_timezones()) if groups.get("zone") else None
    groups["ZONE"] = f"'{zone or 'Europe/Paris'}'"
    if zone is None:
        groups["ZONE"] += " or another region, or an offset such as '+01:00'"
    return FailureTemplate(
        reason=template.reason.format(**groups), replacement=template.replacement.format(**groups)
    )


def is_about_streams(error_text: str) -> bool:
    """Return whether Sail refuses a query because it cannot plan streams.

    >>> is_about_streams("with watermark"), is_about_streams("with watermark [rejected-by-engine]")
    (True, True)
    """
    return (
        error_text.startswith("with watermark") or "stream source should be rewritten" in error_text
    )
