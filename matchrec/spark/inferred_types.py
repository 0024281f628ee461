"""Find the types of expressions without asking the session.

A message to a session takes longer than most steps of planning. Some expressions need none: every
session accepts them, and their type is the same whatever the settings are.

    `price` >= 90 AND `sym` = 'X'        a test: BOOLEAN
    FIRST(price) - LAST(price) + 1       a number: DOUBLE if price is DOUBLE

The session is asked about every other expression. `is_plain_test` and `find_number_type` write one
letter for each part of an expression, such as `n` for a number, and shorten the letters by rules.
They know the type if one letter is left:

    `price` >= 90 AND `sym` = 'X'   →   n=n&s=s   →   b&b   →   b
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql.types import (
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    IntegralType,
    LongType,
    StringType,
)

# The parts of a test. Numbers are short enough for a BIGINT and a DECIMAL(38, 18).
PART = re.compile(
    r"""\s*(?:
    (?P<column>`(?:[^`]|``)+`)
    | :(?P<parameter>[A-Za-z_]\w*)
    | (?P<number>-?\d{1,18}(?:\.\d{1,18})?)(?![\w.])
    | (?P<text>'[^'\\]*')
    | (?P<comparison><=|>=|<>|!=|=|<|>)
    | (?P<connective>AND\b|OR\b)
    | (?P<negation>NOT\b)
    | (?P<truth_value>TRUE\b|FALSE\b)
    | (?P<opening>\()
    | (?P<closing>\))
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)

# The letters of operands.
NUMBER, TEXT, TEST, OTHER = "n", "s", "b", "?"
# The letters of the groups of PART. Columns and parameters have the letter of their type.
LETTERS = {
    "number": NUMBER,
    "text": TEXT,
    "truth_value": TEST,
    "comparison": "=",
    "connective": "&",
    "negation": "!",
    "opening": "(",
    "closing": ")",
}

# Regular expressions, and the letter that replaces what they match. They match no operand that
# could belong to two comparisons, as in `a = b = c`, because the session decides what that means.
TEST_RULES = {
    r"\(([nsb])\)": r"\1",
    r"(?<!=)(?:n=n|s=s)(?!=)": TEST,
    r"!b(?!=)": TEST,
    r"b(?:&b)+(?!=)": TEST,
}
NUMBER_RULES = {r"\(n\)": NUMBER, r"n[-+*]n": NUMBER}

# The types of numbers that are added, subtracted and multiplied: the result has the later type.
NUMBER_TYPES: Sequence[DataType] = (IntegerType(), LongType(), DoubleType())

# A text between operands that have types. Whole numbers in it are short enough for an INT.
ARITHMETIC = re.compile(r"(?:[-+*()\s]|\b\d{1,9}\b)*")


def is_plain_test(text: str, find_type: Callable[[str], DataType | None]) -> bool:
    """Return whether a text is a test that every session accepts.

    Such a test compares numbers with numbers and texts with texts. AND, OR and NOT may join
    comparisons.

    >>> is_plain_test("(`a` >= 90) AND (`b` = 'X')", {"`a`": FloatType(), "`b`": StringType()}.get)
    True
    >>> is_plain_test("`b` >= 90", {"`b`": StringType()}.get)
    False

    Args:
        text: SQL of a test over one row.
        find_type: returns the type of a column or of a parameter, `:name`; None if it is not known.
    """
    letters = []
    position = 0
    while position < len(text):
        part = PART.match(text, position)
        if part is None or part.lastgroup is None:
            return False
        position = part.end()
        if part.lastgroup in LETTERS:
            letters.append(LETTERS[part.lastgroup])
        else:
            letters.append(find_letter(find_type(part[0].strip())))
    return apply_rules(TEST_RULES, "".join(letters)) == TEST


def find_letter(type_: DataType | None) -> str:
    """Return the letter of an operand by its type; OTHER if the type is neither NUMBER nor TEXT."""
    if isinstance(type_, IntegralType | FloatType | DoubleType):
        return NUMBER
    return TEXT if type_ == StringType() else OTHER


def find_number_type(parts: Sequence[str | DataType]) -> DataType | None:
    """Return the type of sums, differences and products of numbers; None for anything else.

    >>> find_number_type([IntegerType(), " - ", LongType(), " + 1"])
    LongType()
    >>> find_number_type([IntegerType(), " / 2"])

    Args:
        parts: the expression: texts, and the types of the operands between them.
    """
    letters = ""
    types: list[DataType] = []
    for part in parts:
        if isinstance(part, DataType):
            letters += NUMBER
            types.append(part)
        elif ARITHMETIC.fullmatch(part):
            letters += re.sub(r"\s", "", re.sub(r"\d+", NUMBER, part))
        else:
            return None
    if not all(type_ in NUMBER_TYPES for type_ in types):
        return None
    if not types or apply_rules(NUMBER_RULES, letters) != NUMBER:
        return None
    return max(types, key=NUMBER_TYPES.index)


def apply_rules(rules: Mapping[str, str], letters: str) -> str:
    """Apply rules to letters until no rule changes them.

    >>> apply_rules(TEST_RULES, "(n=n)&!(s=s)"), apply_rules(TEST_RULES, "(n=n&n)=n")
    ('b', '(b&n)=n')
    """
    shorter = letters
    for matched, letter in rules.items():
        shorter = re.sub(matched, letter, shorter)
    return shorter if shorter == letters else apply_rules(rules, shorter)
