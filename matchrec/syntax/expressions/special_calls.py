"""Read calls whose parentheses enclose more than values: types, units, words between arguments.

Each call becomes an operation, which may have words: arguments that are not values.

    CAST(x AS DECIMAL(10, 2))     CAST(x), word DECIMAL(10,2)
    TIMESTAMPDIFF(MINUTE, a, b)   TIMESTAMPDIFF(a, b), word MINUTE
    EXTRACT(HOUR FROM x)          EXTRACT(x), word HOUR
    TRIM(LEADING 'x' FROM y)      TRIM('x', y)
    POSITION(a IN b)              POSITION(a, b)
    SUBSTRING(x FROM 2 FOR 3)     SUBSTRING(x, 2, 3)
    STRUCT(x, 1 AS y)             STRUCT(x, 1), words x and y
    NAMED_STRUCT('x', 1)          STRUCT(1), word x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matchrec.plan.expression import Operation, Scalar
from matchrec.syntax.amounts import UNITS
from matchrec.syntax.expressions.cursor import ExpressionCursor
from matchrec.syntax.tokens import TokenKind, split_words

# The sides at which TRIM removes characters. No stage needs to know the side, because only Spark
# computes TRIM.
_SIDES_OF_TRIM = split_words("BOTH LEADING TRAILING")

# The functions whose first argument is a unit, each with the name of its operation.
_OPERATIONS_WITH_UNIT = {
    **dict.fromkeys(split_words("TIMESTAMPDIFF TIMEDIFF DATEDIFF DATE_DIFF"), "TIMESTAMPDIFF"),
    **dict.fromkeys(split_words("TIMESTAMPADD DATEADD DATE_ADD"), "TIMESTAMPADD"),
}

# A function that reads the rest of a call after its opening parenthesis. The arguments are the
# cursor, the name of the function, and the index of this name. For an ordinary call, the function
# returns None and reads nothing.
SpecialCallReader = Callable[[ExpressionCursor, str, int], Scalar | None]


def _close_call(
    cursor: ExpressionCursor, name: str, start: int, *operands: Scalar, words: tuple[str, ...] = ()
) -> Operation:
    """Read the closing parenthesis of a call, and return its operation.

    Args:
        cursor: the cursor, which is after the last argument.
        name: the name of the operation.
        start: the index of the call's first token.
        operands: the arguments that are values.
        words: the arguments that are words, such as a type or a unit.
    """
    cursor.expect(")")
    return cursor.make_operation(name, start, *operands, words=words)


def read_cast(cursor: ExpressionCursor, name: str, start: int) -> Scalar:
    """Read `CAST(x AS type)`."""
    operand = cursor.read_expression()
    cursor.expect("AS")
    word = cursor.read_type_name(cursor.sequence.pairs[start + 1])
    return _close_call(cursor, name, start, operand, words=(word,))


def read_call_with_unit(cursor: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read a function whose first argument is a unit of time: `TIMESTAMPDIFF(MINUTE, a, b)`."""
    unit = cursor.key
    is_word = cursor.kind_at(cursor.position) is TokenKind.WORD
    is_unit = is_word and unit in UNITS - {"NANOSECOND"} | {"DAYOFYEAR"}
    arguments = cursor.sequence.split_at_commas(cursor.position, cursor.sequence.pairs[start + 1])
    if not is_unit or len(arguments) < 3 or cursor.key_at(cursor.position + 1) != ",":
        return None
    cursor.position += 2
    values = cursor.read_several(cursor.read_expression)
    return _close_call(cursor, _OPERATIONS_WITH_UNIT[name], start, *values, words=(unit,))


def read_extract(cursor: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read `EXTRACT(HOUR FROM x)` or `DATE_PART('HOUR', x)`."""
    is_extract = name == "EXTRACT"
    field_kind = TokenKind.WORD if is_extract else TokenKind.STRING
    separator = "FROM" if is_extract else ","
    field = cursor.position
    if cursor.kind_at(field) is not field_kind or cursor.key_at(field + 1) != separator:
        return None
    cursor.position += 2
    word = cursor.tokens[field].text.strip("'\"").upper()
    function = "EXTRACT" if is_extract else "DATE_PART"
    return _close_call(cursor, function, start, cursor.read_expression(), words=(word,))


def read_trim(cursor: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read `TRIM([BOTH | LEADING | TRAILING] [characters] FROM x)`."""
    if not _has_word(cursor, start, "FROM"):
        return None
    if cursor.key in _SIDES_OF_TRIM:
        cursor.position += 1
    texts = [] if cursor.key == "FROM" else [cursor.read_expression()]
    cursor.expect("FROM")
    return _close_call(cursor, name, start, *texts, cursor.read_expression())


def read_position(cursor: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read `POSITION(a IN b)`."""
    if not _has_word(cursor, start, "IN"):
        return None
    text = cursor.read_value()  # ends before IN, which is an operator elsewhere
    cursor.expect("IN")
    return _close_call(cursor, name, start, text, cursor.read_expression())


def make_keyword_reader(*keys: str) -> SpecialCallReader:
    """Return a function that reads calls with a keyword before each argument but the first.

    `SUBSTRING(x FROM 2 FOR 3)` has the keys FROM and FOR. The last arguments may be missing.
    """

    def read(cursor: ExpressionCursor, name: str, start: int) -> Scalar | None:
        """Read a call with these keywords; return None if it has none of them."""
        if not any(_has_word(cursor, start, key) for key in keys):
            return None
        values = [cursor.read_expression()]
        values += [cursor.read_expression() for key in keys if cursor.accept(key)]
        return _close_call(cursor, name, start, *values)

    return read


def _has_word(cursor: ExpressionCursor, start: int, word: str) -> bool:
    """Return whether a word is in the parentheses of the call at `start`, and not in inner ones."""
    level = cursor.sequence.walk_level(start + 2, cursor.sequence.pairs[start + 1])
    return any(cursor.key_at(index) == word for index in level)


def read_struct(cursor: ExpressionCursor, _: str, start: int) -> Scalar | None:
    """Read `STRUCT(x, 1 AS y)`."""
    if cursor.key == ")":
        return None
    fields = cursor.read_fields("STRUCT")
    cursor.expect(")")
    return cursor.make_struct(start, fields)


def read_named_struct(cursor: ExpressionCursor, _: str, start: int) -> Scalar | None:
    """Read `NAMED_STRUCT('x', 1)`.

    The names must be literals without a backslash. Otherwise the call is ordinary.
    """
    ranges = cursor.sequence.split_at_commas(start + 2, cursor.sequence.pairs[start + 1])
    names = [
        cursor.sequence.text_at(cursor.tokens[first].span)[1:-1]
        for first, last in ranges[::2]
        if cursor.kind_at(first) is TokenKind.STRING and last == first + 1
    ]
    if 2 * len(names) != len(ranges) or "\\" in "".join(names):
        return None
    values = [cursor.read_range(first, last) for first, last in ranges[1::2]]
    return _close_call(cursor, "STRUCT", start, *values, words=tuple(names))


# For each function with special calls, the function that reads them.
SPECIAL_CALLS: Mapping[str, SpecialCallReader] = {
    **dict.fromkeys(("CAST", "TRY_CAST"), read_cast),
    **dict.fromkeys(("EXTRACT", "DATE_PART", "DATEPART"), read_extract),
    "TRIM": read_trim,
    "POSITION": read_position,
    "STRUCT": read_struct,
    "NAMED_STRUCT": read_named_struct,
    **dict.fromkeys(("SUBSTRING", "SUBSTR"), make_keyword_reader("FROM", "FOR")),
    "OVERLAY": make_keyword_reader("PLACING", "FROM", "FOR"),
    **dict.fromkeys(_OPERATIONS_WITH_UNIT, read_call_with_unit),
}
