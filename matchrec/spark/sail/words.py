"""What Sail says against a query, in Spark's words: a name of the condition, a name, a place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from matchrec.plan.text import NO_ALIAS_OF_SAIL
from matchrec.worker.failing import cause_of

V = TypeVar("V")

NAMED = r"(?:ObjectName\(\[(?P<parts>(?:[^\]]|\](?!\)))*)\]\)|`?(?P<name>[\w.]+)`?)"
STAR = "CANNOT_RESOLVE_STAR_EXPAND"
UNBOUND = "UNBOUND_SQL_PARAMETER", "parameter {name} has no value"

# What Sail says of a name: Spark's condition, and the sentence.
SAID = {
    rf"attribute {NAMED} is missing": ("UNRESOLVED_COLUMN", "there is no column {name}"),
    rf"ambiguous attribute: {NAMED}": ("AMBIGUOUS_REFERENCE", "column {name} is ambiguous"),
    rf"unknown function: {NAMED}": ("UNRESOLVED_ROUTINE", "there is no function {name}"),
    rf"Table or view not found: {NAMED}": (
        "TABLE_OR_VIEW_NOT_FOUND",
        "there is no table or view {name}",
    ),
    rf"cannot resolve wildcard: {NAMED}": (STAR, "nothing in FROM is called {name}"),
    rf"No value found for placeholder with name :{NAMED}": UNBOUND,
    rf"Placeholder ':{NAMED}' was not provided a value": UNBOUND,
    rf"parameter {NAMED} has no value": UNBOUND,
}

# What a client says where a server has broken off one answer, and not where there is none.
CRASH = "RST_STREAM"

# What it says, as a regular expression, of a call, of a number, or of what it knows and cannot run
# at its place; and what Spark says, too, of columns of a file. Each in plain words.
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
    "none that does\n  help: write its value without SELECT, or join its table before the clause",
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

HELP = "\n  help: "  # before what to write, in a sentence of the table

# What its parser says: a word, its characters, and a long list of what might stand there.
SYNTAX = re.compile(r"(?s)found (?P<word>.+?) at (?P<start>\d+):(?P<end>\d+) expected (?P<list>.*)")

# The word and the list where a query begins with FROM, as Spark's own may.
FROM_FIRST = re.compile(r"FROM (?:query$|.*\bstatement\b)", re.IGNORECASE | re.DOTALL)

# What follows a sentence about a call: whom to tell, and all forms that the function has.
ADVICE = re.compile(
    r"(?:\nThis issue was likely caused by|\.? No function matches the given name).*", re.DOTALL
)

# In which of its steps it has failed, before what has.
STEPS = re.compile(
    r"(?:(?:Internal|Execution) error: |Error during planning: |invalid argument: "
    r"|Function '\w+' user-defined coercion failed with: )+"
)


def row_of(table: Mapping[str, V], said: str) -> tuple[re.Match[str], V] | None:
    """The first row of a table that is about a text: what of the text it is, and the row's value.

    >>> row_of({"a": 1, "b+": 2}, "rubble")
    (<re.Match object; span=(2, 4), match='bb'>, 2)
    """
    rows = ((re.search(pattern, said), value) for pattern, value in table.items())
    return next(((found, value) for found, value in rows if found), None)


def condition_of(said: str) -> tuple[str, str] | None:
    """Spark's condition and the name that a refusal of Sail's is about; None of other text.

    >>> condition_of('attribute ObjectName([Identifier("A"), Identifier("x")]) is missing from')
    ('UNRESOLVED_COLUMN', 'A.x')
    >>> condition_of("unknown function: uper")
    ('UNRESOLVED_ROUTINE', 'uper')
    """
    found = row_of(SAID, said)
    return (found[1][0], name_in(found[0])) if found else None


def name_in(found: re.Match[str]) -> str:
    return ".".join(re.findall(r'Identifier\("([^"]*)"\)', found["parts"] or "")) or found["name"]


def place_of(said: str, text: str) -> tuple[int, int] | None:
    """Return the characters of a text that Sail's parser stumbles over.

    None if they are another word: the parser counts from the quote inside a string.

    >>> place_of("found bad at 7:10 expected 'FROM'", "SELECT bad")
    (7, 10)
    >>> place_of("found x at 0:1 expected number", "SELECT TIMESTAMP'x'")
    """
    found = SYNTAX.search(said)
    if found is None:
        return None
    start, end = int(found["start"]), int(found["end"])
    is_there = found["word"].strip("'\"`").lower() in text[start:end].lower()
    return (start, end) if is_there else None


def cure_of_word(said: str) -> str | None:
    """Return what to write for a word that Spark reads at this place, and Sail does not.

    >>> cure_of_word("invalid argument: found time at 9:13 expected 'FROM'")
    'write `time` in backticks'
    >>> cure_of_word("invalid argument: found PIVOT at 19:24 expected 'JOIN'")
    'write the alias after the parentheses of PIVOT, not before it'
    """
    found = SYNTAX.search(said)
    if found is None:
        return None
    word = found["word"]
    if word.upper() in ("PIVOT", "UNPIVOT"):
        return f"write the alias after the parentheses of {word}, not before it"
    return f"write `{word}` in backticks" if word.upper() in NO_ALIAS_OF_SAIL else None


def sentence_of(said: str) -> str:
    """A refusal in plain words; text that is none of Sail's as it is.

    >>> sentence_of("invalid argument: found FROM at 0:4 expected 'SELECT', or '('")
    "Syntax error at or near 'FROM'"
    >>> sentence_of('ambiguous attribute: ObjectName([Identifier("x")])')
    'column `x` is ambiguous'
    >>> sentence_of("found FROM at 11:15 expected query")
    "Syntax error at or near 'FROM'\\n  help: write SELECT * FROM"
    >>> sentence_of("f expects 2 arguments. No function matches the given name 'f(Int32)'")
    'f expects 2 arguments'
    >>> sentence_of("one value expected: [Literal(Int32(1), None), Literal(Int32(2), None)]")
    'a function that takes one has another number of arguments'
    >>> sentence_of("Internal error: Function 'sum' expects 1 arguments but received 2,Error")
    'the function sum takes another number of arguments than 2'
    >>> print(sentence_of("PlanNode::CacheTable"))
    there is no CacheTable in Sail
      help: run it on Spark
    """
    if syntax := SYNTAX.search(said):
        begins = FROM_FIRST.match(f"{syntax['word']} {syntax['list']}")
        cure = f"{HELP}write SELECT * FROM" if begins else ""
        return f"Syntax error at or near '{syntax['word']}'{cure}"
    if (named := row_of(SAID, said)) and not said.startswith("["):
        return named[1][1].format(name=f"`{name_in(named[0])}`")
    if found := row_of(SENTENCES, said):
        return found[0].expand(found[1])
    return STEPS.sub("", ADVICE.sub("", said), count=1)


def split_help(sentence: str) -> tuple[str, str | None]:
    """Return a sentence of `sentence_of` and what to write, which it may have in a line of its own.

    >>> split_help(sentence_of("PlanNode::CacheTable"))
    ('there is no CacheTable in Sail', 'run it on Spark')
    """
    plain, _, cure = sentence.partition(HELP)
    return plain, cure or None


# What it says of a value that cannot be computed with: the sentence, then what to write.
OF_VALUES = {
    r"(?i)(?:divi(?:de|sion)|remainder) by zero": "Division by zero. Write NULLIF(divisor, 0), or "
    "set spark.sql.ansi.enabled to false",
    r"(?i)(?P<what>invalid (?:datetime pattern|timestamp|date)\b.*)": "{what}. Write to_timestamp, "
    "or to_date, with a format in Spark's letters, such as 'dd/MM/yyyy HH:mm:ss'",
    r"(?i)cast error: (?P<what>.*'-?\d{1,3}(?:,\d{3})+(?:\.\d*)?'.*)": "{what}. Write "
    "replace(x, ',') in place of x, which leaves the commas out",
    r"(?i)cast error: (?P<what>.*)": "{what}. Write TRY_CAST, which makes NULL of such a value",
    r"(?i)\[CAST_INVALID_INPUT\] (?P<what>.*)": "{what}",
}

# What it says where no value is to blame; an argument is one of the text, as its parser has it.
OF_OTHERS = re.compile(
    r"resources exhausted|cancel|object store|\bio error|^invalid argument: ", re.IGNORECASE
)


def sentence_of_value(said: str) -> str | None:
    """What cannot be computed, and a cure; None of what fails for other reasons.

    >>> sentence_of_value("Arrow error: Divide by zero error")
    'Division by zero. Write NULLIF(divisor, 0), or set spark.sql.ansi.enabled to false'
    >>> sentence_of_value("index out of bounds")
    'index out of bounds. Write other arguments, or leave such rows out before the clause'
    >>> sentence_of_value("invalid timestamp: 31/01/2026").partition(",")[0]
    'invalid timestamp: 31/01/2026. Write to_timestamp'
    >>> sentence_of_value("Cast error: Cannot cast '1,136.47'").partition(". ")[2]
    "Write replace(x, ',') in place of x, which leaves the commas out"
    >>> sentence_of_value("unknown function: uper") is None
    True
    """
    if condition_of(said) is not None or OF_OTHERS.search(said):
        return None
    cause = cause_of(said).strip()
    if found := row_of(OF_VALUES, cause):
        return found[1].format(**found[0].groupdict())
    return f"{cause.rstrip('. ')}. Write other arguments, or leave such rows out before the clause"


def is_of_streams(said: str) -> bool:
    """Whether it says that it has no plan of a stream.

    >>> is_of_streams("with watermark"), is_of_streams("with watermark [refused-by-engine]")
    (True, True)
    """
    return said.startswith("with watermark") or "stream source should be rewritten" in said
