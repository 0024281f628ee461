"""Flink SQL to sqlglot, which has no dialect of its own: Spark's but for texts and quotients."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.spark import Spark


class FlinkSql(Spark):
    """`'\\d'` is a backslash and a letter, as the standard has it; sqlglot finds it by its name."""

    TYPED_DIVISION = True  # of integers it is an integer
    SAFE_DIVISION = False
    INDEX_OFFSET = 1  # of an array's first element

    class Tokenizer(Spark.Tokenizer):
        """Reads `''` in a text as a quote, and nothing else otherwise than it is written."""

        STRING_ESCAPES: ClassVar[list[str]] = ["'"]
