"""Products: how the SQL of each product is read and written, and which defaults it has.

The values are in `products.txt`, which has a line for each field and value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from matchrec.plan.clauses import ColumnOrder, SkipTo
from matchrec.source import read_table


class Nulls(Enum):
    """Where ORDER BY puts NULLs if neither NULLS FIRST nor NULLS LAST is written."""

    SMALL = "before all values, or after them if the order descends"
    LARGE = "after all values, or before them if the order descends"
    LAST = "after all values"


@dataclass(frozen=True, slots=True)
class Product:
    """A system whose SQL is read and written. Its rules are in `rules/by_product.py`."""

    # The name in `dialect=`.
    name: str
    # The name in messages.
    title: str
    # The name of sqlglot's dialect for its SQL.
    sqlglot_dialect: str
    # Whether its SQL is Spark's, except for what the rules rewrite. Text that Spark reads in the
    # same way then stays as it is.
    is_spark: bool = False
    # Where ORDER BY puts NULLs by default.
    default_nulls: Nulls = Nulls.SMALL
    # Whether `/` of two integers is an integer.
    divides_integers: bool = False
    # The default of AFTER MATCH SKIP.
    default_skip: SkipTo = SkipTo.PAST_LAST_ROW
    # The quotation mark around names.
    quote: str = "`"
    # Whether a name without quotes is in upper case, so that a quoted name can be another one.
    folds_to_upper: bool = False
    # The character before the name of a parameter.
    parameter_prefix: str = ":"
    # Functions of row patterns whose names differ in this product, by that name in upper case: the
    # name by which our rules know the function. For Snowflake, LAG is PREV.
    pattern_function_names: dict[str, str] = field(default_factory=dict)
    # What starts a comment, in addition to `--`; "" if nothing else does.
    comment_prefix: str = ""
    # The order of columns with ALL ROWS PER MATCH.
    column_order: ColumnOrder = ColumnOrder.STANDARD
    # Whether CLASSIFIER returns a variable as it was written, and not in upper case.
    keeps_case: bool = False
    # Whether DEFINE may have variables that PATTERN does not use.
    allows_unused_definitions: bool = False
    # Whether a greedy quantifier never gives back a row that it has taken.
    has_exclusive_loops: bool = False
    # Whether the last moment of WITHIN's interval is a part of it.
    within_includes_end: bool = False
    # Whether a match may have no rows.
    finds_empty_matches: bool = True
    # Whether a key that is written twice is two columns of the result.
    repeats_keys: bool = False
    # Whether PATTERN may be used in OVER and WINDOW.
    has_row_pattern_windows: bool = False
    # Whether sqlglot has no dialect for it. matchrec then has its own: Spark's with a few changes.
    lacks_dialect: bool = False
    # Whether ARRAY_AGG keeps NULLs.
    collects_nulls: bool = False
    # Whether a measure needs AS before its name.
    needs_as: bool = False
    # Whether `A B | C` in PATTERN is `A (B | C)`, as its documentation says.
    divides_sequences: bool = False
    # Whether a clause may return rows without columns, which is enough for COUNT(*).
    has_rows_without_columns: bool = False
    # Whether matchrec translates queries to its SQL. It translates queries from all products.
    is_written: bool = True

    @property
    def has_functions_of_spark(self) -> bool:
        """True if its functions have the same meaning as in Spark."""
        return self.is_spark and not self.lacks_dialect


# The first cell of those rows of the table that have no field, but a spelling of a product: a text
# with it is likely to be SQL of the product.
_SIGNS = "signs"

_ROWS = tuple(read_table("matchrec.dialects", "products.txt"))
_DEFAULTS = Product("", "", "")


def _read_value(field_name: str, text: str) -> object:
    """Return the value of a field in the table, converted to the type of the field's default."""
    default = getattr(_DEFAULTS, field_name)
    if isinstance(default, Enum):
        return type(default)[text]
    if isinstance(default, dict):
        return dict(pair.split("=") for pair in text.split())
    if isinstance(default, bool):
        return text == "TRUE"
    return text


def _read_products() -> dict[str, Product]:
    """Return the products of the table, by their names."""
    fields: dict[str, dict[str, Any]] = {}
    for field_name, text, names in _ROWS:
        if field_name == _SIGNS:
            continue
        for name in names.split():
            values = fields.setdefault(name, {"sqlglot_dialect": name})
            values[field_name] = _read_value(field_name, text)
    return {name: Product(name, **values) for name, values in fields.items()}


# All products, by their names.
PRODUCTS = _read_products()

# The products that the code names: only they have the spellings that it reads or writes.
AZURE = PRODUCTS["azure"]
BIGQUERY = PRODUCTS["bigquery"]
FLINK = PRODUCTS["flink"]
ORACLE = PRODUCTS["oracle"]
SNOWFLAKE = PRODUCTS["snowflake"]
SPARK = PRODUCTS["spark"]
TRINO = PRODUCTS["trino"]


def find_likely_products(text: str) -> tuple[str, ...]:
    """Return the names of the products whose spellings a text has, each once.

    The text is a query, or an error about it.

    >>> find_likely_products("SELECT TRUNC(d) FROM t"), find_likely_products("SELECT 1")
    (('oracle',), ())
    """
    names: dict[str, None] = {}
    for kind, sign, name in _ROWS:
        if kind == _SIGNS and re.search(sign, text, re.IGNORECASE | re.DOTALL):
            names[name] = None
    return tuple(names)
