"""Advice on what to write instead of an operator between values of two types.

The advice is in words of the query's language, about example values such as `LAST(A.x)`. If the
user's own operands are known, `wrong_types` has advice that repeats them.
"""

from __future__ import annotations

import re

from matchrec.errors.language import current_language
from matchrec.errors.sql.type_kinds import TypeKind, classify_type

_PLAIN_VALUES_ADVICE = (
    "compare or combine plain values computed from each, such as to_json(x), size(x) or x.field"
)
_ONE_TYPE_ADVICE = "compute columns of one type in the input, and combine these"
_COMPARISONS = ("=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "IF")

# The kinds of two values; one kind if both are equal.
_KindPair = frozenset[TypeKind]


# Finds the whole number at the end of a comparison: `< 30`.
_WHOLE_NUMBER_AT_END = re.compile(r"[<>=]\s*(\d+)\s*$")


def find_operator_hint(operator: str, left: str, right: str, users_text: str | None = None) -> str:
    """Return what to write instead of an operator between values of two types.

    Args:
        operator: such as `+` or `<`; IF for the branches of a conditional.
        left: the type of the left value, such as `decimal(18,2)`.
        right: the type of the right value.
        users_text: the whole operation in the text of the query; None if it is not known.

    >>> find_operator_hint("=", "boolean", "int")
    'write a CAST around one navigation, such as CAST(LAST(A.x) AS INT) for the boolean'
    >>> find_operator_hint("<", "interval day to second", "int", "ts - A.ts < 5")
    "write INTERVAL '5' SECOND for a number of seconds, or INTERVAL '5' DAY for days"
    """
    kinds = frozenset((classify_type(left), classify_type(right)))
    # A hint for TIMESTAMP also fits TIMESTAMP_NTZ, unless TIMESTAMP_NTZ has its own hint.
    without_ntz = frozenset(
        TypeKind.TIMESTAMP if kind is TypeKind.TIMESTAMP_NTZ else kind for kind in kinds
    )
    number = _WHOLE_NUMBER_AT_END.search(users_text or "")
    if kinds == {TypeKind.INTERVAL, TypeKind.NUMBER} and number:
        return (
            f"write INTERVAL '{number[1]}' SECOND for a number of seconds, or INTERVAL "
            f"'{number[1]}' DAY for days"
        )
    hints = _write_hints_for_pairs()
    if operator not in _COMPARISONS:
        hints |= _write_hints_for_computations()
    for pair in (kinds, without_ntz):
        if pair in hints:
            return hints[pair]
    if kinds in ({TypeKind.NUMBER}, {TypeKind.STRING}):
        return _advise_cast("DOUBLE")
    if TypeKind.COLLATED in kinds and kinds <= {TypeKind.COLLATED, TypeKind.STRING}:
        language = current_language()
        before = f"CAST({language.value_before} AS STRING)"
        current = f"CAST({language.current_value} AS STRING)"
        return f"compare {before} with {current}, both in lower(...) if the collation ignores case"
    if TypeKind.STRING in kinds and not kinds & {TypeKind.OTHER, TypeKind.COLLATED}:
        other = right if classify_type(left) is TypeKind.STRING else left
        type_name = "DOUBLE" if classify_type(other) is TypeKind.NUMBER else other.upper()
        return _advise_cast(type_name, " for the string")
    return _PLAIN_VALUES_ADVICE if TypeKind.OTHER in kinds else _ONE_TYPE_ADVICE


def _write_hints_for_pairs() -> dict[_KindPair, str]:
    """Return the hints for values of two kinds, whatever the operator is."""
    language = current_language()
    days_between = f"datediff({language.later_value}, {language.earlier_value})"
    seconds = f"unix_timestamp({language.matched_value})"
    time_difference = (
        "write the difference of two times: "
        f"{language.current_value} - {language.value_before} > INTERVAL '30' DAY"
    )
    minutes = f"60 * hour({language.matched_value}) + minute({language.matched_value})"
    return {
        _pair(TypeKind.INTERVAL, TypeKind.NUMBER): (
            f"write INTERVAL '30' DAY for a number of days, or compare {days_between}"
        ),
        _pair(TypeKind.INTERVAL, TypeKind.STRING): "write INTERVAL '10' MINUTE for the string",
        _pair(TypeKind.MONTHS, TypeKind.NUMBER): "write INTERVAL '3' MONTH for a number of months",
        _pair(TypeKind.DATE, TypeKind.NUMBER): (
            f"write a date for the number, or unix_date({language.matched_value}) for days"
        ),
        _pair(TypeKind.TIMESTAMP, TypeKind.NUMBER): (
            f"write a timestamp for the number, or {seconds} for seconds"
        ),
        _pair(TypeKind.DATE, TypeKind.TIMESTAMP): _advise_cast("TIMESTAMP", " for the date"),
        _pair(TypeKind.DATE, TypeKind.TIMESTAMP_NTZ): (
            _advise_cast("TIMESTAMP_NTZ", " for the date")
        ),
        _pair(TypeKind.TIMESTAMP, TypeKind.TIMESTAMP_NTZ): (
            _advise_cast("TIMESTAMP", " for the timestamp_ntz")
        ),
        _pair(TypeKind.BOOLEAN, TypeKind.NUMBER): _advise_cast("INT", " for the boolean"),
        _pair(TypeKind.BINARY, TypeKind.STRING): _advise_cast("STRING", " for the binary"),
        _pair(TypeKind.DATE, TypeKind.INTERVAL): time_difference,
        _pair(TypeKind.TIMESTAMP, TypeKind.INTERVAL): time_difference,
        _pair(TypeKind.TIMESTAMP): time_difference,
        _pair(TypeKind.DATE): f"write the days between them: {days_between}",
        _pair(TypeKind.INTERVAL): _advise_seconds(),
        _pair(TypeKind.TIME): f"write minutes of the day: {minutes}",
    }


def _write_hints_for_computations() -> dict[_KindPair, str]:
    """Return the hints for values of two kinds that differ if the operator is not a comparison."""
    language = current_language()
    return {
        _pair(TypeKind.INTERVAL, TypeKind.NUMBER): _advise_seconds(),
        _pair(TypeKind.TIMESTAMP, TypeKind.NUMBER): "write INTERVAL '30' DAY for a number of days",
        _pair(TypeKind.DATE, TypeKind.NUMBER): (
            f"write unix_date({language.matched_value}) for days as a number"
        ),
        _pair(TypeKind.DATE, TypeKind.INTERVAL): _advise_cast("TIMESTAMP", " for the date"),
    }


def _pair(*kinds: TypeKind) -> _KindPair:
    """Return the kinds of two values, in any order; a single kind if both values have it."""
    return frozenset(kinds)


def _advise_seconds() -> str:
    """Return advice to compute with seconds instead of lengths of time."""
    language = current_language()
    earlier_seconds = f"unix_timestamp({language.earlier_value})"
    return f"write seconds: unix_timestamp({language.later_value}) - {earlier_seconds}"


def _advise_cast(type_name: str, which_value: str = "") -> str:
    """Return advice to cast one of two values; `which_value` is such as " for the date"."""
    language = current_language()
    example = f"CAST({language.matched_value} AS {type_name}){which_value}"
    return f"write a CAST around {language.value_noun}, such as {example}"


# For each kind of types: an expression that makes a number from the value `{}`.
_NUMBER_EXPRESSIONS = {
    TypeKind.NUMBER: "CAST({} AS DOUBLE)",
    TypeKind.STRING: "CAST({} AS DOUBLE)",
    TypeKind.COLLATED: "CAST({} AS DOUBLE)",
    TypeKind.BOOLEAN: "CAST({} AS DOUBLE)",
    TypeKind.DATE: "unix_date({})",
    TypeKind.TIMESTAMP: "unix_timestamp({})",
    TypeKind.TIMESTAMP_NTZ: "unix_timestamp({})",
}


def find_number_example(type_name: str, value: str) -> str | None:
    """Return an expression that makes a number from a value of a type; None without one.

    >>> find_number_example("timestamp", "A.ts"), find_number_example("array<int>", "A.tags")
    ('unix_timestamp(A.ts)', 'size(A.tags)')
    """
    if type_name.startswith(("array", "map")):
        return f"size({value})"
    expression = _NUMBER_EXPRESSIONS.get(classify_type(type_name))
    return None if expression is None else expression.format(value)


# Names of types in sentences of Sail, which are Arrow's, as regular expressions: Spark's names.
_ARROW_TYPES = {
    r"\b(?:Large)?Utf8(?:View)?\b": "string",
    r"\bInt8\b": "tinyint",
    r"\bInt16\b": "smallint",
    r"\bU?Int32\b": "int",
    r"\bU?Int64\b": "bigint",
    r"\bFloat32\b": "float",
    r"\bFloat64\b": "double",
    r"\bDate32\b": "date",
    r"\bBoolean\b": "boolean",
    r"\bNull\b": "void",
    r"\b(?:Large)?Binary(?:View)?\b": "binary",
    r"\bDecimal128\((\d+), (\d+)\)": r"decimal(\1,\2)",
    r'\bTimestamp\([^(),]*, "[^"]*"\)': "timestamp",
    r"\bTimestamp\([^(),]*\)": "timestamp_ntz",
    r"\bDuration\([^()]*\)": "interval day to second",
    r"\bInterval\(YearMonth\)": "interval year to month",
    r"\bInterval\([^()]*\)": "interval",
}
# The types inside of a list, a map or a struct have Spark's names when these are replaced.
_INNER_TYPE = r"(?:non-null )?([\w<>(),:]+)"
_ARROW_LISTS = re.compile(rf"\b(?:Large)?List\({_INNER_TYPE}\)")
_ARROW_MAPS = re.compile(
    rf'\bMap\("\w+": (?:non-null )?Struct\("\w+": {_INNER_TYPE}, "\w+": {_INNER_TYPE}\), \w+\)'
)
_ARROW_STRUCTS = re.compile(r'\bStruct\(("\w+": [^()]*)\)')


def name_types_as_spark(sentence: str) -> str:
    """Return a sentence of Sail with Spark's names of types instead of Arrow's.

    >>> name_types_as_spark('Timestamp(µs, "UTC") and List(non-null Utf8) and Decimal128(10, 2)')
    'timestamp and array<string> and decimal(10,2)'
    >>> name_types_as_spark('Struct("name": Utf8, "qty": Int32)')
    'struct<name:string,qty:int>'
    >>> name_types_as_spark('Struct("orders": List(Struct("qty": Int32)), "name": Utf8)')
    'struct<orders:array<struct<qty:int>>,name:string>'
    """
    for pattern, name in _ARROW_TYPES.items():
        sentence = re.sub(pattern, name, sentence)
    text_before = ""
    while sentence != text_before:
        text_before = sentence
        sentence = _ARROW_LISTS.sub(r"array<\1>", sentence)
        sentence = _ARROW_MAPS.sub(r"map<\1,\2>", sentence)
        sentence = _ARROW_STRUCTS.sub(_name_struct, sentence)
    return sentence


def _name_struct(match: re.Match[str]) -> str:
    """Return Spark's name of a struct, whose fields have Spark's names already."""
    fields = re.sub(r'"(\w+)": (?:non-null )?', r"\1:", match[1])
    return f"struct<{fields.replace(', ', ',')}>"
