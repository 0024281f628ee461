"""The kinds of statements that Sail's parser knows."""

from __future__ import annotations

import re

# The start of a statement of a kind that Sail parses in all forms that Spark has.
_KNOWN = re.compile(
    r"(SELECT|VALUES|INSERT|DELETE|UPDATE|MERGE"
    r"|CREATE\s+(OR\s+REPLACE\s+)?((GLOBAL\s+)?TEMP(ORARY)?\s+|EXTERNAL\s+)?"
    r"(TABLE|VIEW|DATABASE|SCHEMA)"
    r"|DROP\s+(TABLE|VIEW|DATABASE|SCHEMA))\b",
    re.IGNORECASE,
)

# An EXPLAIN before a statement, if there is one.
_EXPLAIN = re.compile(
    r"(EXPLAIN\s+((EXTENDED|CODEGEN|COST|FORMATTED|LOGICAL)\s+)?)?", re.IGNORECASE
)

# The first words of the statements of Spark, and of Delta Lake, Iceberg and Databricks.
_FIRST_WORDS_OF_SPARK = re.compile(
    r"(ADD|ALTER|ANALYZE|BEGIN|CACHE|CALL|CLEAR|COMMENT|COMMIT|CONVERT|COPY|CREATE|DECLARE|DELETE"
    r"|DENY|DESC|DESCRIBE|DFS|DROP|EXECUTE|EXPLAIN|EXPORT|FROM|FSCK|GENERATE|GET|GRANT|IMPORT"
    r"|INSERT|LIST|LOAD|LOCK|MAP|MERGE|MSCK|OPTIMIZE|PUT|REDUCE|REFRESH|REMOVE|REORG|REPAIR|REPLACE"
    r"|RESET|RESTORE|REVOKE|ROLLBACK|SELECT|SET|SHOW|START|SYNC|TABLE|TRUNCATE|UNCACHE|UNDROP"
    r"|UNLOCK|UNSET|UPDATE|USE|VACUUM|VALUES|WITH)\b",
    re.IGNORECASE,
)


def is_known_statement(text: str) -> bool:
    """Return whether Sail rejects a statement only if Spark rejects it, too.

    True for a kind of statement that Sail parses, and for a text that is no statement of Spark.

    Args:
        text: the statement, without blanks or comments before its first word.

    >>> is_known_statement("INSERT INTO t SELECT 1"), is_known_statement("hello world")
    (True, True)
    >>> is_known_statement("TRUNCATE TABLE t"), is_known_statement("CREATE FUNCTION f AS 'x.F'")
    (False, False)
    """
    start = _EXPLAIN.match(text)
    position = 0 if start is None else start.end()
    if _KNOWN.match(text, position):
        return True
    return _FIRST_WORDS_OF_SPARK.match(text, position) is None
