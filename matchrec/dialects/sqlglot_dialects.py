"""sqlglot's dialect of each product, and the tokens that it reads.

sqlglot has no dialect of Flink SQL, so this module defines one.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import Dialect as SqlglotDialect
from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

from matchrec.dialects.products import Product
from matchrec.syntax.tokenize import tokenize_sql


class FlinkSql(Spark):
    """The dialect of Flink SQL. It is Spark's dialect, except for:

    - escapes in strings: `'\\d'` is a backslash and a letter,
    - the names of types of strings and bytes,
    - division,
    - the index of the first element of an array, and the default group of REGEXP_EXTRACT.

    sqlglot registers this class under its name in lower case, `flinksql`, which `products.txt`
    uses.
    """

    TYPED_DIVISION = True  # the quotient of two integers is an integer
    SAFE_DIVISION = False  # a division by zero is an error, not NULL
    INDEX_OFFSET = 1  # the index of an array's first element
    REGEXP_EXTRACT_DEFAULT_GROUP = 0  # the whole match

    class Tokenizer(Spark.Tokenizer):
        """A tokenizer that reads `''` in a string as a quote and knows no other escapes.

        CHAR is read as NCHAR and VARCHAR as NVARCHAR, so that `VARCHAR(3)` keeps its length:
        Spark's parser takes CHAR and VARCHAR for a string of any length. We cannot change the
        parser in a subclass, because a compiled sqlglot (mypyc) does not allow subclasses of its
        parsers. BYTES is Flink's name for a VARBINARY of the greatest length.
        """

        KEYWORDS: ClassVar[Any] = Spark.Tokenizer.KEYWORDS | {
            "CHAR": TokenType.NCHAR,
            "CHARACTER": TokenType.NCHAR,
            "VARCHAR": TokenType.NVARCHAR,
            "CHAR VARYING": TokenType.NVARCHAR,
            "CHARACTER VARYING": TokenType.NVARCHAR,
            "BYTES": TokenType.VARBINARY,
        }
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]


def get_dialect(product: Product) -> SqlglotDialect:
    """Return sqlglot's dialect of a product."""
    return SqlglotDialect.get_or_raise(product.sqlglot_dialect)


def tokenize_product_sql(text: str, product: Product) -> list[Token]:
    """Return the tokens that sqlglot finds in a text in the SQL of a product.

    Raises:
        TokenError: sqlglot cannot read the text.
    """
    return tokenize_sql(get_dialect(product), text)
