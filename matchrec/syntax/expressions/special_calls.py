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
    reader: ExpressionCursor, name: str, start: int, *operands: Scalar, words: tuple[str, ...] = ()
) -> Operation:
    """Read the closing parenthesis of the call at `start`, and make its operation."""
    reader.expect(")")
    return reader.make_operation(name, start, *operands, words=words)


def read_cast(reader: ExpressionCursor, name: str, start: int) -> Scalar:
    """Read `CAST(x AS type)`."""
    operand = reader.read_expression()
    reader.expect("AS")
    word = reader.read_type_name(reader.sequence.pairs[start + 1])
    return _close_call(reader, name, start, operand, words=(word,))


def read_call_with_unit(reader: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read a function whose first argument is a unit of time: `TIMESTAMPDIFF(MINUTE, a, b)`."""
    unit = reader.key
    is_word = reader.kind_at(reader.position) is TokenKind.WORD
    is_unit = is_word and unit in UNITS - {"NANOSECOND"} | {"DAYOFYEAR"}
    arguments = reader.sequence.split_at_commas(reader.position, reader.sequence.pairs[start + 1])
    if not is_unit or len(arguments) < 3 or reader.key_at(reader.position + 1) != ",":
        return None
    reader.position += 2
    values = reader.read_several(reader.read_expression)
    return _close_call(reader, _OPERATIONS_WITH_UNIT[name], start, *values, words=(unit,))


def read_extract(reader: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read `EXTRACT(HOUR FROM x)` or `DATE_PART('HOUR', x)`."""
    is_extract = name == "EXTRACT"
    field_kind = TokenKind.WORD if is_extract else TokenKind.STRING
    separator = "FROM" if is_extract else ","
    field = reader.position
    if reader.kind_at(field) is not field_kind or reader.key_at(field + 1) != separator:
        return None
    reader.position += 2
    word = reader.tokens[field].text.strip("'\"").upper()
    function = "EXTRACT" if is_extract else "DATE_PART"
    return _close_call(reader, function, start, reader.read_expression(), words=(word,))


def read_trim(reader: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read `TRIM([BOTH | LEADING | TRAILING] [characters] FROM x)`."""
    if not _has_word(reader, start, "FROM"):
        return None
    if reader.key in _SIDES_OF_TRIM:
        reader.position += 1
    texts = [] if reader.key == "FROM" else [reader.read_expression()]
    reader.expect("FROM")
    return _close_call(reader, name, start, *texts, reader.read_expression())


def read_position(reader: ExpressionCursor, name: str, start: int) -> Scalar | None:
    """Read `POSITION(a IN b)`."""
    if not _has_word(reader, start, "IN"):
        return None
    text = reader.read_value()  # ends before IN, which is an operator elsewhere
    reader.expect("IN")
    return _close_call(reader, name, start, text, reader.read_expression())


def make_keyword_reader(*keys: str) -> SpecialCallReader:
    """Return a function that reads calls with a keyword before each argument but the first.

    `SUBSTRING(x FROM 2 FOR 3)` has the keys FROM and FOR. The last arguments may be missing.
    """

    def read(reader: ExpressionCursor, name: str, start: int) -> Scalar | None:
        """Read a call with these keywords; return None if it has none of them."""
        if not any(_has_word(reader, start, key) for key in keys):
            return None
        values = [reader.read_expression()]
        values += [reader.read_expression() for key in keys if reader.accept(key)]
        return _close_call(reader, name, start, *values)

    return read


def _has_word(reader: ExpressionCursor, start: int, word: str) -> bool:
    """Return whether a word is in the parentheses of the call at `start`, and not in inner ones."""
    level = reader.sequence.walk_level(start + 2, reader.sequence.pairs[start + 1])
    return any(reader.key_at(index) == word for index in level)


def read_struct(reader: ExpressionCursor, _: str, start: int) -> Scalar | None:
    """Read `STRUCT(x, 1 AS y)`."""
    if reader.key == ")":
        return None
    fields = reader.read_fields("STRUCT")
    reader.expect(")")
    return reader.make_struct(start, fields)


def read_named_struct(reader: ExpressionCursor, _: str, start: int) -> Scalar | None:
    """Read `NAMED_STRUCT('x', 1)`.

    The names must be literals without a backslash. Otherwise the call is ordinary.
    """
    ranges = reader.sequence.split_at_commas(start + 2, reader.sequence.pairs[start + 1])
    names = [
        reader.sequence.text_at(reader.tokens[first].span)[1:-1]
        for first, last in ranges[::2]
        if reader.kind_at(first) is TokenKind.STRING and last == first + 1
    ]
    if 2 * len(names) != len(ranges) or "\\" in "".join(names):
        return None
    values = [reader.read_range(first, last) for first, last in ranges[1::2]]
    return _close_call(reader, "STRUCT", start, *values, words=tuple(names))


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
