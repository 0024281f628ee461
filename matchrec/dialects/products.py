"""Products: how their SQL is read, and what it means where nothing is written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from matchrec.plan.clauses import ColumnOrder, SkipTo
from matchrec.source import read_table


class Nulls(Enum):
    """Where NULL comes in ORDER BY when nothing is said."""

    SMALL = "before all values, or after them where the order descends"
    LARGE = "after all values, or before them where the order descends"
    LAST = "after all values"


@dataclass(frozen=True, slots=True)
class Product:
    """A system whose queries are read and written; its rules are in `rules/of_products.py`.

    name: as `dialect=` has it. title: in messages. sqlglot: the name of sqlglot's dialect.
    is_spark: its SQL is Spark's but for what the rules say, so what Spark reads alike stays as it
    is. divides_integers: whether `/` of two integers is an integer. skip: where the search goes on
    where AFTER MATCH is left out. quote: what stands around a name. parameter: its mark.
    functions: names of functions of row patterns here, each with the name by which the rules know
    it. comments: with what they begin beside `--`. columns: their order with ALL ROWS.

    keeps_case           whether CLASSIFIER names a variable as it was written, not in upper case
    defines_more         whether DEFINE may have variables that PATTERN has not
    has_exclusive_loops  whether a greedy quantifier never gives rows back
    within_includes      whether WITHIN holds for the last moment of its interval
    finds_empty          whether a match may have no rows
    repeats_keys         whether a key that is written twice comes out twice
    has_row_pattern_windows  whether PATTERN may stand in OVER and WINDOW
    lacks_dialect        whether sqlglot has none, so that it is ours: Spark's with other tables
    collects_nulls       whether ARRAY_AGG keeps NULLs
    names_with_as        whether AS must stand before the name of a measure
    divides_sequences    whether `A B | C` in PATTERN is `A (B | C)`, as its page says
    has_bare_rows        whether the rows of a clause may have no column, which COUNT(*) needs not
    is_written           whether queries are converted to it, too
    """

    name: str
    title: str
    sqlglot: str
    is_spark: bool = False
    nulls: Nulls = Nulls.SMALL
    divides_integers: bool = False
    skip: SkipTo = SkipTo.PAST_LAST_ROW
    quote: str = "`"
    parameter: str = ":"
    functions: dict[str, str] = field(default_factory=dict)
    comments: str = ""
    columns: ColumnOrder = ColumnOrder.STANDARD
    keeps_case: bool = False
    defines_more: bool = False
    has_exclusive_loops: bool = False
    within_includes: bool = False
    finds_empty: bool = True
    repeats_keys: bool = False
    has_row_pattern_windows: bool = False
    lacks_dialect: bool = False
    collects_nulls: bool = False
    names_with_as: bool = False
    divides_sequences: bool = False
    has_bare_rows: bool = False
    is_written: bool = True

    @property
    def has_functions_of_spark(self) -> bool:
        """Whether a function means what Spark means by its name."""
        return self.is_spark and not self.lacks_dialect


_ROWS = tuple(read_table("matchrec.dialects", "products.txt"))
_DEFAULTS = Product("", "", "")


def _value(field: str, text: str) -> object:
    """What the table says of a field, which is of the kind of its default."""
    default = getattr(_DEFAULTS, field)
    if isinstance(default, Enum):
        return type(default)[text]
    if isinstance(default, dict):
        return dict(pair.split("=") for pair in text.split())
    return text == "TRUE" if isinstance(default, bool) else text


def _products() -> dict[str, Product]:
    found: dict[str, dict[str, Any]] = {}
    for said, text, products in _ROWS:
        for name in products.split() if said != "signs" else ():
            found.setdefault(name, {"sqlglot": name})[said] = _value(said, text)
    return {name: Product(name, **fields) for name, fields in found.items()}


PRODUCTS = _products()  # the products whose queries are read and written, by name

SPARK = PRODUCTS["spark"]


def products_shown(text: str) -> tuple[str, ...]:
    """The names of products whose spellings a query has, or what is said against it.

    >>> products_shown("SELECT TRUNC(d) FROM t"), products_shown("SELECT 1")
    (('oracle',), ())
    """
    signs = ((name, sign) for said, sign, name in _ROWS if said == "signs")
    flags = re.IGNORECASE | re.DOTALL
    return tuple(dict.fromkeys(name for name, sign in signs if re.search(sign, text, flags)))
