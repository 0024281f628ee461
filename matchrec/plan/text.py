"""SQL text: templates with holes for DataFrames, names and literals, parameters, reserved words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from matchrec.source import Span, read_table

# The type of the pieces between which a text is cut up, such as references or views.
Inner = TypeVar("Inner")

# SQL text with holes for DataFrames.


@dataclass(frozen=True, slots=True)
class View:
    """A hole that a DataFrame fills: a user's frame, or the rows of an evaluated clause."""

    # The name of the view that stands for the DataFrame.
    name: str
    # How many characters of the user's text it replaces. A shorter name is padded to this width, so
    # that the text after it keeps its column.
    width: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Replacement:
    """Text that replaces a part of the user's text."""

    # The new text.
    text: str
    # How many characters of the user's text it replaces.
    width: int


# A text whose views and replacements are pieces of their own.
Template = tuple[str | View | Replacement, ...]


def join_template(*pieces: str | View | Replacement | Template) -> Template:
    """Join pieces and templates to one template.

    >>> join_template("SELECT 1 FROM ", View("t"), join_template(" WHERE ", "x"))
    ('SELECT 1 FROM ', View(name='t'), ' WHERE ', 'x')
    """
    joined: list[str | View | Replacement] = []
    for piece in pieces:
        joined += piece if isinstance(piece, tuple) else (piece,)
    return tuple(joined)


def write_select(
    select_list: Template, relation: Template, with_clauses: Sequence[Template] = ()
) -> Template:
    """Return the query of a select list over a relation.

    Args:
        select_list: what is selected.
        relation: what follows FROM.
        with_clauses: the WITH clauses of the query: see `nest_in_with_clauses`.

    >>> write_select(("x",), (View("t"), " AS u"))
    ('SELECT x FROM ', View(name='t'), ' AS u')
    """
    query = join_template("SELECT ", select_list, " FROM ", relation)
    return nest_in_with_clauses(query, with_clauses)


def nest_in_with_clauses(query: Template, with_clauses: Sequence[Template]) -> Template:
    """Return a query after WITH clauses whose tables it may name.

    The WITH clauses keep their nesting, so that a name that is defined twice has the same meaning
    as in the user's query.

    Args:
        query: the query.
        with_clauses: the WITH clauses, outermost first.

    >>> nest_in_with_clauses(("SELECT 1",), [("WITH a AS (...)",), ("WITH b AS (...)",)])
    ('WITH a AS (...) (WITH b AS (...) SELECT 1)',)
    """
    for depth, with_clause in reversed(tuple(enumerate(with_clauses))):
        query = join_template(with_clause, " ", query)
        if depth > 0:
            query = join_template("(", query, ")")
    return join_texts(query)


# Names and values as Spark SQL text.


def quote_name(name: str) -> str:
    """Return a column name as an identifier that Spark reads literally."""
    return "`" + name.replace("`", "``") + "`"


def unquote_name(name: str) -> str:
    """Return an identifier without its backticks."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def quote_string(text: str) -> str:
    """Return a text as a SQL string."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# The functions of sums and averages that we write. The comments tell them from the user's own, for
# sessions that lack these functions.
SUM_OR_NULL = "try_add/* NULL beyond the type */"
AVERAGE_OR_NULL = "try_avg/* NULL beyond the type */"


def write_sum_or_null(left: str, right: str) -> str:
    """Return a sum as SQL that is NULL if its type cannot hold it.

    >>> write_sum_or_null("ts", "INTERVAL 1 DAY")
    'try_add/* NULL beyond the type */(ts, INTERVAL 1 DAY)'
    """
    return f"{SUM_OR_NULL}({left}, {right})"


def write_decimal_average(
    total: Inner, count: Inner, type_name: str, cast: str = "CAST"
) -> tuple[str | Inner, ...]:
    """Return the average of decimals as SQL: the sum by the count, as Spark's avg has it.

    It is NULL if the count is 0.

    >>> "".join(write_decimal_average("s", "n", "DECIMAL(9,6)"))
    'CAST(s / CAST(NULLIF(n, 0) AS DECIMAL(20,0)) AS DECIMAL(9,6))'

    Args:
        total: the sum of the decimals.
        count: their number.
        type_name: the type of the average, see `conditions.types.find_average_type`.
        cast: CAST, or TRY_CAST for NULL if the type cannot hold the average.
    """
    divisor = ("CAST(NULLIF(", count, ", 0) AS DECIMAL(20,0))")
    return (f"{cast}(", total, " / ", *divisor, f" AS {type_name})")


def would_touch(left: str, right: str) -> bool:
    """Return whether the last word of one text and the first word of the next would become one.

    >>> would_touch("FROM", "v"), would_touch("FROM ", "v"), would_touch("x)", "AND")
    (True, False, False)
    """
    return all(edge.isalnum() or edge == "_" for edge in (left[-1:], right[:1]))


# Spans of a text, each with the pieces that replace it.
Holes = Iterable[tuple[Span, Iterable[Inner]]]


def replace_spans(
    write: Callable[[Span], str], span: Span, holes: Holes[Inner]
) -> Iterator[str | Inner]:
    """Yield the text at a span, in which other pieces replace some spans.

    Args:
        write: returns the text at a span.
        span: the span of the whole text.
        holes: the spans to replace, in any order. One that begins inside another is ignored.

    >>> text = "max(x) + 1"
    >>> list(replace_spans(lambda at: text[at.start : at.end], Span(0, 10), [(Span(0, 6), ("y",))]))
    ['', 'y', ' + 1']
    """
    position = span.start
    # Of holes that begin at one character, the longest comes first.
    for hole, pieces in sorted(holes, key=lambda pair: (pair[0].start, -pair[0].end)):
        if hole.start >= position:
            yield write(Span(position, hole.start))
            yield from pieces
            position = hole.end
    yield write(Span(position, span.end))


def separate_words(pieces: Iterable[Inner]) -> Iterator[str | Inner]:
    """Yield the pieces, with a blank between two pieces whose words would become one.

    A hole counts as a word. So `)AS m` and `FROM(SELECT` need no blank, but they do if the name of
    a view replaces the parentheses.
    """
    text_before = ""
    for piece in pieces:
        content = piece.text if isinstance(piece, Replacement) else piece
        text = content if isinstance(content, str) else "_"
        if would_touch(text_before, text):
            yield " "
        yield piece
        text_before = text or text_before


def join_texts(pieces: Iterable[str | Inner]) -> tuple[str | Inner, ...]:
    """Return the pieces with adjacent texts joined, and without empty texts.

    >>> join_texts(["a", "", "b", View("t"), "c"])
    ('ab', View(name='t'), 'c')
    """
    joined: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return tuple(joined)


# Literal numbers and day-time intervals, and their exact values.

# The length of a unit in microseconds.
MICROSECONDS = {
    "WEEK": 7 * 24 * 3600 * 10**6,
    "DAY": 24 * 3600 * 10**6,
    "HOUR": 3600 * 10**6,
    "MINUTE": 60 * 10**6,
    "SECOND": 10**6,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}


@dataclass(frozen=True, slots=True)
class Amount:
    """The value of a literal number or interval."""

    # The number; for an interval its microseconds.
    value: Fraction
    # Whether it is an interval.
    is_time: bool = False
    # Whether it is an interval that is written in days only.
    is_days: bool = False


# Names for `?`. A query is cut up, so that the order of its `?` is lost.

PREFIX = "_matchrec_"


def name_parameter(parameter: Span) -> str:
    """Return the name of the parameter that replaces the `?` at a span."""
    return f"{PREFIX}{parameter.start}"


def find_positional_parameter(name: str) -> Span | None:
    """Return the span of the `?` that a named parameter replaces; None if the user named it.

    >>> find_positional_parameter(name_parameter(Span(14, 15))), find_positional_parameter("low")
    (Span(start=14, end=15), None)
    """
    number = name.removeprefix(PREFIX)
    if number == name or not number.isdecimal():
        return None
    return Span(int(number), int(number) + 1)


# Words of SQL, by what they mean. The table is `words.txt`.

_WORDS: dict[str, set[str]] = {}
for _kind, _row_words in read_table("matchrec.plan", "words.txt"):
    _WORDS.setdefault(_kind, set()).update(_row_words.split())


def read_words(kind: str) -> frozenset[str]:
    """Return the words of a kind, as `words.txt` lists them.

    >>> sorted(read_words("CONSTANT CALL"))[:3]
    ['ARRAY', 'CURDATE', 'CURRENT_CATALOG']
    """
    return frozenset(_WORDS[kind])


RESERVED = read_words("RESERVED")
CURRENT_VALUES = read_words("CURRENT VALUE")
NONDETERMINISTIC = read_words("NONDETERMINISTIC")
NO_ALIAS_OF_SAIL = read_words("NO ALIAS OF SAIL")


def is_reserved(word: str) -> bool:
    """Return whether a word, in any case, needs quotes to be the name of a pattern variable."""
    return word.upper() in RESERVED
