"""Recognize what a text is: a query, a clause or a SASE+ text by its start, or a file name.

The regular expressions are for `match`, and `FILE_NAME` for `fullmatch`.
"""

from __future__ import annotations

import re

from matchrec.errors.calls import file_name_as_query
from matchrec.errors.kinds import with_source
from matchrec.source import Source, Span
from matchrec.syntax.tokens import BLANKS

# The start of a SASE+ text, with or without PATTERN before SEQ. In a clause of SQL, PATTERN is
# followed by a parenthesis.
SASE_START = re.compile(rf"{BLANKS}(PATTERN\s+SEQ\b|SEQ\s*\()", re.IGNORECASE)

# The start of a clause or of a SASE+ text. No statement of Spark starts like this.
CLAUSE_OR_SASE_START = re.compile(
    rf"{BLANKS}(?P<word>PARTITION\s+BY|ORDER\s+BY|MEASURES|PATTERN|MATCH_RECOGNIZE|SEQ(?=\s*\())\b",
    re.IGNORECASE,
)

# The start of a clause of SQL. PATTERN is left out, because SASE+ texts also start with PATTERN.
CLAUSE_START = re.compile(
    rf"{BLANKS}(?P<word>PARTITION\s+BY|ORDER\s+BY|MEASURES|MATCH_RECOGNIZE)\b", re.IGNORECASE
)

# The name of a file, with white space around it.
FILE_NAME = re.compile(r"\s*(?P<name>[\w./\\:~-]+\.(?:sql|sase|txt))\s*", re.IGNORECASE)

# The start of a query, after comments and parentheses.
_QUERY = re.compile(rf"({BLANKS}\()*{BLANKS}(SELECT|WITH|FROM|VALUES)\b", re.IGNORECASE)

# A word of a statement that changes a table. It may come after WITH.
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE)


def reject_file_name(text: str) -> None:
    """Check that a text is not the name of a file.

    Raises:
        MatchRecognizePlanError: the text is the name of a file, such as `falls.sql`.
    """
    file_name = FILE_NAME.fullmatch(text)
    if file_name is not None:
        error = file_name_as_query(Span(*file_name.span("name")), path=file_name["name"])
        raise with_source(error, Source(text))


def is_query(text: str) -> bool:
    """Return whether a statement is certainly a query, which changes nothing.

    >>> is_query("-- all\\nSELECT 1"), is_query("WITH c AS (SELECT 1) INSERT INTO t FROM c")
    (True, False)
    """
    return _QUERY.match(text) is not None and _WRITES.search(text) is None
