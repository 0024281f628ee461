"""Translate what Sail says against a query into plain words, and into Spark's error conditions.

Sail's errors are texts without error conditions. Tables of regular expressions find out what such a
text is about: an unknown name (`SAID`), something else in the query (`SENTENCES`), or a value that
cannot be computed (`OF_VALUES`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from matchrec.errors.sql.type_mismatches import name_types_as_spark
from matchrec.errors.wording import uncapitalise
from matchrec.plan.words import NO_ALIAS_OF_SAIL
from matchrec.worker.failing import find_cause

V = TypeVar("V")

# A name in a text of Sail's: as a Rust value, or in plain letters.
NAMED = r"(?:ObjectName\(\[(?P<parts>(?:[^\]]|\](?!\)))*)\]\)|`?(?P<name>[\w.]+)`?)"
STAR = "CANNOT_RESOLVE_STAR_EXPAND"
UNBOUND = "UNBOUND_SQL_PARAMETER", "parameter {name} has no value"

# Refusals that are about a name: Spark's condition, and the sentence.
SAID = {
    rf"attribute {NAMED} is missing": ("UNRESOLVED_COLUMN", "unknown column {name}"),
    rf"ambiguous attribute: {NAMED}": ("AMBIGUOUS_REFERENCE", "column {name} is ambiguous"),
    rf"unknown function: {NAMED}": ("UNRESOLVED_ROUTINE", "unknown function {name}"),
    rf"Table or view not found: {NAMED}": (
        "TABLE_OR_VIEW_NOT_FOUND",
        "unknown table or view {name}",
    ),
    rf"cannot resolve wildcard: {NAMED}": (STAR, "nothing in FROM is called {name}"),
    rf"No value found for placeholder with name :{NAMED}": UNBOUND,
    rf"Placeholder ':{NAMED}' was not provided a value": UNBOUND,
    rf"parameter {NAMED} has no value": UNBOUND,
}

# In the error of a client if a server breaks off an answer, but not if there is no server.
CRASH = "RST_STREAM"

# Refusals that are about a call, a number, or something that Sail knows but cannot run at this
# place, each with a sentence in plain words, which may end with advice: see `HELP`. Spark has some
# of them, too: those about columns of a file.
SENTENCES = {
    r"^(?P<n>\w+) values? expected": r"a function that takes \g<n> has another number of arguments",
    r"^expected at least one value, but got": "a function has no argument",
    r"Function '(?P<f>\w+)' (?:failed|expects)(?s:.*?) but received (?P<n>\d+)": r"the function "
    r"\g<f> takes another number of arguments than \g<n>",
    r"Function '(?P<f>\w+)' failed to match any signature(?s:.*?) but received (?P<n>\w+)": r"the "
    r"function \g<f> takes no value of type \g<n>",
    r"a call to '(?P<f>\w+)' function: coercion from Utf8 to the signature Exact\(Float64": r"the "
    r"function \g<f> takes no value of type String",
    r"^(?:invalid argument: )?requires (?P<n>(?s:.+))$": r"a function takes \g<n>",
    r"min/max was called with": "the functions min and max take one argument",
    r"^invalid argument: interval: (?P<n>[^\d\s+-]\S*)$": r"\g<n> is not a number",
    r"^invalid argument: (?:decimal|interval|(?:big|small|tiny)?int): (?P<n>\S+)$": r"the number "
    r"\g<n> is too large",
    r"^(?:Plan|Command)Node::(?P<n>\w+)$": "there is no \\g<n> in Sail\n  help: run it on Spark",
    CRASH: "its analysis fails and does not say why, as it does at some functions with too few "
    "arguments",
    r"logical expression InSubquery": "IN (SELECT ...) is taken as a condition of WHERE only"
    "\n  help: write EXISTS (SELECT ...) elsewhere",
    r"logical expression ScalarSubquery": "a subquery reads the row around it where Sail plans "
    "none that does\n  help: write its value without SELECT, or join its table in FROM",
    r"logical expression Wildcard": "`*` stands for no columns of groups of rows\n  help: write "
    "the columns that GROUP BY has, or, if HAVING has no GROUP BY, WHERE instead of HAVING",
    r"logical expression AggregateFunction": "an aggregate is not allowed here",
    r"^Aggregate function calls cannot be nested": "an aggregate is not allowed in another "
    "aggregate",
    r"Scalar subquery should only return one column": "a subquery has several columns where one "
    "value is needed",
    r"Cannot create filter with non-boolean predicate(?s:.*?) returning (?P<n>\w+)": "a condition "
    r"must be boolean, but this is \g<n>",
    r"Aggregate requires at least one grouping": "HAVING has neither GROUP BY nor an aggregate"
    "\n  help: write WHERE instead of HAVING",
    r"(?s)found end of input expected .*": "Syntax error at or near end of input",
    r'No field named (?:[^.\s]+\.)?"#\d+"': "a column is neither in GROUP BY nor in an aggregate; "
    "without GROUP BY, an aggregate makes one group of all rows\n  help: write GROUP BY with it, "
    "or an aggregate of it, such as max(x)",
    r"TIMESTAMP\(NANOS": "the file has times in nanoseconds"
    "\n  help: write the file with microseconds, in pandas by frame.to_parquet(path, "
    'coerce_timestamps="us", allow_truncated_timestamps=True), or read '
    "timestamp_micros(x DIV 1000) of it with the setting "
    "spark.sql.legacy.parquet.nanosAsLong=true",
    r"Timestamp\(Nanosecond": "the file has times in nanoseconds"
    "\n  help: write the file with microseconds, in pandas by frame.to_parquet(path, "
    'coerce_timestamps="us", allow_truncated_timestamps=True), or read it as FROM '
    "(SELECT ..., CAST(x AS TIMESTAMP_NTZ) AS x FROM t), AS TIMESTAMP where the "
    "times have a zone",
    r"^cast Duration\(": "the file has durations that are not in microseconds"
    "\n  help: read it as FROM (SELECT ..., CAST(x AS INTERVAL DAY TO SECOND) AS x FROM"
    ' t), or write it with microseconds, in pandas by frame.astype({"x": '
    '"timedelta64[us]"})',
    r"^cast Dictionary\(": "the file has a column of categories"
    "\n  help: read it as FROM (SELECT ..., CAST(x AS STRING) AS x FROM t), or write it"
    ' with texts, in pandas by frame.astype({"x": "str"})',
    r"\bFloat16\b|\(FLOAT16\)": "there are numbers of the type float16"
    '\n  help: write them as float32, in pandas by frame.astype({"x": "float32"})',
}

# Separates a sentence from advice.
HELP = "\n  help: "

# A syntax error: a word, its characters, and a long list of what could be there instead.
SYNTAX = re.compile(r"(?s)found (?P<word>.+?) at (?P<start>\d+):(?P<end>\d+) expected (?P<list>.*)")

# The word and the list of the syntax error for a query that begins with FROM, as it may on Spark.
FROM_FIRST = re.compile(r"FROM (?:query$|.*\bstatement\b)", re.IGNORECASE | re.DOTALL)

# What follows a sentence about a call: where to report it, and all signatures of the function.
ADVICE = re.compile(
    r"(?:\nThis issue was likely caused by|\.? No function matches the given name).*", re.DOTALL
)

# What precedes a sentence: the steps in which Sail has failed.
STEPS = re.compile(
    r"(?:(?:Internal|Execution) error: |Error during planning: |invalid argument: "
    r"|Function '\w+' user-defined coercion failed with: )+"
)


def find_matching_row(table: Mapping[str, V], error_text: str) -> tuple[re.Match[str], V] | None:
    """Return the first row of a table whose regular expression is found in a text, or None.

    Args:
        table: values by regular expressions.
        error_text: the text.

    Returns:
        The match in the text, and the value of the row.

    >>> find_matching_row({"a": 1, "b+": 2}, "rubble")
    (<re.Match object; span=(2, 4), match='bb'>, 2)
    """
    for pattern, value in table.items():
        words = re.search(pattern, error_text)
        if words is not None:
            return words, value
    return None


class RefusedName(NamedTuple):
    """A name that an engine refuses."""

    # Spark's error condition, such as UNRESOLVED_COLUMN, also if Sail refuses the name.
    condition: str
    # The parts of the name, separated by points and not quoted.
    name: str
    # The same parts, which may contain points; empty if the engine does not tell them apart.
    parts: tuple[str, ...] = ()


def find_sail_name(error_text: str) -> RefusedName | None:
    """Return the name that a refusal by Sail is about.

    None if the text is not a refusal by Sail, or not about a name.

    >>> missing = 'attribute ObjectName([Identifier("A"), Identifier("x")]) is missing from'
    >>> find_sail_name(missing)
    RefusedName(condition='UNRESOLVED_COLUMN', name='A.x', parts=('A', 'x'))
    >>> find_sail_name("unknown function: uper")
    RefusedName(condition='UNRESOLVED_ROUTINE', name='uper', parts=())
    """
    row = find_matching_row(SAID, error_text)
    if row is None:
        return None
    refusal, (condition, _) = row
    return RefusedName(condition, read_name(refusal), read_parts(refusal))


def read_name(name_match: re.Match[str]) -> str:
    """Return the name in a match of `NAMED`, its parts separated by points."""
    return ".".join(read_parts(name_match)) or name_match["name"]


def read_parts(name_match: re.Match[str]) -> tuple[str, ...]:
    """Return the parts of the name in a match of `NAMED`; empty if Sail does not list them."""
    return tuple(re.findall(r'Identifier\("([^"]*)"\)', name_match["parts"] or ""))


def find_error_place(error_text: str, text: str) -> tuple[int, int] | None:
    """Return the characters of a text at which Sail's parser has found a syntax error.

    None if the error is another one, or if the word in it is not there: inside of a literal, the
    parser counts from its quote.

    >>> find_error_place("found bad at 7:10 expected 'FROM'", "SELECT bad")
    (7, 10)
    >>> find_error_place("found x at 0:1 expected number", "SELECT TIMESTAMP'x'")
    """
    syntax = SYNTAX.search(error_text)
    if syntax is None:
        return None
    start, end = int(syntax["start"]), int(syntax["end"])
    has_word = syntax["word"].strip("'\"`").lower() in text[start:end].lower()
    return (start, end) if has_word else None


def find_hint_for_word(error_text: str) -> str | None:
    """Return what to write for a word that Spark accepts at this place and Sail does not, or None.

    >>> find_hint_for_word("invalid argument: found time at 9:13 expected 'FROM'")
    'write `time` in backticks'
    >>> find_hint_for_word("invalid argument: found PIVOT at 19:24 expected 'JOIN'")
    'write the alias after the parentheses of PIVOT, not before it'
    """
    syntax = SYNTAX.search(error_text)
    if syntax is None:
        return None
    word = syntax["word"]
    if word.upper() in ("PIVOT", "UNPIVOT"):
        return f"write the alias after the parentheses of {word}, not before it"
    return f"write `{word}` in backticks" if word.upper() in NO_ALIAS_OF_SAIL else None


def simplify_refusal(error_text: str) -> str:
    """Return a refusal in plain words, with advice after `HELP` if there is any.

    Texts that are not Sail's stay as they are.

    >>> simplify_refusal("invalid argument: found FROM at 0:4 expected 'SELECT', or '('")
    "Syntax error at or near 'FROM'"
    >>> simplify_refusal('ambiguous attribute: ObjectName([Identifier("x")])')
    'column `x` is ambiguous'
    >>> simplify_refusal("found FROM at 11:15 expected query")
    "Syntax error at or near 'FROM'\\n  help: write SELECT * FROM"
    >>> simplify_refusal("f expects 2 arguments. No function matches the given name 'f(Int32)'")
    'f expects 2 arguments'
    >>> simplify_refusal("one value expected: [Literal(Int32(1), None), Literal(Int32(2), None)]")
    'a function that takes one has another number of arguments'
    >>> simplify_refusal("Internal error: Function 'sum' expects 1 arguments but received 2,Error")
    'the function sum takes another number of arguments than 2'
    >>> print(simplify_refusal("PlanNode::CacheTable"))
    there is no CacheTable in Sail
      help: run it on Spark
    """
    syntax = SYNTAX.search(error_text)
    if syntax is not None:
        begins_with_from = FROM_FIRST.match(f"{syntax['word']} {syntax['list']}")
        advice = f"{HELP}write SELECT * FROM" if begins_with_from else ""
        return f"Syntax error at or near '{syntax['word']}'{advice}"
    about_name = find_matching_row(SAID, error_text)
    if about_name is not None and not error_text.startswith("["):  # not Spark's own condition
        refusal, (_, sentence) = about_name
        return sentence.format(name=f"`{read_name(refusal)}`")
    about_query = find_matching_row(SENTENCES, error_text)
    if about_query is not None:
        words, sentence = about_query
        return words.expand(sentence)
    return STEPS.sub("", ADVICE.sub("", error_text), count=1)


def split_help(sentence: str) -> tuple[str, str | None]:
    """Split a result of `simplify_refusal` into its sentence and its advice, or None.

    >>> split_help(simplify_refusal("PlanNode::CacheTable"))
    ('there is no CacheTable in Sail', 'run it on Spark')
    """
    plain, _, hint = sentence.partition(HELP)
    return plain, hint or None


# Failures that are about a value: the sentence, then advice.
OF_VALUES = {
    r"(?i)(?:divi(?:de|sion)|remainder) by zero": "Division by zero. Write NULLIF(divisor, 0), or "
    "set spark.sql.ansi.enabled to false",
    r"(?i)(?P<what>invalid (?:datetime pattern|timestamp|date)\b.*)": "{what}. Write to_timestamp, "
    "or to_date, with a format in Spark's letters, such as 'dd/MM/yyyy HH:mm:ss'",
    r"(?i)cast error: (?P<what>.*'-?\d{1,3}(?:,\d{3})+(?:\.\d*)?'.*)": "{what}. Write "
    "replace(x, ',') instead of x, which removes the commas",
    r"(?i)unsupported cast from (?P<source>.*?) to (?P<target>[\w()<>,]+)": "a value of type "
    "{source} cannot be cast to {target}. Write one element, field or value of it instead",
    r"(?i)cast error: (?P<what>.*)": "{what}. Write TRY_CAST, which returns NULL for such a value",
    r"(?is)\[CAST_INVALID_INPUT\] (?P<what>.*?cannot be cast to \"[^\"]+\")": "{what}. Write "
    "TRY_CAST, which returns NULL for such a value",
    r"(?i)\[CAST_INVALID_INPUT\] (?P<what>.*)": "{what}",
    r"(?i)\bindex 0 is invalid": "Index 0 is not allowed. Write 1 for the first element, or -1 for "
    "the last one",
}

# Failures that no value causes. An invalid argument is one in the text: the parser says so.
OF_OTHERS = re.compile(
    r"resources exhausted|cancel|object store|\bio error|^invalid argument: ", re.IGNORECASE
)


def explain_value_failure(error_text: str) -> str | None:
    """Return why a value cannot be computed, and advice; None if a query fails for another reason.

    >>> explain_value_failure("Arrow error: Divide by zero error")
    'Division by zero. Write NULLIF(divisor, 0), or set spark.sql.ansi.enabled to false'
    >>> explain_value_failure("index out of bounds")
    'index out of bounds. Write other arguments, or filter such rows out in FROM'
    >>> explain_value_failure("invalid timestamp: 31/01/2026").partition(",")[0]
    'invalid timestamp: 31/01/2026. Write to_timestamp'
    >>> explain_value_failure("Cast error: Cannot cast '1,136.47'").partition(". ")[2]
    "Write replace(x, ',') instead of x, which removes the commas"
    >>> explain_value_failure("unknown function: uper") is None
    True
    """
    if find_sail_name(error_text) is not None or OF_OTHERS.search(error_text):
        return None
    cause = name_types_as_spark(find_cause(error_text).strip())
    row = find_matching_row(OF_VALUES, cause)
    if row is not None:
        words, sentence = row
        return sentence.format(**words.groupdict())
    return f"{cause.rstrip('. ')}. Write other arguments, or filter such rows out in FROM"


def read_value_failure(error_text: str) -> tuple[str, str | None] | None:
    """Return why a value cannot be computed, and what to write; None if that is not known.

    The text may be Sail's or Spark's.

    >>> read_value_failure("[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to ...")
    ('division by zero', 'write NULLIF(divisor, 0), or set spark.sql.ansi.enabled to false')
    >>> read_value_failure("element_at: the index 0 is invalid")
    ('index 0 is not allowed', 'write 1 for the first element, or -1 for the last one')
    >>> read_value_failure("unknown function: uper") is None
    True
    """
    row = find_matching_row(OF_VALUES, name_types_as_spark(find_cause(error_text)))
    if row is None:
        return None
    words, sentence = row
    reason, _, replacement = sentence.format(**words.groupdict()).partition(". Write ")
    return uncapitalise(reason), f"write {replacement}" if replacement else None


def is_about_streams(error_text: str) -> bool:
    """Return whether Sail refuses a query because it has no plan for the stream.

    >>> is_about_streams("with watermark"), is_about_streams("with watermark [rejected-by-engine]")
    (True, True)
    """
    return (
        error_text.startswith("with watermark") or "stream source should be rewritten" in error_text
    )
