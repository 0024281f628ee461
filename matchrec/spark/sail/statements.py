"""Tell for which statements a syntax error of Sail is also one of Spark.

Sail's parser does not know all statements of Spark. If it rejects such a statement, the statement
can still be right.
"""

from __future__ import annotations

import re

# The start of a statement that Sail parses in all forms that Spark has.
FULLY_PARSED = re.compile(
    r"(SELECT|VALUES|INSERT|DELETE|UPDATE|MERGE"
    r"|CREATE\s+(OR\s+REPLACE\s+)?((GLOBAL\s+)?TEMP(ORARY)?\s+|EXTERNAL\s+)?"
    r"(TABLE|VIEW|DATABASE|SCHEMA)"
    r"|DROP\s+(TABLE|VIEW|DATABASE|SCHEMA))\b",
    re.IGNORECASE,
)

# EXPLAIN before a statement; matches the empty text if there is none.
EXPLAIN = re.compile(r"(EXPLAIN\s+((EXTENDED|CODEGEN|COST|FORMATTED|LOGICAL)\s+)?)?", re.IGNORECASE)

# The first words of the statements of Spark, and of Delta Lake, Iceberg and Databricks.
FIRST_WORD_OF_SPARK = re.compile(
    r"(ADD|ALTER|ANALYZE|BEGIN|CACHE|CALL|CLEAR|COMMENT|COMMIT|CONVERT|COPY|CREATE|DECLARE|DELETE"
    r"|DENY|DESC|DESCRIBE|DFS|DROP|EXECUTE|EXPLAIN|EXPORT|FROM|FSCK|GENERATE|GET|GRANT|IMPORT"
    r"|INSERT|LIST|LOAD|LOCK|MAP|MERGE|MSCK|OPTIMIZE|PUT|REDUCE|REFRESH|REMOVE|REORG|REPAIR|REPLACE"
    r"|RESET|RESTORE|REVOKE|ROLLBACK|SELECT|SET|SHOW|START|SYNC|TABLE|TRUNCATE|UNCACHE|UNDROP"
    r"|UNLOCK|UNSET|UPDATE|USE|VACUUM|VALUES|WITH)\b",
    re.IGNORECASE,
)


def is_rejected_like_spark(text: str) -> bool:
    """Return whether Spark rejects a statement, too, if Sail's parser rejects it.

    This is true for a statement that Sail parses, and for a text that is not a statement of Spark.

    Args:
        text: the statement, without blanks or comments before its first word.

    >>> is_rejected_like_spark("INSERT INTO t SELECT 1"), is_rejected_like_spark("hello world")
    (True, True)
    >>> is_rejected_like_spark("TRUNCATE TABLE t")
    False
    """
    explain = EXPLAIN.match(text)
    start = 0 if explain is None else explain.end()
    if FULLY_PARSED.match(text, start):
        return True
    return FIRST_WORD_OF_SPARK.match(text, start) is None
