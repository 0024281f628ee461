"""Find the types of expressions without asking the session.

A message to a session takes longer than most steps of planning. Some expressions need none: every
session accepts them, and their type is the same whatever the settings are.

    `price` >= 90 AND `sym` = 'X'        a test: BOOLEAN
    FIRST(price) - LAST(price) + 1       a number: DOUBLE if price is DOUBLE

Everything else is left to the session. Both functions replace the parts of an expression by
letters, and then apply rules to the letters until one letter is left:

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
    | :(?P<marker>[A-Za-z_]\w*)
    | (?P<number>-?\d{1,18}(?:\.\d{1,18})?)(?![\w.])
    | (?P<text>'[^'\\]*')
    | (?P<compares><=|>=|<>|!=|=|<|>)
    | (?P<joins>AND\b|OR\b)
    | (?P<negates>NOT\b)
    | (?P<truth>TRUE\b|FALSE\b)
    | (?P<opens>\()
    | (?P<closes>\))
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)

# The letters of the parts: a number, a text, a test, and what is between them.
NUMBER, TEXT, TEST = "n", "s", "b"
LETTERS = {
    "number": NUMBER,
    "text": TEXT,
    "truth": TEST,
    "compares": "=",
    "joins": "&",
    "negates": "!",
    "opens": "(",
    "closes": ")",
}

# What is replaced by a letter. An operand of a comparison is no operand of another one.
TEST_RULES = {
    r"\(([nsb])\)": r"\1",
    r"(?<!=)(?:n=n|s=s)(?!=)": TEST,
    r"!b(?!=)": TEST,
    r"b(?:&b)+(?!=)": TEST,
}
NUMBER_RULES = {r"\(n\)": NUMBER, r"n[-+*]n": NUMBER}

# The types of numbers that are added, subtracted and multiplied: the result has the later type.
NUMBER_TYPES: Sequence[DataType] = (IntegerType(), LongType(), DoubleType())

# The text between two operands. Whole numbers in it are short enough for an INT.
ARITHMETIC = re.compile(r"(?:[-+*()\s]|\b\d{1,9}\b)*")


def is_plain_test(text: str, type_of: Callable[[str], DataType | None]) -> bool:
    """Return whether a text only compares numbers with numbers and texts with texts.

    >>> is_plain_test("(`a` >= 90) AND (`b` = 'X')", {"`a`": FloatType(), "`b`": StringType()}.get)
    True
    >>> is_plain_test("`b` >= 90", {"`b`": StringType()}.get)
    False

    Args:
        text: SQL of a test over one row.
        type_of: returns the type of a column or of a marker, `:name`; None if it is not known.
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
            letters.append(letter_of_type(type_of(part[0].strip())))
    return apply_rules(TEST_RULES, "".join(letters)) == TEST


def letter_of_type(type_: DataType | None) -> str:
    """Return the letter of an operand of some type; `?` for types that are not compared here."""
    if isinstance(type_, IntegralType | FloatType | DoubleType):
        return NUMBER
    return TEXT if type_ == StringType() else "?"


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
    """Return letters with everything replaced that the rules replace.

    >>> apply_rules(TEST_RULES, "(n=n)&!(s=s)"), apply_rules(TEST_RULES, "(n=n&n)=n")
    ('b', '(b&n)=n')
    """
    shorter = letters
    for form, letter in rules.items():
        shorter = re.sub(form, letter, shorter)
    return shorter if shorter == letters else apply_rules(rules, shorter)
