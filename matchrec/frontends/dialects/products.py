"""Products: how their SQL is read, and what it means where nothing is written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum

from matchrec.frontends.lexing.tokens import NAVIGATION
from matchrec.plan.clauses import ColumnOrder, SkipTo
from matchrec.plan.text import words_of


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
    where AFTER MATCH is left out. quote: what stands around a name. parameter: its mark. reserved:
    words that are names in quotes only, in upper case as a name without quotes is.
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
    reserved: frozenset[str] = frozenset()
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


SPARK = Product("spark", "Spark SQL", "spark", is_spark=True, has_row_pattern_windows=True)


# The products whose queries are read and written.

_LAG_AND_LEAD = {"LAG": "PREV", "LEAD": "NEXT"}

PRODUCTS = {
    product.name: product
    for product in (
        SPARK,
        replace(SPARK, name="standard", title="the standard"),
        Product(
            "databricks",
            "Databricks",
            "databricks",
            is_spark=True,
            functions={f"MATCH_RECOGNIZE_{name}": name for name in NAVIGATION},
            columns=ColumnOrder.INPUT_FIRST,
            finds_empty=False,
            names_with_as=True,
        ),
        Product(
            "snowflake",
            "Snowflake",
            "snowflake",
            quote='"',
            nulls=Nulls.LARGE,
            functions=_LAG_AND_LEAD
            | {
                "FIRST_VALUE": "FIRST_VALUE",
                "LAST_VALUE": "LAST_VALUE",
                "MATCH_SEQUENCE_NUMBER": "ROW_NUMBER",
            },
            columns=ColumnOrder.INPUT_FIRST,
            defines_more=True,
            comments="//",
            divides_sequences=True,
        ),
        Product(
            "oracle",
            "Oracle",
            "oracle",
            quote='"',
            nulls=Nulls.LARGE,
            has_bare_rows=True,
            reserved=words_of("RESERVED IN ORACLE"),
        ),
        Product(
            "trino",
            "Trino",
            "trino",
            quote='"',
            nulls=Nulls.LAST,
            divides_integers=True,
            repeats_keys=True,
            has_row_pattern_windows=True,
            collects_nulls=True,
            names_with_as=True,
        ),
        Product(
            "flink",
            "Flink SQL",
            "flinksql",  # ours, in `fragments.py`
            is_spark=True,
            divides_integers=True,
            skip=SkipTo.NEXT_ROW,
            has_exclusive_loops=True,
            within_includes=True,
            lacks_dialect=True,
            collects_nulls=True,
            names_with_as=True,
        ),
        Product(
            "bigquery",
            "BigQuery",
            "bigquery",
            parameter="@",
            functions=_LAG_AND_LEAD | {"MATCH_ROW_NUMBER": "ROW_NUMBER"},
            comments="#",
            keeps_case=True,
            collects_nulls=True,
            names_with_as=True,
        ),
        Product(
            "azure",
            "Azure Stream Analytics",
            "tsql",
            divides_integers=True,
            skip=SkipTo.NEXT_ROW,
            keeps_case=True,
            is_written=False,
        ),
    )
}


# Spellings by which a query that cannot be read shows whose SQL it may be.

SIGNS = {
    "azure": r"\bTIMESTAMP\s+BY\b | \bLIMIT\s+DURATION\b",
    "oracle": r"""
        \w\# | \bNUMTO(DS|YM)INTERVAL\b | \bTRUNC\s*\(
        | \bTO_(DS|YM)INTERVAL\b | \bTO_(CHAR|DATE|NUMBER)\s*\( | \bSYSDATE\b
        | interval\ day\ to\ second\ and\ \w+
        | INTERVAL\ DAY\ TO\ SECOND .* mismatch | mismatch .* \b(DATE|INTERVAL|TIMESTAMP)
        """,
    "snowflake": r"""
        \bMATCH_SEQUENCE_NUMBER\b | \bLAG\s*\( | \bLEAD\s*\( | \bOVER\s*\(\s*ROWS\b | \bIFF\s*\(
        """,
    "trino": r"\bdate_(add|diff|trunc)\s*\(\s*' | \barray_agg\s*\([^()]*\bORDER\s+BY\b",
    "flink": r"""
        \b(TUMBLE|HOP|CUMULATE|DESCRIPTOR)\s*\( | \bMATCH_(ROWTIME|PROCTIME)\b | \browtime\b
        """,
    "bigquery": r"""
        \bUNNEST\s*\(\s*\[ | \bARRAY_LENGTH\b | \buse_longest_match\b | @\w
        | \b(DATE|TIMESTAMP|DATETIME)_DIFF\s*\(
        """,
    "databricks": r"\bMATCH_RECOGNIZE_(NEXT|PREV|FIRST|LAST)\b",
}


def products_shown(text: str) -> tuple[str, ...]:
    """The names of products whose spellings a query has, or what is said against it.

    >>> products_shown("SELECT TRUNC(d) FROM t"), products_shown("SELECT 1")
    (('oracle',), ())
    """
    flags = re.VERBOSE | re.IGNORECASE | re.DOTALL
    return tuple(name for name, sign in SIGNS.items() if re.search(sign, text, flags))
