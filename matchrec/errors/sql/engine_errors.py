"""Explain an engine's error in our words, with what to write instead.

Spark and Sail describe a mistake in their own words, show rewritten expressions, and often say
neither where the mistake is nor what to write. Tables of regular expressions recognise their
sentences:

- `_HINTS_FOR_TYPES` has hints for types that do not go together.
- `_EXPLANATIONS` has sentences of Spark that we say better, each with a hint.
- `_LAST_WORDS` has the words with which a query can end too early.
- `_HINTS_AROUND_CLAUSES` has hints for mistakes in the query around a clause.

For an error that no table has, callers use `HINT_TO_BISECT_QUERY`. In the arguments, `sentence` is
the main sentence of an engine's error, without its location and the name of its condition.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from matchrec.errors.kinds import MatchRecognizePlanError, point_at
from matchrec.errors.language import name_part
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql.look_alikes import find_look_alike_hint
from matchrec.errors.sql.operand_hints import SPARK_FUNCTIONS
from matchrec.errors.sql.type_kinds import TypeKind, classify_type
from matchrec.errors.sql.type_mismatches import find_number_example, name_types_as_spark
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_alternatives, write_name
from matchrec.source import Span


def rejected_by_engine(
    engine: str, clause: str, sentence: str, span: Span | None, hint: str | None = None
) -> MatchRecognizePlanError:
    """Return the error for an expression that the engine's analyzer refuses.

    Args:
        engine: Spark or Sail.
        clause: the clause of the expression, such as DEFINE.
        sentence: the engine's sentence. The error has a better sentence if `explain_engine_error`
            returns one.
        span: the expression in the text of the query.
        hint: what to write instead, if the names in the expression show this; otherwise None.
    """
    hint = find_look_alike_hint(sentence) or hint or find_type_mismatch_hint(sentence)
    explanation = explain_engine_error(sentence)
    if explanation is not None:
        sentence = explanation.sentence
        hint = hint or explanation.hint
    sentence = reword_extraction(name_types_as_spark(sentence))
    return MatchRecognizePlanError(
        f"{engine} rejects an expression in {name_part(clause)}: {sentence}",
        span,
        hint=hint,
        code="rejected-by-engine",
    )


# `price[0]` or `price.x` for a plain value, in words of Sail and of Spark.
_EXTRACTION = re.compile(
    r"cannot extract value from data type: (?P<sail_type>\S+)"
    r"|Can't extract a value from .* but got \"(?P<spark_type>[^\"]+)\"",
    re.DOTALL,
)


def reword_extraction(sentence: str) -> str:
    """Return an engine's sentence, in better words if it is about `[...]` or `.x` of a plain value.

    >>> reword_extraction("cannot extract value from data type: int")
    'a value of type INT has no elements or fields'
    """
    extraction = _EXTRACTION.search(sentence)
    if extraction is None:
        return sentence
    type_name = (extraction["sail_type"] or extraction["spark_type"]).upper()
    return f"a value of type {type_name} has no elements or fields"


# A string where another type is needed, in words of Sail.
_TEXT_AS_VALUE = re.compile(r"Cannot cast string '(.*)' to value of")


def find_quoted_column_hint(sentence: str, columns: Collection[str]) -> str | None:
    """Return the hint for a column in quotes, which makes it a string.

    Returns None if the error has another cause.

    Args:
        sentence: the engine's sentence.
        columns: the columns of the input.

    >>> find_quoted_column_hint("Cannot cast string 'temp' to value of Int32 type", ["id", "temp"])
    'quotes make it a string: write temp for the column'
    """
    match = _TEXT_AS_VALUE.search(sentence)
    if match is None:
        return None
    column = match[1]
    if column.lower() not in {name.lower() for name in columns}:
        return None
    return f"quotes make it a string: write {write_name(column)} for the column"


# The hint for each sentence of Sail or Spark about two types that do not go together. The keys are
# regular expressions, and the first one that matches is used. `{length}` stands for advice on a
# parameter that is a length of time: "pass a timedelta, such as timedelta(minutes=10)".
_HINTS_FOR_TYPES = {
    # A string or a number is added to a time; a string is combined with a length of time.
    r"Timestamp\([^)]*\) [+-] (?:Utf8|Int)|(?:Duration|Interval)\(.*\) \S+ Utf8|"
    r'"INTERVAL"\), not "TIMESTAMP|'
    r'"[(].* [+-] .*\("TIMESTAMP(?:_NTZ)?" and "': "write INTERVAL '10' MINUTE; for a parameter "
    "{length}",
    # The difference of two times is combined with a number.
    r'(?:Duration|Interval)\(.*\) \S+ (?:Int|Float)|\("INTERVAL [^"]*" and': "the difference of "
    "two times is a length of time: write INTERVAL '10' MINUTE instead of the number",
    # A time is combined with a number, a string or a boolean.
    r"Timestamp\(.*\) \S+ (?:Int|Float)|comparison operation .*Timestamp|"
    r"string '.*' to value of Timestamp": "compare a time with a time, such as "
    "TIMESTAMP'2026-01-31 12:00:00'",
    # Strings in arithmetic.
    r"Utf8 [-+*/%]|[-+*/%] Utf8|does not accept a value of type String": "a string is neither a "
    "number nor a time: write CAST(x AS DOUBLE) or CAST(x AS TIMESTAMP)",
    # NOT before a value that is not a condition; a boolean is combined with another type.
    r"IS DISTINCT FROM Boolean": "NOT needs a condition: compare the value with something, such as "
    "NOT x > 0",
    r'bitwise operation Boolean|expression Boolean - Int32|"INTEGRAL", not "BOOLEAN"|'
    r'"~.*"INTEGRAL" type, however .*"BOOLEAN"': "write AND for &, OR for |, NOT x for ~x",
    r'operation Boolean [<>]=? (?:Int|Float)|"\(\(.*\) [<>]=? .*\("BOOLEAN" and': "write "
    "x > 1 AND x < 5 for a value between two others",
    r"(?:Cannot|compatible).*\bBoolean\b": "TRUE and FALSE are not numbers, strings or times: "
    "compare x with a value of its type, or write CAST(x AS BOOLEAN)",
    # A list as the only item of a list.
    r'to compare \w+ with \[List|nput to `in`.*"ARRAY<': "write array_contains(:list, x) for a "
    "parameter that is a list",
    # A placeholder that was not filled in.
    r"string ':\w+' to value of|near '\{'": "write :name for a value, without quotes or braces",
    # A string is combined with a number or a time.
    r"string '.*' to value of (?:U?Int|Float|Decimal)": "write a number instead of the string",
    # `x ILIKE ANY (...)` on Sail.
    r"'bool_(?:or|and)' function": "write x ILIKE 'a' OR x ILIKE 'b'",
    r"extraction must be a literal": "write a number or a string in brackets: x[0] is the first "
    "element, as x[OFFSET(0)] of BigQuery",
    r"coerce .* in I?LIKE": "LIKE needs strings: write CAST(x AS STRING) LIKE '5%'",
    r"extract value from data type|Can't extract a value from": "x[0] and x.y are for arrays, "
    "structs and maps; write FIRST(A.x) or LAST(A.x, 1) for one row of the match",
    r"string '.*' to value of Date": "write a date such as DATE'2026-01-31' instead of the string",
    r"(?i)divi(?:de|sion) by zero": "write NULLIF(..., 0) around the divisor",
    r"Unsupported CAST|Cannot coerce": "write a CAST around one of the values, so that both have "
    "one type",
}


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
    for pattern, hint in _HINTS_FOR_TYPES.items():
        if re.search(pattern, sentence):
            return hint.format(length=current_surface().advise_on_length(":name"))
    return None


# Sentences of Spark in better words.


@dataclass(frozen=True, slots=True)
class EngineErrorExplanation:
    """An engine's error in our words.

    "The `upper` requires 1 parameters but the actual number is 2" becomes the sentence
    "`upper` takes 1 argument, not 2" and a hint with a link to the list of functions.
    """

    sentence: str  # what is wrong
    hint: str  # what to write instead


# The sentences. `_EXPLANATIONS` has a function for each, which says the same in our words.
_ARGUMENT_COUNT = re.compile(
    r"The `(?P<name>\w+)` requires (?P<counts>\[[\d, ]+\]|\d+) parameters? but the actual number "
    r"is (?P<actual>\d+)"
)
_TWO_TYPES = re.compile(
    r'Cannot resolve "(?P<expression>.*)" due to .*incompatible types '
    r'\("(?P<left>.*)" and "(?P<right>.*)"\)'
)
_ARGUMENT_TYPE = re.compile(
    r'Cannot resolve "(?:(?P<function>\w+)\(|\((?P<operator>NOT) )?.*The (?P<position>\w+) '
    r'parameter requires the (?P<expected>.*) type, however ".*" has the type "(?P<actual>.*)"'
)
_CAST = re.compile(r'cannot cast "(?P<source>.*)" to "(?P<target>.*?)"')
_UNKNOWN_TYPE = re.compile(r'Unsupported data type "(?P<name>\w+)')
_INTERVAL = re.compile(r"Error parsing '(?P<text>.*?)' to interval")
_LITERAL = re.compile(r'value of the typed literal "(?P<type>\w+)" is invalid: (?P<text>\'.*?\')')
_STRUCT_FIELD = re.compile(r"No such struct field `(?P<name>.*?)` in (?P<fields>`.*`)")

# The operators of two operands, as Spark writes them.
_COMPARISONS = frozenset(("=", "<=>", "<>", "!=", "<", "<=", ">", ">="))
_OTHER_OPERATORS = frozenset(("AND", "OR", "+", "-", "*", "/", "%", "div", "&", "|", "^"))

# A valid literal of each type.
_LITERALS = {
    "DATE": "DATE'2026-01-31'",
    "TIMESTAMP": "TIMESTAMP'2026-01-31 12:00:00'",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ'2026-01-31 12:00:00'",
    "TIMESTAMP_LTZ": "TIMESTAMP_LTZ'2026-01-31 12:00:00'",
    "INTERVAL": "INTERVAL '10' MINUTE",
}
# For the names of types in other databases: the types of Spark SQL to write instead.
_FOREIGN_TYPES = {
    **dict.fromkeys(("NUMBER", "NUMERIC", "BIGNUMERIC"), "DECIMAL(18, 2), BIGINT or DOUBLE"),
    **dict.fromkeys(
        ("TEXT", "VARCHAR", "VARCHAR2", "NVARCHAR", "NVARCHAR2", "CLOB", "UUID"), "STRING"
    ),
    **dict.fromkeys(("DATETIME", "TIMESTAMPTZ"), "TIMESTAMP"),
    **dict.fromkeys(("INT64", "INT8", "HUGEINT"), "BIGINT"),
    **dict.fromkeys(("FLOAT64", "FLOAT8"), "DOUBLE"),
    **dict.fromkeys(("BYTES", "BYTEA", "BLOB", "VARBINARY"), "BINARY"),
    "BOOL": "BOOLEAN",
}
# The types of Spark SQL that a misspelt name may mean.
_SPARK_TYPES = (
    *("STRING", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
    *("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BOOLEAN", "BINARY", "VARCHAR", "CHAR"),
)


def explain_engine_error(sentence: str) -> EngineErrorExplanation | None:
    """Return Spark's error in our words; None if `_EXPLANATIONS` does not have it.

    Spark shows a rewritten expression and the name of an error condition. The reader needs the
    types, and sees the expression in the line above the carets.

    >>> error_text = "The `upper` requires 1 parameters but the actual number is 2"
    >>> explain_engine_error(error_text).sentence
    '`upper` takes 1 argument, not 2'
    >>> explain_engine_error('Unsupported data type "NUMBER"').hint
    'write DECIMAL(18, 2), BIGINT or DOUBLE'
    >>> explain_engine_error("Syntax error at or near ')'")
    """
    for pattern, explain in _EXPLANATIONS:
        match = pattern.search(sentence)
        if match is not None:
            return explain(match)
    return None


def read_argument_counts(sentence: str) -> list[str]:
    """Return the numbers of arguments that a function takes, if an engine's sentence says so.

    >>> read_argument_counts("substr requires 2 or 3 arguments")
    ['2', '3']
    >>> read_argument_counts("The `upper` requires 1 parameters but the actual number is 2")
    ['1']
    """
    by_spark = _ARGUMENT_COUNT.search(sentence)
    if by_spark is not None:
        return re.findall(r"\d+", by_spark["counts"])
    by_sail = re.search(r"requires ((?:\d+(?:, | or )?)+) arguments?", sentence)
    return [] if by_sail is None else re.findall(r"\d+", by_sail[1])


def describe_expected_argument(sentence: str) -> str:
    """Return a note on the type that an argument must have; "" if the sentence does not say it.

    >>> describe_expected_argument('Cannot resolve "size(sym)" due to data type mismatch: The first'
    ...     ' parameter requires the ("ARRAY" or "MAP") type, however "sym" has the type "STRING"')
    'its first argument must be array or map'
    """
    match = _ARGUMENT_TYPE.search(sentence)
    if match is None or match["function"] is None:
        return ""
    expected = join_alternatives(re.findall(r'"([^"]+)"', match["expected"])).lower()
    return f"its {match['position']} argument must be {expected}"


def _explain_argument_count(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that a function got more or fewer arguments than it takes."""
    name = match["name"]
    counts = re.findall(r"\d+", match["counts"])
    expected = f"{join_alternatives(counts)} argument{'' if counts == ['1'] else 's'}"
    hint = f"write {name} with {expected}; {SPARK_FUNCTIONS}#{name.lower()} describes them"
    return EngineErrorExplanation(f"`{name}` takes {expected}, not {match['actual']}", hint)


def _explain_two_types(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that an operator or a comparison cannot take values of these two types."""
    left = match["left"]
    right = match["right"]
    operators = _list_outermost_operators(match["expression"])
    if operators in (["AND"], ["OR"]):
        actual = " and ".join(name for name in (left, right) if name != "BOOLEAN")
        hint = "compare the value with something, such as x > 0"
        return EngineErrorExplanation(f"{operators[0]} needs BOOLEAN, but gets {actual}", hint)
    is_comparison = bool(operators) and _COMPARISONS.issuperset(operators)
    verb = "compared" if is_comparison else "combined"
    hint = "write a CAST around one of them, so that both have one type"
    if TypeKind.OTHER in {classify_type(left), classify_type(right)}:
        hint = f"write a value computed from it, such as {_find_plain_value(left, right)}"
    return EngineErrorExplanation(f"{left} and {right} cannot be {verb}", hint)


def _list_outermost_operators(expression: str) -> list[str]:
    """Return the operators of an expression that are only in the outermost parentheses.

    Spark puts each operation in parentheses, so the list has one operator. It has several if the
    expression has a string with a word like an operator, because Spark leaves out quotes.

    >>> _list_outermost_operators("((price > 1) AND 1)")
    ['AND']
    """
    text = expression.removeprefix("(").removesuffix(")")
    text_before = ""
    while text != text_before:
        text_before = text
        text = re.sub(r"\([^()]*\)", "", text)
    return [word for word in text.split() if word in _COMPARISONS or word in _OTHER_OPERATORS]


def _find_plain_value(*type_names: str) -> str:
    """Return an example that computes a plain value from a value of the first nested type.

    >>> _find_plain_value("INT", "MAP<STRING, INT>")
    "x['key'] or size(x)"
    """
    examples = {"ARRAY": "x[0] or size(x)", "MAP": "x['key'] or size(x)", "STRUCT": "x.field"}
    for type_name in type_names:
        outer_type = type_name.partition("<")[0]
        if outer_type in examples:
            return examples[outer_type]
    return "CAST(x AS STRING)"


def _explain_argument_type(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that an argument of a function, or the operand of NOT, has a wrong type."""
    actual = match["actual"]
    expected = join_alternatives(re.findall(r'"([^"]+)"', match["expected"]))
    if match["operator"]:
        hint = "compare the value with something, such as NOT x > 0"
        return EngineErrorExplanation(f"NOT needs {expected}, but gets {actual}", hint)
    hint = "write another value, or convert this one"
    if "ARRAY" in expected:
        hint = "write an array, such as array(x, y), or length(x) for the length of a string"
    elif expected.startswith("NUMERIC") and (number := find_number_example(actual, "x")):
        hint = f"write a number, such as {number}"
    subject = f"the {match['position']} argument"
    if match["function"]:
        subject = f"{subject} of `{match['function']}`"
    return EngineErrorExplanation(f"{subject} must be {expected}, but is {actual}", hint)


def _explain_cast(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that values of a type cannot be cast to another type."""
    source = match["source"]
    target = match["target"]
    hint = f"compute a value that can be cast to {target} first"
    if source.startswith("ARRAY"):
        hint = f"cast one element: CAST(x[0] AS {target})"
    elif source.startswith("STRUCT"):
        hint = f"cast one field: CAST(x.field AS {target})"
    elif source.startswith("MAP"):
        hint = f"cast one value: CAST(x['key'] AS {target})"
    elif target == "DATE" and classify_type(source) is TypeKind.NUMBER:
        hint = "write date_from_unix_date(x) for a number of days since 1970"
    elif source == "DATE" and classify_type(target) is TypeKind.NUMBER:
        hint = "write unix_date(x) for the number of days since 1970"
    return EngineErrorExplanation(f"{source} cannot be cast to {target}", hint)


def _explain_unknown_type(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that Spark SQL has no type of this name, such as NUMBER of Oracle."""
    name = match["name"]
    return EngineErrorExplanation(f"unknown type {name}", _find_spark_type_hint(name))


def _find_spark_type_hint(name: str) -> str:
    """Return what to write instead of a type that Spark SQL does not have."""
    examples = "a type of Spark SQL, such as STRING, BIGINT, DOUBLE, DECIMAL(18, 2) or TIMESTAMP"
    spark_types = _FOREIGN_TYPES.get(name.upper()) or find_nearest(name, _SPARK_TYPES) or examples
    return f"write {spark_types}"


def _explain_interval(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that the text of an INTERVAL is malformed, or its number too large."""
    text = match["text"].strip()
    hint = "write a number that fits into its unit, such as INTERVAL '10' MINUTE"
    return EngineErrorExplanation(f"{text} is too large or malformed for an INTERVAL", hint)


def _explain_literal(literal: re.Match[str]) -> EngineErrorExplanation:
    """Explain that the text of a literal, such as `DATE'tomorrow'`, is not a value of its type."""
    type_name = literal["type"].upper()
    example = _LITERALS.get(type_name, f"{type_name}'...'")
    return EngineErrorExplanation(
        f"{literal['text']} is not a valid {type_name}",
        f"write a valid {type_name}, such as {example}",
    )


def _explain_struct_field(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that a struct has no field of this name."""
    name = match["name"]
    fields = re.findall(r"`([^`]+)`", match["fields"])
    near = find_nearest(name, fields)
    hint = f"write {near}" if near else f"write one of its fields: {', '.join(fields)}"
    return EngineErrorExplanation(f"unknown field `{name}` of a struct", hint)


# What engines say of CAST(x AS VARCHAR). Sail's parser expects a length before the bracket.
_ABOUT_LENGTH = re.compile(
    r"Syntax error at or near '\)'|missing character length|requires a length parameter"
)
_TYPE_WITHOUT_LENGTH = re.compile(
    r"(?i)(?:\bAS\s+|::\s*)(?P<name>VARCHAR|CHAR|CHARACTER)\b(?!\s*\()"
)
_LIST_OF_PATTERNS = re.compile(
    r"(?i)\b(?P<words>(?P<like>(?:NOT\s+)?I?LIKE)\s+(?P<all_or_any>ANY|ALL|SOME))\s*\("
)
_ABOUT_LIST_OF_PATTERNS = re.compile(r"'bool_(?:or|and)' function")


# `price NOT IN (SELECT price FROM t WHERE ...)`, if the subquery has no other part.
_IN_SUBQUERY = re.compile(
    r"(?i)(?P<value>[\w.`]+(?:\([\w.`, ]*\))?)\s+(?P<negation>NOT\s+)?IN\s*\(\s*SELECT\s+"
    r"(?P<item>[\w.`]+)\s+(?P<source>FROM\s+[^()]+?)\s*\)"
)
_PART_OF_SUBQUERY = re.compile(r"(?i)\b(?:GROUP|ORDER|HAVING|LIMIT|UNION|INTERSECT|EXCEPT)\b")


def _write_in_subquery(text: str) -> str | None:
    """Return `x IN (SELECT y FROM t)` as a test of an array, with the user's names; else None.

    Sail has no IN with a subquery in an expression, and conditions no subquery that reads the row.

    >>> _write_in_subquery("price NOT IN (SELECT low FROM t WHERE ts > 1)")
    'NOT array_contains((SELECT collect_list(low) FROM t WHERE ts > 1), price)'
    """
    test = _IN_SUBQUERY.search(text)
    if test is None or _PART_OF_SUBQUERY.search(test["source"]):
        return None
    negation = "NOT " if test["negation"] else ""
    source = " ".join(test["source"].split())
    values = f"(SELECT collect_list({test['item']}) {source})"
    return f"{negation}array_contains({values}, {test['value']})"


def explain_written_part(sentence: str, text: str) -> EngineErrorExplanation | None:
    """Return an engine's error in our words if the text shows what it is about; else None.

    Args:
        sentence: the engine's sentence.
        text: the expression that the engine refuses, as the user wrote it.

    >>> explain_written_part("Syntax error at or near ')'", "CAST(x AS VARCHAR) = 'A'").sentence
    'VARCHAR has no length'
    >>> explain_written_part("Syntax error at or near ')'", "CAST(x AS VARCHAR(2)))")
    >>> explain_written_part("a call to 'bool_or' function", "x LIKE ANY ('A', 'B')").hint
    "write one LIKE for each pattern: x LIKE 'a' OR x LIKE 'b'"
    """
    array_test = _write_in_subquery(text)
    if array_test is not None and sentence.startswith("IN (SELECT"):
        return EngineErrorExplanation(sentence, f"write {array_test}")
    type_name = _TYPE_WITHOUT_LENGTH.search(text)
    if type_name is not None and _ABOUT_LENGTH.search(sentence):
        name = type_name["name"].upper()
        return EngineErrorExplanation(
            f"{name} has no length", f"write STRING, or {name}(10) for at most 10 characters"
        )
    patterns = _LIST_OF_PATTERNS.search(text)
    if patterns is not None and _ABOUT_LIST_OF_PATTERNS.search(sentence):
        like = " ".join(patterns["like"].upper().split())
        operator = "AND" if patterns["all_or_any"].upper() == "ALL" else "OR"
        return EngineErrorExplanation(
            f"{' '.join(patterns['words'].upper().split())} is not supported",
            f"write one {like} for each pattern: x {like} 'a' {operator} x {like} 'b'",
        )
    return None


# Each sentence of Spark with the function that explains it.
_EXPLANATIONS = (
    (_ARGUMENT_COUNT, _explain_argument_count),
    (_TWO_TYPES, _explain_two_types),
    (_ARGUMENT_TYPE, _explain_argument_type),
    (_CAST, _explain_cast),
    (_UNKNOWN_TYPE, _explain_unknown_type),
    (_INTERVAL, _explain_interval),
    (_LITERAL, _explain_literal),
    (_STRUCT_FIELD, _explain_struct_field),
)


# Types and literals in the text of a query.


def unknown_type(span: Span, *, name: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for a CAST to a type that Spark SQL does not have.

    Args:
        span: the CAST in the text of the query.
        name: the type.
        clause: the clause of the CAST.
    """
    error = MatchRecognizePlanError(
        f"unknown type `{name}` in {name_part(clause)}",
        span,
        hint=_find_spark_type_hint(name),
        code="unknown-type",
    )
    return point_at(error, name)


def find_cast_type_hint(text: str) -> str | None:
    """Return the hint for a text that ends with the type of a CAST; None if it does not.

    >>> find_cast_type_hint("SELECT CAST(x AS NUMBER")
    'write DECIMAL(18, 2), BIGINT or DOUBLE'
    >>> find_cast_type_hint("SELECT x AS NUMBER")
    """
    cast = re.search(r"(?i)\b(?:try_)?cast\s*\([^()]*\bAS\s+(?P<name>\w+)$", text)
    return _find_spark_type_hint(cast["name"]) if cast else None


def find_literal_hint(text: str) -> str | None:
    """Return the hint for a text that is a literal with a type, such as `DATE'x'`; else None.

    >>> find_literal_hint("DATE 'tomorrow'")
    "write a valid DATE, such as DATE'2026-01-31'"
    >>> find_literal_hint("tomorrow")
    """
    literal = re.fullmatch(r"(?P<type>[A-Za-z_]+)\s*(?P<text>'.*')", text)
    if literal is None or literal["type"].upper() not in _LITERALS:
        return None
    return _explain_literal(literal).hint


def find_typed_literal_hint(type_name: str) -> str | None:
    """Return the hint if Spark reads SELECT as the type of a literal, as in `IN (SELECT 'a')`.

    Returns None for any other word.

    >>> find_typed_literal_hint('"SELECT"')
    "give the string a name: SELECT 'a' AS name"
    """
    is_query = type_name.strip('"').upper() == "SELECT"
    return "give the string a name: SELECT 'a' AS name" if is_query else None


# The query around a clause.

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
            words = " ".join(match[0].split())
            return f"write {missing_part} after {words}, or remove {words}"
    return None


# For sentences of Sail or Spark about the query around a clause, as regular expressions: the hint.
# `{file}` stands for advice on reading a file, the other names for groups of the expression.
_HINTS_AROUND_CLAUSES = {
    r"(?:LIMIT|OFFSET) must be >=|Expected (?:LIMIT|OFFSET) to be|INVALID_LIMIT_LIKE_EXPRESSION": (
        "write a whole number of rows, 0 or more"
    ),
    r"TABLESAMPLE with ROWS": "write LIMIT for a number of rows",
    r"(?:unknown table function: |VALUED_FUNCTION\] Could not resolve `)"
    r"\w*(?i:read|scan|csv|json|parquet)": "{file}",
    r"unknown table function|UNRESOLVABLE_TABLE_VALUED_FUNCTION": (
        "write the name of a table, a subquery in parentheses, or a table function such as "
        "range(10)"
    ),
    r"Syntax error at or near '(?P<bracket>[])}])'": (
        "remove the `{bracket}`, or add the bracket that it closes"
    ),
    r"near end of input": "write what is missing after the last word, or remove the last word",
    r"Syntax error at or near '\['": "write array(1, 2) for an array, and a name in backticks",
    r"Syntax error at or near": (
        "write a comma or an operator before it; write it in backticks if it is a name; or "
        "remove it"
    ),
    r"(?:wrong|another) number of arguments|a function is called without arguments"
    r"|requires \d+ arguments?|the functions min and max take one argument"
    r"|expects? \d+ arguments?": (f"write its arguments as {SPARK_FUNCTIONS} lists them"),
    r'FILTER_NOT_BOOLEAN\] Cannot resolve "(?P<value>\w+)"': (
        "write {value} > 0, or {value} IS NOT NULL"
    ),
    r"condition must be boolean|FILTER_NOT_BOOLEAN|JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE": (
        "compare the value: write x > 0, x = 'a' or x IS NOT NULL"
    ),
    r"UNRESOLVED_USING_COLUMN_FOR_JOIN|Cannot find column": (
        "write a column that both sides of the JOIN have, or ON with a condition"
    ),
    r"NUM_COLUMNS_MISMATCH|queries have different number of columns": (
        "write the same number of columns in both queries"
    ),
    r"INVALID_WHERE_CONDITION|an aggregate is not allowed here": (
        "write a condition on groups in HAVING, or compute the aggregate in a subquery"
    ),
    r"NESTED_AGGREGATE_FUNCTION|an aggregate is not allowed in another aggregate": (
        "compute the inner aggregate in a subquery"
    ),
    r"AMBIGUOUS_REFERENCE|is ambiguous": "write the name of its table before it, as in t.x",
    r"MISSING_GROUP_BY": "write WHERE instead of HAVING, or add GROUP BY",
    r"extract value from data type|Can't extract a value from": (
        "write the name alone: x[0] and x.y are for arrays, structs and maps"
    ),
    r"IN_SUBQUERY_LENGTH_MISMATCH|SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN"
    r"|a subquery has several columns": "write one column in the SELECT of the subquery",
    r"Cannot resolve column position|BY_POS_OUT_OF_RANGE": (
        "write the name of a column, or the position of one in the SELECT list"
    ),
    r"should only be called with a list or map": "write an array or a map, such as array(x, y)",
    r'WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE\] Window function "(?P<call>\w+\(.*?\))"|'
    r"unknown function `(?P<name>(?i:rank|dense_rank|percent_rank|row_number|ntile|lag|lead"
    r"|cume_dist|nth_value))`": "write OVER (ORDER BY ...) after the parentheses of the function",
    r"is too large$": "write a smaller number",
    r"is not a number$": "write a number, such as INTERVAL '10' MINUTE",
    r"Can only use numbers in the interval": "write a number, such as INTERVAL '10' MINUTE",
}

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
    for pattern, hint in _HINTS_AROUND_CLAUSES.items():
        match = re.search(pattern, message) or re.search(pattern, sentence)
        if match:
            return hint.format(file=current_surface().advice_on_file, **match.groupdict(default=""))
    return find_type_mismatch_hint(message)
