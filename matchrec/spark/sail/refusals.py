"""Put the texts with which Sail refuses a query into plain words, perhaps with advice.

    unknown function: uper    →  unknown function `uper`
    PlanNode::CacheTable      →  CacheTable is not supported on Sail    (advice: run it on Spark)

Sail's errors are texts without error conditions. `simplify_refusal` tries, in this order:

1. the form of a syntax error,
2. the refusals about a name: `refused_names.NAME_REFUSALS`,
3. `OTHER_REFUSALS`: a call, a type, or a part of the query that Sail cannot run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.plan.words import NO_ALIAS_OF_SAIL
from matchrec.source import Span
from matchrec.spark.sail.message_tables import find_matching_row
from matchrec.spark.sail.refused_names import NAME_REFUSALS, read_name

# The refusal of the table of an INSERT, Sail's only one that begins with a condition of Spark.
UNKNOWN_INSERT_TABLE = re.compile(
    r"\[TABLE_OR_VIEW_NOT_FOUND\] The table or view \S+ cannot be found$"
)

# A part of the error that a client raises if the server breaks off its answer, as it does when an
# analysis crashes. The error for a missing server does not have this part.
STREAM_RESET = "RST_STREAM"

# What `PlainRefusal.text` writes between a sentence and its advice.
HELP = "\n  help: "


@dataclass(frozen=True, slots=True)
class PlainRefusal:
    r"""A refusal in plain words.

    In `OTHER_REFUSALS`, `\g<name>` in both fields stands for a group of the regular expression.
    """

    # Why the engine refuses the query.
    sentence: str
    # What to do instead; None if that is not known.
    advice: str | None = None

    @property
    def text(self) -> str:
        """Return the sentence, and the advice on a separate line."""
        return self.sentence if self.advice is None else f"{self.sentence}{HELP}{self.advice}"

    def fill(self, pattern_match: re.Match[str]) -> PlainRefusal:
        """Return the refusal with the groups of a match in it."""
        advice = None if self.advice is None else pattern_match.expand(self.advice)
        return PlainRefusal(pattern_match.expand(self.sentence), advice)


# Advice for a Parquet file with times in nanoseconds.
WRITE_MICROSECONDS = (
    "write the file with microseconds, in pandas by frame.to_parquet(path, "
    'coerce_timestamps="us", allow_truncated_timestamps=True)'
)

# Refusals that are about a call, a number, or something that Sail knows but cannot run in this
# position, by regular expressions for Sail's texts. Spark has the refusals about columns of files,
# too.
OTHER_REFUSALS = {
    # Calls and numbers.
    r"^(?P<count>\w+) values? expected": PlainRefusal(
        r"a call has the wrong number of arguments: the function takes \g<count>"
    ),
    r"^expected at least one value, but got": PlainRefusal(
        "a function is called without arguments"
    ),
    r"Function '(?P<name>\w+)' (?:failed|expects)(?s:.*?) but received (?P<count>\d+)": (
        PlainRefusal(r"wrong number of arguments for the function \g<name>: \g<count>")
    ),
    r"Function '(?P<name>\w+)' failed to match any signature(?s:.*?) but received (?P<type>\w+)": (
        PlainRefusal(r"the function \g<name> does not accept a value of type \g<type>")
    ),
    r"a call to '(?P<name>\w+)' function: coercion from Utf8 to the signature Exact\(Float64": (
        PlainRefusal(r"the function \g<name> does not accept a value of type String")
    ),
    r"^(?:invalid argument: )?requires (?P<arguments>(?s:.+))$": PlainRefusal(
        r"a function takes \g<arguments>"
    ),
    r"min/max was called with": PlainRefusal("the functions min and max take one argument"),
    r"^invalid argument: interval: (?P<word>[^\d\s+-]\S*)$": PlainRefusal(
        r"\g<word> is not a number"
    ),
    r"^invalid argument: (?:decimal|interval|(?:big|small|tiny)?int): (?P<number>\S+)$": (
        PlainRefusal(r"the number \g<number> is too large")
    ),
    # Parts of a query.
    r"^(?:Plan|Command)Node::(?P<node>\w+)$": PlainRefusal(
        r"\g<node> is not supported on Sail", "run it on Spark"
    ),
    STREAM_RESET: PlainRefusal(
        "the analysis fails without a reason, as it does for some functions with too few arguments"
    ),
    r"logical expression InSubquery": PlainRefusal(
        "IN (SELECT ...) is supported only in WHERE",
        "write array_contains((SELECT collect_list(x) FROM t), x)",
    ),
    r"logical expression ScalarSubquery": PlainRefusal(
        "a subquery that reads the row around it is not supported here",
        "write its value without SELECT, or join its table in FROM",
    ),
    r"logical expression Wildcard": PlainRefusal(
        "`*` is not allowed in a query over groups of rows",
        "write the columns that GROUP BY has, or, if HAVING has no GROUP BY, WHERE instead of "
        "HAVING",
    ),
    r"logical expression AggregateFunction": PlainRefusal("an aggregate is not allowed here"),
    r"logical expression WindowFunction": PlainRefusal("a window function is not allowed here"),
    r"^Aggregate function calls cannot be nested": PlainRefusal(
        "an aggregate is not allowed in another aggregate"
    ),
    r"Scalar subquery should only return one column": PlainRefusal(
        "a subquery has several columns where one value is needed"
    ),
    r"Cannot create filter with non-boolean predicate(?s:.*?) returning (?P<type>\w+)": (
        PlainRefusal(r"a condition must be boolean, but this is \g<type>")
    ),
    r"Aggregate requires at least one grouping": PlainRefusal(
        "HAVING has neither GROUP BY nor an aggregate", "write WHERE instead of HAVING"
    ),
    r"(?s)found end of input expected .*": PlainRefusal("Syntax error at or near end of input"),
    r'No field named (?:[^.\s]+\.)?"#\d+"': PlainRefusal(
        "a column is neither in GROUP BY nor in an aggregate; without GROUP BY, an aggregate makes "
        "one group of all rows",
        "add the column to GROUP BY, or write an aggregate of it, such as max(x)",
    ),
    # Columns of files.
    r"TIMESTAMP\(NANOS": PlainRefusal(
        "the file has times in nanoseconds",
        f"{WRITE_MICROSECONDS}, or read timestamp_micros(x DIV 1000) of it with the setting "
        "spark.sql.legacy.parquet.nanosAsLong=true",
    ),
    r"Timestamp\(Nanosecond": PlainRefusal(
        "the file has times in nanoseconds",
        f"{WRITE_MICROSECONDS}, or read it as FROM (SELECT ..., CAST(x AS TIMESTAMP_NTZ) AS x FROM "
        "t), AS TIMESTAMP where the times have a zone",
    ),
    r"^cast Duration\(": PlainRefusal(
        "the file has durations that are not in microseconds",
        "read it as FROM (SELECT ..., CAST(x AS INTERVAL DAY TO SECOND) AS x FROM t), or write it "
        'with microseconds, in pandas by frame.astype({"x": "timedelta64[us]"})',
    ),
    r"^cast Time(?:32|64)\(": PlainRefusal(
        "values of type TIME are not supported",
        "write date_format(x, 'HH:mm:ss') for the time of day of a timestamp x",
    ),
    r"^cast Dictionary\(": PlainRefusal(
        "the file has a column of categories",
        "read it as FROM (SELECT ..., CAST(x AS STRING) AS x FROM t), or write it with texts, in "
        'pandas by frame.astype({"x": "str"})',
    ),
    r"\bFloat16\b|\(FLOAT16\)": PlainRefusal(
        "numbers of type float16 are not supported",
        'write them as float32, in pandas by frame.astype({"x": "float32"})',
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


def simplify_refusal(error_text: str) -> PlainRefusal:
    """Return a refusal in plain words, with advice if there is any.

    In Spark's texts, and in texts of Sail that no table has, only the words around the sentence are
    removed. Advice after `HELP` in such a text stays advice.

    >>> simplify_refusal("invalid argument: found FROM at 0:4 expected 'SELECT', or '('").text
    "Syntax error at or near 'FROM'"
    >>> simplify_refusal('ambiguous attribute: ObjectName([Identifier("x")])').text
    'column `x` is ambiguous'
    >>> text = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `db`.`t` cannot be found"
    >>> simplify_refusal(text).text
    'unknown table or view `db.t`'
    >>> simplify_refusal("found FROM at 11:15 expected query")
    PlainRefusal(sentence="Syntax error at or near 'FROM'", advice='write SELECT * FROM')
    >>> text = "f expects 2 arguments. No function matches the given name 'f(Int32)'"
    >>> simplify_refusal(text).text
    'f expects 2 arguments'
    >>> text = "one value expected: [Literal(Int32(1), None), Literal(Int32(2), None)]"
    >>> simplify_refusal(text).text
    'a call has the wrong number of arguments: the function takes one'
    >>> simplify_refusal("Internal error: Function 'sum' expects 1 arguments but received 2,").text
    'wrong number of arguments for the function sum: 2'
    >>> print(simplify_refusal("PlanNode::CacheTable").text)
    CacheTable is not supported on Sail
      help: run it on Spark
    """
    syntax_error = SYNTAX_ERROR.search(error_text)
    if syntax_error is not None:
        word = syntax_error["word"]
        lacks_select = FROM_WITHOUT_SELECT.match(f"{word} {syntax_error['list']}")
        advice = "write SELECT * FROM" if lacks_select else None
        return PlainRefusal(f"Syntax error at or near '{word}'", advice)
    name_row = find_matching_row(NAME_REFUSALS, error_text)
    is_text_of_spark = error_text.startswith("[") and not UNKNOWN_INSERT_TABLE.match(error_text)
    if name_row is not None and not is_text_of_spark:
        name_match, name_condition = name_row
        return PlainRefusal(name_condition.sentence.format(name=f"`{read_name(name_match)}`"))
    other_row = find_matching_row(OTHER_REFUSALS, error_text)
    if other_row is not None:
        pattern_match, refusal = other_row
        return refusal.fill(pattern_match)
    text = FAILED_STEPS.sub("", AFTER_SENTENCE.sub("", error_text), count=1)
    sentence, _, text_after_help = text.partition(HELP)
    return PlainRefusal(sentence, text_after_help or None)


def is_about_streams(error_text: str) -> bool:
    """Return whether Sail refuses a query because it cannot plan streams.

    >>> is_about_streams("with watermark"), is_about_streams("with watermark [rejected-by-engine]")
    (True, True)
    """
    return (
        error_text.startswith("with watermark") or "stream source should be rewritten" in error_text
    )
