"""Advice on what to write instead of an operator between values of two types."""

from __future__ import annotations

import re

from matchrec.errors.language import current_language

_PLAIN = (
    "compare or combine plain values computed from each, such as to_json(x), size(x) or x.field"
)
_ONE_TYPE = "compute columns of one type in the input, and combine these"
NUMBER_TYPES = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")
_COMPARISONS = ("=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "IF")


def find_operator_hint(operator: str, left: str, right: str) -> str:
    """Return what to write instead of an operator between values of two types.

    Args:
        operator: such as `+` or `<`; IF for the branches of a conditional.
        left: the type of the left value, such as `decimal(18,2)`.
        right: the type of the right value.

    >>> find_operator_hint("=", "boolean", "int")
    'write a CAST around one navigation, such as CAST(LAST(A.x) AS INT) for the boolean'
    """
    kinds = {classify_type(left), classify_type(right)}
    without_time_zone = {name.removesuffix("_ntz") for name in kinds}
    for pair in (kinds, without_time_zone):
        hint = _find_hint_for_kinds(" ".join(sorted(pair)), operator in _COMPARISONS)
        if hint is not None:
            return hint
    if kinds == {"number"} or kinds == {"string"}:
        return _advise_cast("DOUBLE")
    if kinds == {"collated"} or kinds == {"collated", "string"}:
        words = current_language()
        return (
            f"compare CAST({words.value_before} AS STRING) with CAST({words.current_value} AS "
            "STRING), both in lower(...) if the collation ignores case"
        )
    if "string" in kinds and not kinds & {"other", "collated"}:
        (other,) = (name for name in (left, right) if classify_type(name) != "string")
        type_name = "DOUBLE" if classify_type(other) == "number" else other.upper()
        return _advise_cast(type_name, " for the string")
    return _PLAIN if "other" in kinds else _ONE_TYPE


def _find_hint_for_kinds(kinds: str, is_comparison: bool) -> str | None:
    """Return what to write for two values of certain kinds of types; None for other kinds.

    Args:
        kinds: the two kinds in alphabetical order, or the kind of both values.
        is_comparison: whether the operator compares the values.
    """
    words = current_language()
    hint = None if is_comparison else _find_computation_hint(kinds)
    if hint is not None:
        return hint
    match kinds:
        case "interval number":
            return (
                "write INTERVAL '30' DAY for a number of days, or compare "
                f"datediff({words.later_value}, {words.earlier_value})"
            )
        case "interval string":
            return "write INTERVAL '10' MINUTE for the string"
        case "months number":
            return "write INTERVAL '3' MONTH for a number of months"
        case "date number":
            return f"write a date for the number, or unix_date({words.matched_value}) for days"
        case "number timestamp":
            seconds = f"unix_timestamp({words.matched_value})"
            return f"write a timestamp for the number, or {seconds} for seconds"
        case "date timestamp":
            return _advise_cast("TIMESTAMP", " for the date")
        case "date timestamp_ntz":
            return _advise_cast("TIMESTAMP_NTZ", " for the date")
        case "timestamp timestamp_ntz":
            return _advise_cast("TIMESTAMP", " for the timestamp_ntz")
        case "boolean number":
            return _advise_cast("INT", " for the boolean")
        case "binary string":
            return _advise_cast("STRING", " for the binary")
    return _find_hint_for_times(kinds)


def _find_computation_hint(kinds: str) -> str | None:
    """Return what to write for two kinds of types and an operator that is not a comparison.

    Returns None if the operator makes no difference.
    """
    words = current_language()
    match kinds:
        case "interval number":
            return _advise_seconds()
        case "number timestamp":
            return "write INTERVAL '30' DAY for a number of days"
        case "date number":
            return f"write unix_date({words.matched_value}) for days as a number"
        case "date interval":
            return _advise_cast("TIMESTAMP", " for the date")
        case _:
            return None


def _find_hint_for_times(kinds: str) -> str | None:
    """Return what to write for two times, or for a time and a length of time; None for others."""
    words = current_language()
    match kinds:
        case "date interval" | "interval timestamp" | "timestamp":
            difference = f"{words.current_value} - {words.value_before} > INTERVAL '30' DAY"
            return f"write the difference of two times: {difference}"
        case "date":
            return (
                f"write the days between them: datediff({words.later_value}, {words.earlier_value})"
            )
        case "interval":
            return _advise_seconds()
        case "time":
            value = words.matched_value
            return f"write minutes of the day: 60 * hour({value}) + minute({value})"
        case _:
            return None


def _advise_seconds() -> str:
    """Return advice to compute with seconds instead of lengths of time."""
    words = current_language()
    earlier_seconds = f"unix_timestamp({words.earlier_value})"
    return f"write seconds: unix_timestamp({words.later_value}) - {earlier_seconds}"


def _advise_cast(type_name: str, which_value: str = "") -> str:
    """Return advice to cast one of two values; `which_value` is such as " for the date"."""
    words = current_language()
    example = f"CAST({words.matched_value} AS {type_name}){which_value}"
    return f"write a CAST around {words.value_noun}, such as {example}"


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
_ARROW_LISTS = re.compile(r"\b(?:Large)?List\((?:non-null )?([\w<>(),]+)\)")
_ARROW_MAPS = re.compile(
    r'\bMap\("\w+": (?:non-null )?Struct\("\w+": (?:non-null )?([\w<>(),]+), '
    r'"\w+": (?:non-null )?([\w<>(),]+)\), \w+\)'
)
_ARROW_STRUCTS = re.compile(r'\bStruct\(("\w+": [^()]*)\)')


def name_types_as_spark(sentence: str) -> str:
    """Return a sentence of Sail with Spark's names of types instead of Arrow's.

    >>> name_types_as_spark('Timestamp(µs, "UTC") and List(non-null Utf8) and Decimal128(10, 2)')
    'timestamp and array<string> and decimal(10,2)'
    >>> name_types_as_spark('Struct("name": Utf8, "qty": Int32)')
    'struct<name:string,qty:int>'
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
