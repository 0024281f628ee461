"""Quote names that the product reads only in quotes: `date` becomes `"DATE"` for Oracle.

The words are in `reserved_names.txt`. In Oracle and Snowflake, a name without quotes is in upper
case, so the quoted name is, too: it then is the name that the user wrote without quotes.
"""

from __future__ import annotations

import re

from matchrec.dialects.products import Product
from matchrec.source import read_package_table

# A name that needs no quotes, unless it is reserved.
UNQUOTED_NAME = re.compile(r"[^\W\d]\w*")


def _read_words() -> dict[str, frozenset[str]]:
    """Return the reserved words of each product, in upper case."""
    words: dict[str, frozenset[str]] = {}
    for product, line in read_package_table("matchrec.dialects", "reserved_names.txt"):
        words[product] = words.get(product, frozenset()) | set(line.split())
    return words


_WORDS = _read_words()


def is_reserved_in(name: str, product: Product) -> bool:
    """Return whether a product reads a name, in any case, only in quotes."""
    return name.upper() in _WORDS.get(product.name, ())


def fold_name(name: str, product: Product) -> str:
    """Return the name that a product reads if a name is written without quotes.

    >>> from matchrec.dialects.products import PRODUCTS
    >>> fold_name("date", PRODUCTS["oracle"]), fold_name("date", PRODUCTS["trino"])
    ('DATE', 'date')
    """
    return name.upper() if product.folds_to_upper else name


def choose_quoted_name(name: str, *, is_quoted: bool, read: Product, write: Product) -> str | None:
    """Return a name as it must be in quotes for a product; None to leave it as it is written.

    Args:
        name: the name, without quotes.
        is_quoted: whether the user wrote it in quotes.
        read: the product whose SQL the user wrote.
        write: the product that is written.
    """
    # In a product that folds names, a quoted name is exact, and may differ from the same word
    # without quotes. In other products, both are the same name.
    is_exact = is_quoted and read.folds_to_upper
    needs_quotes = is_quoted and UNQUOTED_NAME.fullmatch(name) is not None
    if is_exact or not (needs_quotes or is_reserved_in(name, write)):
        return None
    return fold_name(name, write)
