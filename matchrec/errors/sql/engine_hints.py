"""Hints for errors of an engine that have no better explanation, by regular expressions.

- `_HINTS_FOR_TYPES` has hints for values of types that do not go together.
- `_LAST_WORDS` has the words with which a query can end too early.
- `_HINTS_AROUND_CLAUSES` has hints for mistakes in the query around a clause.

For an error that no table has, callers use `HINT_TO_BISECT_QUERY`. In the arguments, `sentence` is
the main sentence of an engine's error, without its location and the name of its condition.
"""

from __future__ import annotations

import re

from matchrec.errors.sql.call_hints import SPARK_FUNCTIONS
from matchrec.errors.sql.engine_explanations import explain_engine_error
from matchrec.errors.sql.look_alikes import find_look_alike_hint
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_lines


class _SentenceHint:
    """What to write if an engine's text has one of some regular expressions in it."""

    def __init__(self, hint: str, *patterns: str) -> None:
        """Initialize the hint.

        Args:
            hint: the hint, for `str.format` with the named groups of the matching pattern.
            patterns: the regular expressions.
        """
        self.hint = hint
        self.patterns = patterns

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match of the first pattern that the text has, or None."""
        for pattern in self.patterns:
            match = re.search(pattern, text)
            if match is not None:
                return match
        return None


# Hints for sentences of Sail or Spark about two types that do not go together. The first one that
# matches is used. `{length}` stands for advice on a parameter that is a length of time: "pass a
# timedelta, such as timedelta(minutes=10)".
_HINTS_FOR_TYPES = (
    # A string or a number is added to a time; a string is combined with a length of time.
    _SentenceHint(
        "write INTERVAL '10' MINUTE; for a parameter {length}",
        r"Timestamp\([^)]*\) [+-] (?:Utf8|Int)",
        r"(?:Duration|Interval)\(.*\) \S+ Utf8",
        r'"INTERVAL"\), not "TIMESTAMP',
        r'"[(].* [+-] .*\("TIMESTAMP(?:_NTZ)?" and "',
    ),
    # The difference of two times is combined with a number.
    _SentenceHint(
        (
            "the difference of two times is a length of time: write INTERVAL '10' MINUTE "
            "instead of the number"
        ),
        r"(?:Duration|Interval)\(.*\) \S+ (?:Int|Float)",
        r'\("INTERVAL [^"]*" and',
    ),
    # A time is combined with a number, a string or a boolean.
    _SentenceHint(
        "compare a time with a time, such as TIMESTAMP'2026-01-31 12:00:00'",
        r"Timestamp\(.*\) \S+ (?:Int|Float)",
        r"comparison operation .*Timestamp",
        r"string '.*' to value of Timestamp",
    ),
    # Strings in arithmetic.
    _SentenceHint(
        (
            "a string is neither a number nor a time: write CAST(x AS DOUBLE) or CAST(x AS "
            "TIMESTAMP)"
        ),
        r"Utf8 [-+*/%]",
        r"[-+*/%] Utf8",
        r"does not accept a value of type String",
    ),
    # NOT before a value that is not a condition; a boolean is combined with another type.
    _SentenceHint(
        "NOT needs a condition: compare the value with something, such as NOT x > 0",
        r"IS DISTINCT FROM Boolean",
    ),
    _SentenceHint(
        "write AND for &, OR for |, NOT x for ~x",
        r"bitwise operation Boolean",
        r"expression Boolean - Int32",
        r'"INTEGRAL", not "BOOLEAN"',
        r'"~.*"INTEGRAL" type, however .*"BOOLEAN"',
    ),
    _SentenceHint(
        "write x > 1 AND x < 5 for a value between two others",
        r"operation Boolean [<>]=? (?:Int|Float)",
        r'"\(\(.*\) [<>]=? .*\("BOOLEAN" and',
    ),
    _SentenceHint(
        (
            "TRUE and FALSE are not numbers, strings or times: compare x with a value of its "
            "type, or write CAST(x AS BOOLEAN)"
        ),
        r"(?:Cannot|compatible).*\bBoolean\b",
    ),
    # A list as the only item of a list.
    _SentenceHint(
        "write array_contains(:list, x) for a parameter that is a list",
        r"to compare \w+ with \[List",
        r'nput to `in`.*"ARRAY<',
    ),
    # A placeholder that was not filled in.
    _SentenceHint(
        "write :name for a value, without quotes or braces",
        r"string ':\w+' to value of",
        r"near '\{'",
    ),
    # A string is combined with a number or a time.
    _SentenceHint(
        "write a number instead of the string", r"string '.*' to value of (?:U?Int|Float|Decimal)"
    ),
    # `x ILIKE ANY (...)` on Sail.
    _SentenceHint("write x ILIKE 'a' OR x ILIKE 'b'", r"'bool_(?:or|and)' function"),
    _SentenceHint(
        (
            "write a number or a string in brackets: x[0] is the first element, as "
            "x[OFFSET(0)] of BigQuery"
        ),
        r"extraction must be a literal",
    ),
    _SentenceHint("LIKE needs strings: write CAST(x AS STRING) LIKE '5%'", r"coerce .* in I?LIKE"),
    _SentenceHint(
        (
            "x[0] and x.y are for arrays, structs and maps; write FIRST(A.x) or LAST(A.x, 1) "
            "for one row of the match"
        ),
        r"extract value from data type",
        r"Can't extract a value from",
    ),
    _SentenceHint(
        "write a date such as DATE'2026-01-31' instead of the string",
        r"string '.*' to value of Date",
    ),
    _SentenceHint("write NULLIF(..., 0) around the divisor", r"(?i)divi(?:de|sion) by zero"),
    _SentenceHint(
        "write a CAST around one of the values, so that both have one type",
        r"Unsupported CAST",
        r"Cannot coerce",
    ),
)


def find_type_mismatch_hint(sentence: str) -> str | None:
    """Return the hint for values of two types that do not go together; None if we have none.

    >>> sentence = "Cannot coerce arithmetic expression {} to valid types"
    >>> find_type_mismatch_hint(sentence.format("Timestamp(µs) + Utf8"))
    "write INTERVAL '10' MINUTE; for a parameter pass a timedelta, such as timedelta(minutes=10)"
    >>> find_type_mismatch_hint(sentence.format("Utf8 - Utf8"))
    'a string is neither a number nor a time: write CAST(x AS DOUBLE) or CAST(x AS TIMESTAMP)'
    >>> sentence = "Cannot infer type for comparison operation Utf8 IS DISTINCT FROM Boolean"
    >>> find_type_mismatch_hint(sentence)
    'NOT needs a condition: compare the value with something, such as NOT x > 0'
    """
    for entry in _HINTS_FOR_TYPES:
        if entry.search(sentence) is not None:
            return entry.hint.format(length=current_surface().advise_on_length(":name"))
    return None


_END_OF_INPUT = re.compile(r"near end of input|found end of input")
# For the last words of a query that ends too early, as regular expressions: the missing part.
_LAST_WORDS = {
    r"(?:GROUP|ORDER|SORT|CLUSTER|DISTRIBUTE|PARTITION)\s+BY": "a column",
    r"WHERE|HAVING|ON|AND|OR|NOT": "a condition",
    r"LIMIT|OFFSET": "a number",
    r"AS": "a name",
    r"FROM|JOIN": "a table",
    r"SELECT|SELECT\s+DISTINCT": "columns",
    r"UNION|UNION\s+ALL|EXCEPT|INTERSECT": "a query",
}


def find_unfinished_hint(error_text: str, text: str) -> str | None:
    """Return the hint for a query that ends with a word which needs something after it.

    Returns None for other errors and other words.

    Args:
        error_text: the error of the engine.
        text: the query.

    >>> find_unfinished_hint("Syntax error at or near end of input", "SELECT * FROM t group  by")
    'write a column after group by, or remove group by'
    """
    if not _END_OF_INPUT.search(error_text):
        return None
    for last_words, missing_part in _LAST_WORDS.items():
        match = re.search(rf"(?i)(?<![\w.`])(?:{last_words})$", text.rstrip())
        if match is not None:
            words = join_lines(match[0])
            return f"write {missing_part} after {words}, or remove {words}"
    return None


# Hints for messages of Sail or Spark about the query around a clause. The first one that matches is
# used. `{file}` stands for advice on reading a file.
_HINTS_AROUND_CLAUSES = (
    _SentenceHint(
        "write a whole number of rows, 0 or more",
        r"(?:LIMIT|OFFSET) must be >=",
        r"Expected (?:LIMIT|OFFSET) to be",
        r"INVALID_LIMIT_LIKE_EXPRESSION",
    ),
    _SentenceHint("write LIMIT for a number of rows", r"TABLESAMPLE with ROWS"),
    _SentenceHint(
        "{file}",
        r"unknown table function: \w*(?i:read|scan|csv|json|parquet)",
        r"VALUED_FUNCTION\] Could not resolve `\w*(?i:read|scan|csv|json|parquet)",
    ),
    _SentenceHint(
        (
            "write the name of a table, a subquery in parentheses, or a table function such "
            "as range(10)"
        ),
        r"unknown table function",
        r"UNRESOLVABLE_TABLE_VALUED_FUNCTION",
    ),
    _SentenceHint(
        "remove the `{bracket}`, or add the bracket that it closes",
        r"Syntax error at or near '(?P<bracket>[])}])'",
    ),
    _SentenceHint(
        "write what is missing after the last word, or remove the last word", r"near end of input"
    ),
    _SentenceHint(
        "write array(1, 2) for an array, and a name in backticks", r"Syntax error at or near '\['"
    ),
    _SentenceHint(
        (
            "write a comma or an operator before it; write it in backticks if it is a name; "
            "or remove it"
        ),
        r"Syntax error at or near",
    ),
    _SentenceHint(
        f"write its arguments as {SPARK_FUNCTIONS} lists them",
        r"(?:wrong|another) number of arguments",
        r"a function is called without arguments",
        r"requires \d+ arguments?",
        r"the functions min and max take one argument",
        r"expects? \d+ arguments?",
    ),
    _SentenceHint(
        "write {value} > 0, or {value} IS NOT NULL",
        r'FILTER_NOT_BOOLEAN\] Cannot resolve "(?P<value>\w+)"',
    ),
    _SentenceHint(
        "compare the value: write x > 0, x = 'a' or x IS NOT NULL",
        r"condition must be boolean",
        r"FILTER_NOT_BOOLEAN",
        r"JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE",
    ),
    _SentenceHint(
        "write a column that both sides of the JOIN have, or ON with a condition",
        r"UNRESOLVED_USING_COLUMN_FOR_JOIN",
        r"Cannot find column",
    ),
    _SentenceHint(
        "write the same number of columns in both queries",
        r"NUM_COLUMNS_MISMATCH",
        r"queries have different number of columns",
    ),
    _SentenceHint(
        "write a condition on groups in HAVING, or compute the aggregate in a subquery",
        r"an aggregate is not allowed here",
    ),
    _SentenceHint(
        "compute the window function in a subquery, and write the condition around it",
        r"WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE",
        r"a window function is not allowed here",
    ),
    _SentenceHint(
        "compute the inner aggregate in a subquery",
        r"NESTED_AGGREGATE_FUNCTION",
        r"an aggregate is not allowed in another aggregate",
    ),
    _SentenceHint(
        "write the name of its table before it, as in t.{column}",
        r"column `(?P<column>\w+)` is ambiguous",
    ),
    _SentenceHint(
        "write the name of its table before it, as in t.x", r"AMBIGUOUS_REFERENCE", r"is ambiguous"
    ),
    _SentenceHint("write WHERE instead of HAVING, or add GROUP BY", r"MISSING_GROUP_BY"),
    _SentenceHint(
        "write the name alone: x[0] and x.y are for arrays, structs and maps",
        r"extract value from data type",
        r"Can't extract a value from",
    ),
    _SentenceHint(
        "write one column in the SELECT of the subquery",
        r"IN_SUBQUERY_LENGTH_MISMATCH",
        r"SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
        r"a subquery has several columns",
    ),
    _SentenceHint(
        "write the name of a column, or the position of one in the SELECT list",
        r"Cannot resolve column position",
        r"BY_POS_OUT_OF_RANGE",
    ),
    _SentenceHint(
        "write an array or a map, such as array(x, y)", r"should only be called with a list or map"
    ),
    _SentenceHint(
        "write OVER (ORDER BY ...) after the parentheses of the function",
        r'WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE\] Window function "\w+\(.*?\)"',
        r"unknown function `(?i:rank|dense_rank|percent_rank|cume_dist|ntile)`",
        r"unknown function `(?i:row_number|lag|lead|nth_value)`",
    ),
    _SentenceHint("write a smaller number", r"is too large$"),
    _SentenceHint("write a number, such as INTERVAL '10' MINUTE", r"is not a number$"),
    _SentenceHint(
        "write a number, such as INTERVAL '10' MINUTE", r"Can only use numbers in the interval"
    ),
)

# The hint for an error at the first word of a statement.
HINT_TO_BEGIN_STATEMENT = (
    "begin a statement with a keyword of SQL, such as SELECT, WITH or INSERT INTO"
)

# The hint for an error that names no word of the query and has no entry in the table.
HINT_TO_BISECT_QUERY = (
    "to find the part that is wrong, run SELECT * FROM ... MATCH_RECOGNIZE (...) alone, then add "
    "the other parts of the query one at a time"
)


def find_engine_error_hint(message: str, sentence: str) -> str | None:
    """Return what to write instead of what an engine's error is about; None if we do not know.

    Args:
        message: the whole message of the engine. In Spark, it has the name of the error condition.
        sentence: the message in plain words, which may be ours.

    >>> find_engine_error_hint("LIMIT must be >= 0, '-1' was provided", "LIMIT must be >= 0")
    'write a whole number of rows, 0 or more'
    >>> sentence = "UNION can only be ..."
    >>> find_engine_error_hint(f"[NUM_COLUMNS_MISMATCH] {sentence}", sentence)
    'write the same number of columns in both queries'
    >>> find_engine_error_hint("no such thing", "no such thing")
    """
    look_alike_hint = find_look_alike_hint(sentence)
    if look_alike_hint is not None:
        return look_alike_hint
    explanation = explain_engine_error(message)
    if explanation is not None:
        return explanation.hint
    for entry in _HINTS_AROUND_CLAUSES:
        match = entry.search(message) or entry.search(sentence)
        if match is not None:
            groups = match.groupdict(default="")
            return entry.hint.format(file=current_surface().advice_on_file, **groups)
    return find_type_mismatch_hint(message)
