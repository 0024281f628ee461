"""sqlglot's dialect of each product, and the tokens that it reads.

sqlglot has no dialect of Flink SQL, so there is ours.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import Dialect as SqlglotDialect
from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark

from matchrec.dialects.products import Product
from matchrec.syntax.tokenize import tokenize_sql


class FlinkSql(Spark):
    """The dialect of Flink SQL, which sqlglot does not have.

    It is Spark's, except for strings, in which `'\\d'` is a backslash and a letter, the types of
    strings, quotients, and the defaults of some arguments. sqlglot registers it under the lower
    case of this class's name, which `products.txt` uses.
    """

    TYPED_DIVISION = True  # the quotient of two integers is an integer
    SAFE_DIVISION = False
    INDEX_OFFSET = 1  # the index of an array's first element
    REGEXP_EXTRACT_DEFAULT_GROUP = 0  # the whole match

    class Tokenizer(Spark.Tokenizer):
        """A tokenizer that reads `''` in a string as a quote and knows no other escapes.

        `VARCHAR` is read as NVARCHAR so that `VARCHAR(3)` keeps its length: Spark's parser takes
        VARCHAR for a string of any length, and we cannot derive a class from that parser, because
        sqlglot may be compiled.
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
    return SqlglotDialect.get_or_raise(product.sqlglot)


def tokenize(text: str, product: Product) -> list[Token]:
    """Return the tokens of a text in the SQL of a product.

    Raises:
        TokenError: sqlglot cannot read the text.
    """
    return tokenize_sql(type(get_dialect(product)), text)
