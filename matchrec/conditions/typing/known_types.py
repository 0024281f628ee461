"""Find the types of expressions without asking the session.

A message to a session takes longer than most steps of planning. Some expressions need none: every
session accepts them, and their type is the same whatever the settings are.

    price >= 90 AND sym = 'X'          a test: BOOLEAN
    FIRST(price) - LAST(price) + 1     a number: DOUBLE if price is DOUBLE

The session is asked about every other expression. The other modules of this package type the
conditions that the search computes, after the session has said which types their columns have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    NUMBERS,
    STRING,
    Family,
    ValueType,
    build_decimal_type,
)
from matchrec.plan.expression import COMPARISONS, Operation, Reference, Scalar, Term

# Returns the type of a reference or of a parameter, `:name`; None if it is not known.
FindLeafType = Callable[[Reference | str], ValueType | None]

# The types of numbers that are added, subtracted and multiplied: the result has the later type.
# FLOAT is not among them, because ANSI mode decides the type of a FLOAT plus an integer.
ARITHMETIC_TYPES = (INT, BIGINT, DOUBLE)

# The families of columns and parameters whose comparisons are the same in every engine. Engines
# differ in which columns of decimals and times they compare with what.
PLAIN_FAMILIES = frozenset({Family.BOOLEAN, Family.INTEGER, Family.FLOATING, Family.STRING})

LOGIC = frozenset({"AND", "OR", "NOT"})
ARITHMETIC_OPERATORS = frozenset({"+", "-", "*"})

# The magnitude of the least INT, -2147483648. The number without its sign does not fit an INT, and
# engines differ in whether they read the sign as a part of the number.
MIN_INT_MAGNITUDE = 1 << 31

# Numbers are short enough for a BIGINT and a DECIMAL(38, 18).
LITERAL = re.compile(
    r"""(?P<text>'[^'\\]*')
    | (?P<truth_value>TRUE|FALSE)
    | (?P<double>-?\d{1,18}(?:\.\d{1,18})?D)
    | -?(?P<whole>\d{1,18})(?:\.(?P<fraction>\d{1,18}))?""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)


def find_known_type(scalar: Scalar, find_leaf_type: FindLeafType) -> ValueType | None:
    """Return the type of an expression; None if only the session knows it.

    >>> from matchrec.plan.build_expressions import make_number
    >>> from matchrec.source import Span
    >>> one, large = make_number(1, Span(0, 0)), make_number(1 << 40, Span(0, 0))
    >>> total = Operation("+", (one, " + ", large), Span(0, 0))
    >>> find_known_type(total, find_leaf_type=lambda leaf: None).name
    'bigint'
    >>> quotient = Operation("/", (one, " / ", large), Span(0, 0))
    >>> print(find_known_type(quotient, find_leaf_type=lambda leaf: None))
    None

    Args:
        scalar: the expression.
        find_leaf_type: returns the types of what the expression reads.
    """
    if isinstance(scalar, Term):
        return find_term_type(scalar, find_leaf_type)
    types = []
    for operand in scalar.operands:
        type_ = find_known_type(operand, find_leaf_type)
        if type_ is None:
            return None
        types.append(type_)
    return find_operation_type(scalar, types)


def find_operation_type(operation: Operation, types: Sequence[ValueType]) -> ValueType | None:
    """Return the type of an operation; None if only the session knows it.

    Args:
        operation: the operation.
        types: the types of its operands.
    """
    operator = operation.operator
    if operator in LOGIC:
        return BOOLEAN if all(type_ == BOOLEAN for type_ in types) else None
    if operator in COMPARISONS:
        families = {type_.family for type_ in types}
        are_comparable = families <= NUMBERS or families == {Family.STRING}
        return BOOLEAN if are_comparable else None
    if operator in ARITHMETIC_OPERATORS and all(type_ in ARITHMETIC_TYPES for type_ in types):
        return max(types, key=ARITHMETIC_TYPES.index)
    return None


def find_term_type(term: Term, find_leaf_type: FindLeafType) -> ValueType | None:
    """Return the type of a reference, a parameter or a literal, perhaps in parentheses.

    None if the text is anything else, or if its type is not known.
    """
    leaves: list[Reference | str] = []
    for piece in term.pieces:
        leaf = piece.strip("() \n\t") if isinstance(piece, str) else piece
        if leaf != "":
            leaves.append(leaf)
    if len(leaves) != 1:
        return None
    (leaf,) = leaves
    if isinstance(leaf, str) and not leaf.startswith(":"):
        return find_literal_type(leaf)
    type_ = find_leaf_type(leaf)
    return type_ if type_ is not None and type_.family in PLAIN_FAMILIES else None


def find_literal_type(text: str) -> ValueType | None:
    """Return the type of a literal; None if it is unusual, or if the text is not a literal.

    >>> [find_literal_type(text).name for text in ("90", "-3000000000", "0.5", "2D", "'X'")]
    ['int', 'bigint', 'decimal(1,1)', 'double', 'string']
    >>> [find_literal_type(text) for text in ("1e3", "x", "'it''s'")]
    [None, None, None]
    """
    literal = LITERAL.fullmatch(text)
    if literal is None:
        return None
    match literal.lastgroup:
        case "text":
            return STRING
        case "truth_value":
            return BOOLEAN
        case "double":
            return DOUBLE
        case "fraction":
            digits = literal["whole"].lstrip("0") + literal["fraction"]
            return build_decimal_type(len(digits), len(literal["fraction"]))
    # only a number without a fraction is left, whose last group is "whole"
    number = int(literal["whole"])
    if number == MIN_INT_MAGNITUDE:
        return None
    return INT if number < MIN_INT_MAGNITUDE else BIGINT
