"""The operations that the engine has, by the names by which Spark calls them."""

from __future__ import annotations

from enum import Enum


class Reduction(Enum):
    """The aggregates that grow with a run."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


class MathFunction(Enum):
    """Functions of floats, by the names by which Spark calls them."""

    SQRT = "SQRT"
    EXP = "EXP"
    LN = "LN"
    LOG = "LOG"
    LOG2 = "LOG2"
    LOG10 = "LOG10"
    POWER = "POWER"
    SIGN = "SIGN"
    FLOOR = "FLOOR"
    CEILING = "CEIL"
    ROUND = "ROUND"
    RADIANS = "RADIANS"
    SIN = "SIN"
    COS = "COS"
    ASIN = "ASIN"
    ACOS = "ACOS"


class Comparison(Enum):
    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"


class ArithmeticOperator(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"
    BIT_AND = "&"
    BIT_OR = "|"
    BIT_XOR = "^"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"
    SHIFT_RIGHT_UNSIGNED = "SHIFTRIGHTUNSIGNED"


SHIFTS = frozenset(
    {
        ArithmeticOperator.SHIFT_LEFT,
        ArithmeticOperator.SHIFT_RIGHT,
        ArithmeticOperator.SHIFT_RIGHT_UNSIGNED,
    }
)
BITWISE = SHIFTS | {
    ArithmeticOperator.BIT_AND,
    ArithmeticOperator.BIT_OR,
    ArithmeticOperator.BIT_XOR,
}
"""Those of the bits of integers, which have a result for all of them."""
