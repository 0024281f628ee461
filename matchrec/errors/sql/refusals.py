"""Errors for expressions that Spark or Sail refuses, in our words if we know what is wrong."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from matchrec.errors.kinds import MatchRecognizePlanError, find_nearest
from matchrec.errors.language import join_alternatives
from matchrec.errors.message import fill_words, give_codes, plan_error
from matchrec.errors.sql.clause import cure_of_look_alike
from matchrec.errors.sql.expression import kind, number_of
from matchrec.source import Span


def refused_by_engine(
    engine: str, clause: str, sentence: str, span: Span | None, cure: str | None = None
) -> MatchRecognizePlanError:
    """Return the error for an expression that the engine's analyzer refuses.

    Args:
        engine: Spark or Sail.
        clause: the clause of the expression, such as DEFINE.
        sentence: the engine's sentence. Ours replaces it if we know what it is about.
        span: the expression in the text of the query.
        cure: what to write instead, if names tell it.
    """
    hint = cure_of_look_alike(sentence) or cure or cure_of_types(sentence)
    refusal = explain_refusal(sentence)
    if refusal is not None:
        sentence, hint = refusal.sentence, hint or refusal.cure
    return _refused_by_engine(span, engine=engine, clause=clause, sentence=sentence, cure=hint)


_refused_by_engine = plan_error("""{engine} refuses an expression in {clause:part}: {sentence}
    {cure}""")

_TEXT_AS_VALUE = re.compile(r"Cannot cast string '(.*)' to value of")


def cure_of_quoted_column(sentence: str, columns: Collection[str]) -> str | None:
    """What to write where a column stands in quotes, so that it is a text, or None.

    >>> cure_of_quoted_column("Cannot cast string 'temp' to value of Int32 type", ["id", "temp"])
    'quotes make it a string: write temp for the column'
    """
    found = _TEXT_AS_VALUE.search(sentence)
    if found is None or found[1].lower() not in map(str.lower, columns):
        return None
    return f"quotes make it a string: write {found[1]} for the column"


# What to write where types do not go together, by what Sail or Spark says of them.
_TYPES = {
    # A text, or a number, that is added to a time; a text beside a length of time.
    r"Timestamp\([^)]*\) [+-] (?:Utf8|Int)|(?:Duration|Interval)\(.*\) \S+ Utf8|"
    r'"INTERVAL"\), not "TIMESTAMP|'
    r'"[(].* [+-] .*\("TIMESTAMP(?:_NTZ)?" and "': "write INTERVAL '10' MINUTE; for a parameter "
    "{here.length}",
    # The difference of two times beside a number.
    r'(?:Duration|Interval)\(.*\) \S+ (?:Int|Float)|\("INTERVAL [^"]*" and': "the difference of "
    "two times is a length of time: write INTERVAL '10' MINUTE instead of the number",
    # A time beside a number, a text, or a truth value.
    r"Timestamp\(.*\) \S+ (?:Int|Float)|comparison operation .*Timestamp|"
    r"string '.*' to value of Timestamp": "compare a time with a time, such as "
    "TIMESTAMP'2026-01-31 12:00:00'",
    # Texts in arithmetic.
    r"Utf8 [-+*/%]|[-+*/%] Utf8|takes no value of type String": "a string is neither a number nor "
    "a time: write CAST(x AS DOUBLE) or CAST(x AS TIMESTAMP)",
    # NOT of what is no condition; a truth value beside another type.
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
    # A value that nothing has filled in.
    r"string ':\w+' to value of|near '\{'": "write :name for a value, without quotes or braces",
    # A text beside a number, or a time.
    r"string '.*' to value of (?:U?Int|Float|Decimal)": "write a number instead of the string",
    r"coerce .* in I?LIKE": "LIKE needs strings: write CAST(x AS STRING) LIKE '5%'",
    r"extract value from data type|Can't extract a value from": "x[0] and x.y are for arrays, "
    "structs and maps; write FIRST(A.x) or LAST(A.x, 1) for one row of the match",
    r"string '.*' to value of Date": "write a date such as DATE'2026-01-31' instead of the string",
    r"(?i)divi(?:de|sion) by zero": "write NULLIF(divisor, 0)",
    r"Unsupported CAST|Cannot coerce": "write a CAST around one of the values, so that both have "
    "one type",
}


def cure_of_types(sentence: str) -> str | None:
    """What to write where types do not go together, or None.

    >>> cure_of_types("Cannot coerce arithmetic expression Timestamp(µs) + Utf8 to valid types")
    "write INTERVAL '10' MINUTE; for a parameter pass a timedelta, such as timedelta(minutes=10)"
    >>> cure_of_types("Cannot coerce arithmetic expression Utf8 - Utf8 to valid types")
    'a string is neither a number nor a time: write CAST(x AS DOUBLE) or CAST(x AS TIMESTAMP)'
    >>> cure_of_types("Cannot infer type for comparison operation Utf8 IS DISTINCT FROM Boolean")
    'NOT needs a condition: compare the value with something, such as NOT x > 0'
    """
    cures = (cure for said, cure in _TYPES.items() if re.search(said, sentence))
    found = next(cures, None)
    return None if found is None else fill_words(found)


@dataclass(frozen=True, slots=True)
class EngineRefusal:
    """An engine's refusal in our words: what is wrong, and what to write instead."""

    sentence: str
    cure: str


_ARGUMENT_COUNT = re.compile(
    r"The `(?P<name>\w+)` requires (?P<counts>\[[\d, ]+\]|\d+) parameters? but the actual number "
    r"is (?P<given>\d+)"
)
_TWO_TYPES = re.compile(
    r'Cannot resolve "(?P<expression>.*)" due to .*incompatible types '
    r'\("(?P<left>.*)" and "(?P<right>.*)"\)'
)
_ARGUMENT_TYPE = re.compile(
    r'Cannot resolve "(?:(?P<function>\w+)\(|\((?P<operator>NOT) )?.*The (?P<place>\w+) parameter '
    r'requires the (?P<wanted>.*) type, however ".*" has the type "(?P<given>.*)"'
)
_CAST = re.compile(r'cannot cast "(?P<given>.*)" to "(?P<wanted>.*?)"')
_UNKNOWN_TYPE = re.compile(r'Unsupported data type "(?P<name>\w+)')
_INTERVAL = re.compile(r"Error parsing '(?P<text>.*?)' to interval")
_LITERAL = re.compile(r'value of the typed literal "(?P<type>\w+)" is invalid: (?P<text>\'.*?\')')
_STRUCT_FIELD = re.compile(r"No such struct field `(?P<name>.*?)` in (?P<fields>`.*`)")

_SPARK_FUNCTIONS = "https://spark.apache.org/docs/latest/api/sql/"
_LITERALS = {
    "DATE": "DATE'2026-01-31'",
    "TIMESTAMP": "TIMESTAMP'2026-01-31 12:00:00'",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ'2026-01-31 12:00:00'",
    "TIMESTAMP_LTZ": "TIMESTAMP_LTZ'2026-01-31 12:00:00'",
    "INTERVAL": "INTERVAL '10' MINUTE",
}
_FOREIGN_TYPES = {
    **dict.fromkeys(("NUMBER", "NUMERIC", "BIGNUMERIC"), "DECIMAL(18, 2), BIGINT or DOUBLE"),
    **dict.fromkeys(("TEXT", "VARCHAR2", "NVARCHAR", "NVARCHAR2", "CLOB", "UUID"), "STRING"),
    **dict.fromkeys(("DATETIME", "TIMESTAMPTZ"), "TIMESTAMP"),
    **dict.fromkeys(("INT64", "INT8", "HUGEINT"), "BIGINT"),
    **dict.fromkeys(("FLOAT64", "FLOAT8"), "DOUBLE"),
    **dict.fromkeys(("BYTES", "BYTEA", "BLOB", "VARBINARY"), "BINARY"),
    "BOOL": "BOOLEAN",
}


def explain_refusal(sentence: str) -> EngineRefusal | None:
    """Return Spark's refusal in our words; None if we do not know better.

    Spark shows a rewritten expression and a class of error; the reader needs the types, and knows
    the expression from the line above the carets.

    >>> explain_refusal("The `upper` requires 1 parameters but the actual number is 2").sentence
    '`upper` takes 1 argument, not 2'
    >>> explain_refusal('Unsupported data type "NUMBER"').cure
    'write DECIMAL(18, 2), BIGINT or DOUBLE'
    >>> explain_refusal("Syntax error at or near ')'")
    """
    for pattern, explain in _REFUSALS:
        if found := pattern.search(sentence):
            return explain(found)
    return None


def _explain_argument_count(found: re.Match[str]) -> EngineRefusal:
    name, counts = found["name"], re.findall(r"\d+", found["counts"])
    wanted = f"{join_alternatives(counts)} argument{'' if counts == ['1'] else 's'}"
    cure = f"write {name} with {wanted}; {_SPARK_FUNCTIONS}#{name.lower()} describes them"
    return EngineRefusal(f"`{name}` takes {wanted}, not {found['given']}", cure)


def _explain_two_types(found: re.Match[str]) -> EngineRefusal:
    left, right, expression = found["left"], found["right"], found["expression"]
    is_comparison = re.search(r" (?:=|<=>|<>|!=|[<>]=?) ", expression) is not None
    verb = "compared" if is_comparison else "combined"
    cure = "write a CAST around one of them, so that both have one type"
    if "other" in {kind(left), kind(right)}:
        cure = f"write a value computed from it, such as {_plain_value(left, right)}"
    return EngineRefusal(f"{left} and {right} cannot be {verb}", cure)


def _plain_value(*type_names: str) -> str:
    """Return what computes a plain value from the first of these types that is nested."""
    examples = {"ARRAY": "x[0] or size(x)", "MAP": "x['key'] or size(x)", "STRUCT": "x.field"}
    words = (name.split("<", maxsplit=1)[0] for name in type_names)
    return next((examples[word] for word in words if word in examples), "CAST(x AS STRING)")


def _explain_argument_type(found: re.Match[str]) -> EngineRefusal:
    wanted = join_alternatives(re.findall(r'"([^"]+)"', found["wanted"]))
    if found["operator"]:
        cure = "compare the value with something, such as NOT x > 0"
        return EngineRefusal(f"NOT needs {wanted}, but gets {found['given']}", cure)
    cure = "write another value, or convert this one"
    if "ARRAY" in wanted:
        cure = "write an array, such as array(x, y), or length(x) for the length of a string"
    elif wanted.startswith("NUMERIC") and (number := number_of(found["given"])):
        cure = f"write a number, such as {number.replace('A.x', 'x')}"
    place = f"the {found['place']} argument"
    subject = f"{place} of `{found['function']}`" if found["function"] else place
    return EngineRefusal(f"{subject} must be {wanted}, but is {found['given']}", cure)


def _explain_cast(found: re.Match[str]) -> EngineRefusal:
    given, wanted = found["given"], found["wanted"]
    cure = f"compute a value that can be cast to {wanted} first"
    if given.startswith("ARRAY"):
        cure = f"cast one element: CAST(x[0] AS {wanted})"
    elif given.startswith("STRUCT"):
        cure = f"cast one field: CAST(x.field AS {wanted})"
    elif given.startswith("MAP"):
        cure = f"cast one value: CAST(x['key'] AS {wanted})"
    elif wanted == "DATE":
        cure = "write date_from_unix_date(x) for a number of days since 1970"
    elif given == "DATE":
        cure = "write unix_date(x) for the number of days since 1970"
    return EngineRefusal(f"{given} cannot be cast to {wanted}", cure)


def _explain_unknown_type(found: re.Match[str]) -> EngineRefusal:
    name = found["name"]
    known = "a type of Spark SQL, such as STRING, BIGINT, DOUBLE, DECIMAL(18, 2) or TIMESTAMP"
    return EngineRefusal(f"unknown type {name}", f"write {_FOREIGN_TYPES.get(name.upper(), known)}")


def cure_of_type_name(text: str) -> str | None:
    """Return what to write if a text ends with the type of a CAST, or None.

    >>> cure_of_type_name("SELECT CAST(x AS NUMBER")
    'write DECIMAL(18, 2), BIGINT or DOUBLE'
    >>> cure_of_type_name("SELECT x AS NUMBER")
    """
    found = re.search(r"(?i)\b(?:try_)?cast\s*\([^()]*\bAS\s+(?P<name>\w+)$", text)
    return _explain_unknown_type(found).cure if found else None


def cure_of_literal(text: str) -> str | None:
    """Return what to write if a text is a literal with a type, such as `DATE'x'`, or None.

    >>> cure_of_literal("DATE 'tomorrow'")
    "write e.g. DATE'2026-01-31'"
    >>> cure_of_literal("tomorrow")
    """
    found = re.fullmatch(r"(?P<type>[A-Za-z_]+)\s*(?P<text>'.*')", text)
    return _explain_literal(found).cure if found else None


def _explain_interval(found: re.Match[str]) -> EngineRefusal:
    text = found["text"].strip()
    cure = "write a number that fits into its unit, such as INTERVAL '10' MINUTE"
    return EngineRefusal(f"{text} is too large or malformed for an INTERVAL", cure)


def _explain_literal(found: re.Match[str]) -> EngineRefusal:
    type_name = found["type"].upper()
    example = _LITERALS.get(type_name, f"{type_name}'...'")
    return EngineRefusal(f"{found['text']} is not a valid {type_name}", f"write e.g. {example}")


def _explain_struct_field(found: re.Match[str]) -> EngineRefusal:
    fields = re.findall(r"`([^`]+)`", found["fields"])
    near = find_nearest(found["name"], fields)
    cure = f"write {near}" if near else f"write one of its fields: {', '.join(fields)}"
    return EngineRefusal(f"unknown field `{found['name']}` of a struct", cure)


_REFUSALS = (
    (_ARGUMENT_COUNT, _explain_argument_count),
    (_TWO_TYPES, _explain_two_types),
    (_ARGUMENT_TYPE, _explain_argument_type),
    (_CAST, _explain_cast),
    (_UNKNOWN_TYPE, _explain_unknown_type),
    (_INTERVAL, _explain_interval),
    (_LITERAL, _explain_literal),
    (_STRUCT_FIELD, _explain_struct_field),
)


def cure_of_typed_literal(type_name: str) -> str | None:
    """What to write where Spark takes a word for the type of a literal, as in `IN (SELECT 'a')`.

    >>> cure_of_typed_literal('"SELECT"')
    "give the string a name: SELECT 'a' AS name"
    """
    is_query = type_name.strip('"').upper() == "SELECT"
    return "give the string a name: SELECT 'a' AS name" if is_query else None


give_codes(globals())
