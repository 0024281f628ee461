"""Products: how the SQL of each product is read and written, and which defaults it has.

The values are in `products.txt`, which has a line for each field and value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from matchrec.plan.clauses import ColumnOrder, SkipTo
from matchrec.source import read_package_table


class NullOrder(Enum):
    """Where ORDER BY puts NULLs if neither NULLS FIRST nor NULLS LAST is written."""

    # Before all values, or after them if the order descends.
    SMALL = auto()
    # After all values, or before them if the order descends.
    LARGE = auto()
    # After all values, also if the order descends.
    LAST = auto()


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
    default_nulls: NullOrder = NullOrder.SMALL
    # Whether `/` of two integers is an integer.
    divides_integers: bool = False
    # The default of AFTER MATCH SKIP.
    default_skip: SkipTo = SkipTo.PAST_LAST_ROW
    # The quotation mark around names.
    quote: str = "`"
    # Whether a name without quotes is in upper case, so that `x` and `"x"` are different
    # names.
    folds_to_upper: bool = False
    # The character before the name of a parameter.
    parameter_prefix: str = ":"
    # Row pattern functions that have another name in this product: from the product's name, in
    # upper case, to the name by which our rules know the function. For Snowflake, LAG is PREV.
    pattern_function_names: dict[str, str] = field(default_factory=dict, hash=False)
    # What starts a comment, in addition to `--`; "" if nothing else does.
    comment_prefix: str = ""
    # The order of columns with ALL ROWS PER MATCH.
    column_order: ColumnOrder = ColumnOrder.STANDARD
    # Whether CLASSIFIER returns a variable as it was written, and not in upper case.
    classifier_keeps_case: bool = False
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
    lacks_sqlglot_dialect: bool = False
    # Whether ARRAY_AGG keeps NULLs.
    array_agg_keeps_nulls: bool = False
    # Whether a measure needs AS before its name.
    measures_need_as: bool = False
    # Whether `A B | C` in PATTERN is `A (B | C)`, as its documentation says.
    alternation_binds_tighter: bool = False
    # Whether a clause may return rows without columns, which is enough for COUNT(*).
    has_rows_without_columns: bool = False
    # Whether queries can be translated to this product. They can be translated from every product.
    is_translation_target: bool = True

    @property
    def has_spark_functions(self) -> bool:
        """Return whether its functions have the same meaning as in Spark.

        A product without a dialect of sqlglot, such as Flink SQL, has Spark's syntax for us, but
        its own functions.
        """
        return self.is_spark and not self.lacks_sqlglot_dialect


# The rows of the table with this first cell are about no field. They have a regular expression and
# a product: a text that matches the expression is probably SQL of that product.
_SIGN = "signs"

# A product whose values are all defaults. `_read_value` learns the types of the fields from it.
_DEFAULTS = Product(name="", title="", sqlglot_dialect="")

_FLAGS = {"TRUE": True, "FALSE": False}


@dataclass(frozen=True, slots=True)
class _Sign:
    """A spelling by which SQL of a product is recognised."""

    # A regular expression. It is compiled when it is used, which few programs do.
    expression: str
    product_name: str


def _read_value(field_name: str, text: str) -> object:
    """Return the value of a field in the table, converted to the type of the field's default."""
    default = getattr(_DEFAULTS, field_name)
    if isinstance(default, Enum):
        return type(default)[text]
    if isinstance(default, dict):
        return dict(pair.split("=") for pair in text.split())
    if isinstance(default, bool):
        return _FLAGS[text]
    return text


def _read_tables() -> tuple[dict[str, Product], tuple[_Sign, ...]]:
    """Return the products of the table, by their names, and the signs of products, in its order."""
    fields_by_product: dict[str, dict[str, Any]] = {}
    signs = []
    for field_name, text, product_names in read_package_table("matchrec.dialects", "products.txt"):
        if field_name == _SIGN:
            signs.append(_Sign(text, product_names))
            continue
        for name in product_names.split():
            fields = fields_by_product.setdefault(name, {"sqlglot_dialect": name})
            fields[field_name] = _read_value(field_name, text)
    products = {name: Product(name, **fields) for name, fields in fields_by_product.items()}
    return products, tuple(signs)


# All products, by their names; and the signs by which their SQL is recognised.
PRODUCTS, _SIGNS = _read_tables()

# The products to which other modules refer by name.
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
    names = [
        sign.product_name
        for sign in _SIGNS
        if re.search(sign.expression, text, re.IGNORECASE | re.DOTALL)
    ]
    return tuple(dict.fromkeys(names))
