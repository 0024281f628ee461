"""What a conjunct of DEFINE says of how far a row lies after the first one, along the order.

    C.ts - V.ts <= 1800        C.ts < V.ts + INTERVAL '1' HOUR        C.ts - 1800 <= FIRST(ts)

For a first row each of them holds of the rows up to some row after it: rows ascend, and so do
differences and sums, rounded or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

from matchrec.conditions.forms import is_bare
from matchrec.dataclass import dataclass
from matchrec.plan.clauses import Form
from matchrec.plan.expression import Operation, Reference, Scalar, references, render
from matchrec.plan.text.amounts import Amount, amount

NEAR_FIRST = {"<": "<", "<=": "<=", ">": "<", ">=": "<="}
"""How two values compare, once the smaller one stands first."""
MOST = 2**31  # a product of INT is smaller


class Row(Enum):
    """A row whose order value a conjunct reads."""

    CURRENT = "the current row"
    FIRST = "the first row of the match"


RowOf = Callable[[Reference], Row | None]


@dataclass(frozen=True, slots=True)
class Bound:
    """The current row lies so far after the first one at most, or less where it is strict."""

    form: Form
    amount: Amount
    written: str
    strict: bool


@dataclass(frozen=True, slots=True)
class NotBefore:
    """The current row does not lie before the first one; zero: with what that is compared."""

    zero: Amount | None


def read_distance(conjunct: Scalar, row_of: RowOf) -> Bound | NotBefore | None:
    """What a conjunct says, if that is all it says. row_of: whose order value a reference reads."""
    if not isinstance(conjunct, Operation):
        return None
    if conjunct.operator == "BETWEEN":
        value, low, high = conjunct.operands
        least, most = compared("<=", low, value, row_of), compared("<=", value, high, row_of)
        if not isinstance(least, NotBefore) or not isinstance(most, Bound):
            return None
        alike = least.zero is None or least.zero.is_time is most.amount.is_time
        return most if alike else None
    if conjunct.operator not in NEAR_FIRST:
        return None
    left, right = conjunct.operands
    near, far = (left, right) if conjunct.operator in ("<", "<=") else (right, left)
    return compared(NEAR_FIRST[conjunct.operator], near, far, row_of)


def compared(operator: str, near: Scalar, far: Scalar, row_of: RowOf) -> Bound | NotBefore | None:
    """What `near < far` or `near <= far` says."""
    for form, length in lengths(near, far, row_of):
        found = constant(length)
        if found is not None:
            return Bound(form, found, render(length, str).strip("() "), operator == "<")
    if operator == "<=" and rows((near, far), row_of) == (Row.FIRST, Row.CURRENT):
        return NotBefore(None)
    zero = constant(near)
    if operator == "<=" and zero is not None and not zero.value and is_difference(far, row_of):
        return NotBefore(zero)
    return None


def lengths(near: Scalar, far: Scalar, row_of: RowOf) -> Iterator[tuple[Form, Scalar]]:
    """What would be the distance in `near < far`, by the forms that it may have."""

    def in_order(current: Scalar, first: Scalar) -> bool:
        return rows((current, first), row_of) == (Row.CURRENT, Row.FIRST)

    match near:
        case Operation(operator="-", operands=(left, right)):
            if in_order(left, right):
                yield Form.DIFFERENCE, far
            if in_order(left, far):
                yield Form.LESS, right
        case Operation(operator="DATEDIFF", operands=(left, right), words=()):
            if in_order(left, right):
                yield Form.DAYS, far
    match far:
        case Operation(operator="+", operands=(left, right)):
            if in_order(near, left):
                yield Form.SUM, right
            if in_order(near, right):
                yield Form.SUM, left


def is_difference(scalar: Scalar, row_of: RowOf) -> bool:
    """Whether it is `current - first`."""
    match scalar:
        case Operation(operator="-", operands=parts):
            return rows(parts, row_of) == (Row.CURRENT, Row.FIRST)
    return False


def rows(scalars: tuple[Scalar, ...], row_of: RowOf) -> tuple[Row | None, ...]:
    """The rows whose order values these are."""
    found = (references(one)[0] if is_bare(one) else None for one in scalars)
    return tuple(None if one is None else row_of(one) for one in found)


def constant(scalar: Scalar) -> Amount | None:
    """How much a constant is: a number, an interval or a product of whole numbers."""
    if references(scalar):
        return None
    if not (isinstance(scalar, Operation) and scalar.operator == "*"):
        return amount(render(scalar, str))
    left, right = (constant(one) for one in scalar.operands)
    if left is None or right is None or left.is_time or right.is_time:
        return None
    product = left.value * right.value
    exact = left.value.denominator == right.value.denominator == 1 and product < MOST
    return Amount(product) if exact else None
