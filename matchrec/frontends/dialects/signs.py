"""Spellings by which a query that cannot be read shows whose SQL it may be."""

from __future__ import annotations

import re

SIGNS = {
    "azure": r"\bTIMESTAMP\s+BY\b | \bLIMIT\s+DURATION\b",
    "oracle": r"""
        \bCONNECT\s+BY\b | \bFROM\s+dual\b | \w\# | \bNUMTO(DS|YM)INTERVAL\b | \bTRUNC\s*\(
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
_FOUND = {
    name: re.compile(sign, re.VERBOSE | re.IGNORECASE | re.DOTALL) for name, sign in SIGNS.items()
}


def products_shown(text: str) -> tuple[str, ...]:
    """The names of products whose spellings a query has, or what is said against it.

    >>> products_shown("SELECT * FROM dual"), products_shown("SELECT 1")
    (('oracle',), ())
    """
    return tuple(name for name, sign in _FOUND.items() if sign.search(text))
