"""Explain an engine's error in our words, if a regular expression recognises its sentence.

Spark and Sail describe a mistake in their own words, show rewritten expressions, and often say
neither where the mistake is nor what to write. `_EXPLANATIONS` has each sentence of Spark that we
say better, with the function that explains it. In the arguments, `sentence` is the main sentence of
an engine's error, without its location and the name of its condition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql.call_hints import SPARK_FUNCTIONS
from matchrec.errors.sql.type_kinds import TypeKind, classify_type
from matchrec.errors.sql.type_mismatches import find_number_example
from matchrec.errors.sql.types_and_literals import find_spark_type_hint, write_literal_hint
from matchrec.errors.wording import join_alternatives, join_lines


@dataclass(frozen=True, slots=True)
class EngineErrorExplanation:
    """An engine's error in our words.

    "The `upper` requires 1 parameters but the actual number is 2" becomes the sentence
    "`upper` takes 1 argument, not 2" and a hint with a link to the list of functions.
    """

    # What is wrong.
    sentence: str
    # What to write instead.
    hint: str


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
    return EngineErrorExplanation(f"unknown type {name}", find_spark_type_hint(name))


def _explain_interval(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that the text of an INTERVAL is malformed, or its number too large."""
    text = match["text"].strip()
    hint = "write a number that fits into its unit, such as INTERVAL '10' MINUTE"
    return EngineErrorExplanation(f"{text} is too large or malformed for an INTERVAL", hint)


def _explain_literal(literal: re.Match[str]) -> EngineErrorExplanation:
    """Explain that the text of a literal, such as `DATE'tomorrow'`, is not a value of its type."""
    type_name = literal["type"].upper()
    return EngineErrorExplanation(
        f"{literal['text']} is not a valid {type_name}", write_literal_hint(type_name)
    )


def _explain_struct_field(match: re.Match[str]) -> EngineErrorExplanation:
    """Explain that a struct has no field of this name."""
    name = match["name"]
    fields = re.findall(r"`([^`]+)`", match["fields"])
    near = find_nearest(name, fields)
    hint = f"write {near}" if near else f"write one of its fields: {', '.join(fields)}"
    return EngineErrorExplanation(f"unknown field `{name}` of a struct", hint)


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


# Errors whose sentence does not say what they are about, but the user's text does.

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
    """
    return (
        _explain_in_subquery(sentence, text)
        or _explain_type_without_length(sentence, text)
        or _explain_list_of_patterns(sentence, text)
    )


def _explain_in_subquery(sentence: str, text: str) -> EngineErrorExplanation | None:
    """Explain `x IN (SELECT ...)`; None for other texts and errors."""
    array_test = _write_in_subquery(text)
    if array_test is None or not sentence.startswith("IN (SELECT"):
        return None
    return EngineErrorExplanation(sentence, f"write {array_test}")


def _explain_type_without_length(sentence: str, text: str) -> EngineErrorExplanation | None:
    """Explain CAST(x AS VARCHAR), which needs a length; None for other texts and errors.

    >>> error_text = "Syntax error at or near ')'"
    >>> _explain_type_without_length(error_text, "CAST(x AS VARCHAR) = 'A'").sentence
    'VARCHAR has no length'
    >>> _explain_type_without_length(error_text, "CAST(x AS VARCHAR(2)))")
    """
    type_name = _TYPE_WITHOUT_LENGTH.search(text)
    if type_name is None or not _ABOUT_LENGTH.search(sentence):
        return None
    name = type_name["name"].upper()
    return EngineErrorExplanation(
        f"{name} has no length", f"write STRING, or {name}(10) for at most 10 characters"
    )


def _explain_list_of_patterns(sentence: str, text: str) -> EngineErrorExplanation | None:
    """Explain `x LIKE ANY (...)`; None for other texts and errors.

    >>> _explain_list_of_patterns("a call to 'bool_or' function", "x LIKE ANY ('A', 'B')").hint
    "write one LIKE for each pattern: x LIKE 'a' OR x LIKE 'b'"
    """
    patterns = _LIST_OF_PATTERNS.search(text)
    if patterns is None or not _ABOUT_LIST_OF_PATTERNS.search(sentence):
        return None
    like = join_lines(patterns["like"].upper())
    operator = "AND" if patterns["all_or_any"].upper() == "ALL" else "OR"
    return EngineErrorExplanation(
        f"{join_lines(patterns['words'].upper())} is not supported",
        f"write one {like} for each pattern: x {like} 'a' {operator} x {like} 'b'",
    )
