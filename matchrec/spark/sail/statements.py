"""Decide whether a statement that Sail's parser rejects is also wrong in Spark.

Sail's parser does not know all statements of Spark, so a statement that it rejects may be right.
"""

from __future__ import annotations

import re

# A comment. The regular expressions below expect none between the words of a statement.
COMMENT = re.compile(r"--[^\n]*(?:\n|$)|/\*.*?\*/", re.DOTALL)

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

# The start of a statement of Spark, Delta Lake, Iceberg or Databricks.
START_IN_SPARK = re.compile(
    r"(ALTER|ANALYZE|BEGIN|CACHE|CALL|COMMIT|CREATE|DECLARE|DELETE|DENY|DESC|DESCRIBE|DFS|DROP"
    r"|EXECUTE|EXPLAIN|FROM|FSCK|GRANT|INSERT|MERGE|MSCK|OPTIMIZE|REFRESH|REORG|REPLACE|RESET"
    r"|REVOKE|ROLLBACK|SELECT|SET|SHOW|TABLE|TRUNCATE|UNCACHE|UNDROP|UNSET|UPDATE|USE|VACUUM|VALUES"
    r"|WITH|(ADD|LIST)\s+(FILES?|JARS?|ARCHIVES?)|CLEAR\s+CACHE|COMMENT\s+ON|CONVERT\s+TO"
    r"|COPY\s+INTO|(EXPORT|IMPORT|REPAIR|RESTORE)\s+TABLE|GENERATE\s+SYMLINK_FORMAT_MANIFEST"
    r"|LOAD\s+DATA|(LOCK|UNLOCK)\s+(DATABASE|TABLE)|(MAP|REDUCE)\s+\S+|START\s+TRANSACTION)\b",
    re.IGNORECASE,
)


def is_rejected_like_spark(text: str) -> bool:
    """Return whether Spark also rejects a statement that Sail's parser has rejected.

    True for a kind of statement that Sail parses, and for a text that is not a statement of Spark.

    Args:
        text: the statement, without blanks or comments before its first word.

    >>> is_rejected_like_spark("INSERT INTO t SELECT 1"), is_rejected_like_spark("hello world")
    (True, True)
    >>> is_rejected_like_spark("TRUNCATE TABLE t"), is_rejected_like_spark("EXPLAIN /* */ USE t")
    (False, False)
    """
    words = COMMENT.sub(" ", text)
    explain = EXPLAIN.match(words)
    start = 0 if explain is None else explain.end()
    if FULLY_PARSED.match(words, start):
        return True
    return START_IN_SPARK.match(words, start) is None
