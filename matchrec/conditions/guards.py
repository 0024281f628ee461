"""Guards: conditions on a row under which something is asked of it at all.

    x <> 0 AND 10 / x < A.y             →   CASE WHEN x <> 0 THEN 10 / x END < A.y
    A AS z > 0, B AS sum(1 / A.z) > 2   →   sum(CASE WHEN z > 0 THEN 1 / z END) > 2

What Spark computes for every row before the match must not fail on rows on which the condition
would not have come to it, or to which its variable is not mapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from matchrec.plan.expression import (
    ColumnReference,
    Operation,
    Scalar,
    Term,
    complement,
    conjuncts,
    joined,
    looks_at_columns_only,
    negation,
    references,
    row_text,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import without_quotes

_SUM = re.compile(r"(?<!\d[eE])[-+*](?!>)|\b(?:ABS|NEGATIVE)\b", re.IGNORECASE)
_PARTIAL = re.compile(
    r"/(?!\s*[\d.]*[1-9])|%(?!\s*[\d.]*[1-9])|\[|::|\bDIV\b|\b(?:[IR]?LIKE|REGEXP)\b(?!\s*'')",
    re.IGNORECASE,
)
"""A divisor that may be zero, an element, a cast, a pattern that is no literal."""

_QUERY = re.compile(r"\bSELECT\b", re.IGNORECASE)
_CALL = re.compile(r"(?:([\w.]+)|'')\s*\(")

_KEYWORDS = """
    ALL AND ANY AS BETWEEN BY CASE DISTINCT ELSE ESCAPE FALSE FROM ILIKE IN IS LIKE NOT NULL OF
    OR OVER REGEXP RLIKE SOME THEN TRUE WHEN WHERE
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Words before a parenthesis that are no functions."""

_TOTAL = """
    ABS NEGATIVE BTRIM CHARACTER_LENGTH CHAR_LENGTH CONCAT CONCAT_WS CONTAINS ENDSWITH INITCAP
    INSTR LCASE LEFT LEN LENGTH LEVENSHTEIN LOCATE LOWER LPAD LTRIM POSITION REPLACE REVERSE
    RIGHT RPAD RTRIM SOUNDEX STARTSWITH SUBSTR SUBSTRING SUBSTRING_INDEX TRANSLATE TRIM UCASE
    UPPER ASCII BASE64 BIT_LENGTH CRC32 HASH HEX MD5 OCTET_LENGTH SHA SHA1 SHA2 XXHASH64
    COALESCE EQUAL_NULL GREATEST IF IFNULL ISNAN ISNOTNULL ISNULL LEAST NANVL NULLIF NULLIFZERO
    NVL NVL2 ZEROIFNULL ACOS ACOSH ASIN ASINH ATAN ATAN2 ATANH CBRT CEIL CEILING COS COSH COT
    CSC DEGREES EXP EXPM1 FLOOR HYPOT LN LOG LOG10 LOG1P LOG2 POW POWER RADIANS RINT SEC SIGN
    SIGNUM SIN SINH SQRT TAN TANH DATEDIFF DATE_ADD DATE_DIFF DATE_PART DATE_SUB DATE_TRUNC DAY
    DAYNAME DAYOFMONTH DAYOFWEEK DAYOFYEAR EXTRACT HOUR LAST_DAY MINUTE MONTH MONTHNAME
    MONTHS_BETWEEN QUARTER SECOND TIMESTAMPDIFF TRUNC UNIX_DATE UNIX_MICROS UNIX_MILLIS
    UNIX_SECONDS WEEKDAY WEEKOFYEAR YEAR ARRAY ARRAYS_OVERLAP ARRAY_CONTAINS ARRAY_DISTINCT
    ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN ARRAY_POSITION ARRAY_SIZE
    ARRAY_UNION CARDINALITY FLATTEN GET MAP_CONTAINS_KEY MAP_KEYS MAP_VALUES NAMED_STRUCT SIZE
    SORT_ARRAY STRUCT AGGREGATE EXISTS FILTER FORALL REDUCE TRANSFORM COUNT FIRST_VALUE
    LAST_VALUE MAX MIN CURRENT_DATE CURRENT_TIMESTAMP LOCALTIMESTAMP NOW
"""
TOTAL = KEYWORDS | frozenset(_TOTAL.split())
"""What has a result for all values of the types that it takes, but for sums that are too large.

Any other function may fail: a cast, one that reads a text, one of the user's own.
"""


def may_fail(scalar: Scalar) -> bool:
    """Whether an expression may have no result under ANSI, by its functions and operators."""
    texts = (
        piece.argument if isinstance(piece, ColumnReference) else piece
        for piece in scalar.pieces
        if isinstance(piece, str | ColumnReference)
    )
    return any(map(text_may_fail, texts))


def text_may_fail(text: str) -> bool:
    """Whether SQL over one row may have no result under ANSI."""
    return is_partial(text) or _SUM.search(without_quotes(text)) is not None


def is_partial(text: str) -> bool:
    """Whether SQL over one row may fail but for its sums, which may be too large for their type."""
    plain = without_quotes(text)
    return _PARTIAL.search(plain) is not None or not all(map(is_total, _CALL.findall(plain)))


def is_total(name: str) -> bool:
    """Whether a function, by its name, or a word never fails; one in backticks has no name here."""
    known = name.upper()
    return known in TOTAL or known.startswith("TRY_")


def takes_long(text: str) -> bool:
    """Whether SQL over one row calls a function, which may be the user's own, or has a query."""
    plain = without_quotes(text)
    calls = any(name.upper() not in KEYWORDS for name in _CALL.findall(plain))
    return calls or _QUERY.search(plain) is not None


def holds_of_rows(plan: MatchPlan, variable: str | None) -> Scalar | None:
    """What holds of each row that is mapped to a variable, as SQL over that row; None: nothing."""
    names = [plan.variables[member] for member in sorted(plan.members(variable))]
    known = [_row_condition(plan, name) for name in names]
    found = [one for one in dict.fromkeys(known) if one is not None]
    return joined("OR", found) if found and None not in known else None


def _row_condition(plan: MatchPlan, variable: str) -> Term | None:
    """What the condition of a variable asks of the row alone, but for what takes long to ask."""
    conditions = (one.condition for one in plan.definitions if one.variable == variable)
    parts = [part for condition in conditions for part in conjuncts(condition)]
    texts = [row_text(part) for part in parts if _is_of_row(plan, variable, part)]
    quick = [text for text in texts if not takes_long(text)]
    text = quick[0] if len(quick) == 1 else " AND ".join(f"({one})" for one in quick)
    return Term((text,), parts[0].span) if quick else None


def _is_of_row(plan: MatchPlan, variable: str, part: Scalar) -> bool:
    """Whether a part of the condition of a variable looks at the row alone."""
    own = plan.ids[variable]
    places = [one.navigation for one in references(part) if isinstance(one, ColumnReference)]
    return looks_at_columns_only(part) and all(
        one.is_last and not one.physical_offset and own in plan.members(one.variable)
        for one in places
    )


def guard(guards: Sequence[Scalar], scalar: Scalar) -> Scalar:
    """The expression where all guards hold, in their order; NULL elsewhere."""
    if not guards:
        return scalar
    parts = "CASE WHEN ", joined("AND", guards), " THEN ", scalar, " END"
    return Operation("CASE", parts, scalar.span)


def guards_of(operation: Operation) -> Iterator[tuple[Scalar, ...]]:
    """For each operand, what of those before it must hold for it to be asked."""
    operands = operation.operands
    if operation.operator in ("IF", "CASE"):
        return _of_branches(operands)
    passed = _PASSED.get(operation.operator)
    hold = () if passed is None else tuple(map(passed, operands))
    return (hold[:place] for place in range(len(operands)))


def _of_branches(operands: Sequence[Scalar]) -> Iterator[tuple[Scalar, ...]]:
    """Of a condition or a value of CASE: earlier conditions fail, that of the value holds."""
    conditions = operands[0::2]
    failing = tuple(map(complement, conditions))
    for place in range(len(operands)):
        branch, is_value = divmod(place, 2)
        yield (*failing[:branch], *(conditions[branch : branch + 1] if is_value else ()))


def _unknown(scalar: Scalar) -> Operation:
    return Operation("IS NULL", ("(", scalar, ") IS NULL"), scalar.span)


_PASSED: Mapping[str, Callable[[Scalar], Scalar]] = {
    "AND": lambda one: complement(negation(one)),
    "OR": complement,
    **dict.fromkeys(("COALESCE", "NVL", "IFNULL"), _unknown),
}
"""What must hold of an operand for the next one to be asked."""
