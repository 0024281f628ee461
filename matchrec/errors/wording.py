"""How sentences write lists, counts, names and values: plurals, capitals, quotes and long texts.

Every message of matchrec uses these functions, and so do `explain`, `why` and the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from inspect import isroutine
from reprlib import Repr

from matchrec.source import Span

# Lists and counts.


def join_names(names: Iterable[str]) -> str:
    """Join names with commas, as a sentence lists them; "none" for no names."""
    return ", ".join(names) or "none"


def show_list(subject: str, names: Iterable[str], thing: str) -> str:
    """Return a sentence that lists what its subject has.

    Args:
        subject: the subject and the verb, such as "the input has".
        names: what the subject has.
        thing: the plural for these names, for a subject without any.

    >>> show_list("the input has", ["sym", "ts"], "columns")
    'the input has: sym, ts'
    >>> show_list("the input has", [], "columns")
    'the input has no columns'
    """
    joined = ", ".join(names)
    return f"{subject}: {joined}" if joined else f"{subject} no {thing}"


def join_alternatives(texts: Sequence[str]) -> str:
    """Join alternatives: `a, b or c`."""
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def join_with_and(texts: Sequence[str]) -> str:
    """Join things that all belong to a sentence: `a, b and c`."""
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


# Advice lists at most this many names that the user may have meant.
MAX_CANDIDATES = 3


def list_candidates(names: Sequence[str]) -> str:
    """Return the names that the user may have meant, for advice under a note that lists them all.

    >>> list_candidates(["A", "B"]), list_candidates(["A", "B", "C", "D"])
    ('A or B', 'one of these')
    """
    return join_alternatives(names) if 0 < len(names) <= MAX_CANDIDATES else "one of these"


def show_count(number: int, thing: str, things: str | None = None) -> str:
    """Return a number and what it counts, in singular or plural.

    Args:
        number: the number.
        thing: the noun in singular.
        things: the noun in plural, by default `thing` with an `s`.

    >>> show_count(0, "value"), show_count(1, "value"), show_count(2000, "match", "matches")
    ('0 values', '1 value', '2,000 matches')
    """
    plural = things or f"{thing}s"
    return f"{number:,} {thing if number == 1 else plural}"


# Case, and texts of the user.


def uncapitalise(sentence: str) -> str:
    """Return a sentence as a note, which begins with a small letter. A name in capitals stays.

    >>> uncapitalise("Unexpected token"), uncapitalise("TO_DATE needs a format")
    ('unexpected token', 'TO_DATE needs a format')
    """
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


# The number of characters of the user's text that a sentence repeats.
LONGEST = 75


def shorten(text: str) -> str:
    """Return the user's text as a sentence repeats it: in one line, cut off if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()}..."


def join_lines(text: str) -> str:
    """Return the user's text in one line, however long it is.

    >>> join_lines("A\\n  B+")
    'A B+'
    """
    return " ".join(text.split())


# Names.


def name_sql(product: str) -> str:
    """Return how a message names the SQL of a product, such as "Oracle SQL" or "Databricks SQL"."""
    return product if product.endswith("SQL") else f"{product.removeprefix('the ')} SQL"


def quote_in_backticks(text: str) -> str:
    """Return a name, or a text in quotes, as a name in backticks."""
    name = text.strip("'\"").replace("`", "``")
    return f"`{name}`"


def write_string(text: str) -> str:
    """Return a text as a string of SQL.

    >>> print(write_string("it's"))
    'it\\'s'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def write_name(text: str) -> str:
    """Return a name as a query has it: in backticks if it needs them."""
    return text if text.isidentifier() else quote_in_backticks(text)


# A string, which stays as it is, or a name in backticks that needs none.
_PLAIN_NAME = re.compile(r"'(?:[^']|'')*'|`(?P<name>[A-Za-z_]\w*)`")


def drop_backticks(text: str) -> str:
    """Return SQL without the backticks around names that need none.

    >>> drop_backticks("`price` > 5 AND `last price` > '`x`'")
    "price > 5 AND `last price` > '`x`'"
    """
    return _PLAIN_NAME.sub(lambda match: match["name"] or match[0], text)


# Values.


def find_frame_library(value: object) -> str | None:
    """Return the title of the library that a value is from, if it has DataFrames; else None.

    PySpark is not among these libraries, except for pandas-on-Spark.
    """
    libraries = {"pandas": "pandas", "polars": "Polars", "pyarrow": "pyarrow"}
    module = type(value).__module__
    is_on_spark = module.startswith("pyspark.pandas.")
    return "pandas-on-Spark" if is_on_spark else libraries.get(module.split(".")[0])


# The modules of classes whose `repr` is short and quick.
PYTHONS_OWN = ("builtins", "datetime", "decimal")


def describe_value(value: object) -> str:
    """Return a value as a message shows it: short, with its type.

    The `repr` of a class of another library is never called, because it may run a query.

    >>> describe_value(3), describe_value(None), describe_value(dict)
    ('3, of type int', 'None', 'the class dict')
    >>> describe_value([object()]), describe_value(lambda row: row > 3)
    ('[<object>], of type list', 'a function')
    """
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isroutine(value):
        return "a function"
    library = find_frame_library(value)
    if library is not None:
        return f"a {library} {type(value).__name__}"
    if type(value).__module__ not in PYTHONS_OWN or type(value) is object:
        return f"of type {type(value).__name__}"
    return f"{SHORT.repr(value)}, of type {type(value).__name__}"


# Larger integers are not written out.
MAX_BITS = 1000


class _Short(Repr):
    """A `repr` that cuts long values, and shows only the type of objects from other libraries."""

    def repr_int(self, x: int, level: int) -> str:
        """Return an integer; Python refuses to write one of thousands of digits."""
        if x.bit_length() >= MAX_BITS:
            return f"a number of {x.bit_length()} bits"
        return super().repr_int(x, level)

    def repr_instance(self, x: object, level: int) -> str:
        """Return a value that is not a number, string or container of Python."""
        del level
        is_plain = type(x).__module__ in PYTHONS_OWN and type(x) is not object and not isroutine(x)
        return repr(x)[: self.maxother] if is_plain else f"<{type(x).__name__}>"


SHORT = _Short()
SHORT.maxstring = SHORT.maxother = 40


def find_written_part(text: str) -> Span | None:
    """Return the span of the first line that is not blank, without the blanks around its text.

    Returns None if all lines are blank.

    >>> find_written_part("  -- nothing  "), find_written_part("  ")
    (Span(start=2, end=12), None)
    """
    line = re.search(r"\S(?:.*\S)?", text)
    return None if line is None else Span(*line.span())
