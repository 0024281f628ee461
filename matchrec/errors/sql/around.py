"""What to write instead if an engine refuses the query around the clause.

The engine describes the mistake in its own words, and often says neither where it is nor what to
write. The table has a help for each known mistake. For any other refusal, the help says how to find
the part of the query with the mistake.
"""

from __future__ import annotations

import re

from matchrec.errors.language import current_surface
from matchrec.errors.sql.refusals import SPARK_FUNCTIONS, explain_refusal, find_types_cure
from matchrec.errors.sql.tokens import find_look_alike_cure

# For sentences of Sail or Spark, as regular expressions: what to write. `{file}` is how the user
# reads a file.
_CURES = {
    r"(?:LIMIT|OFFSET) must be >=|Expected (?:LIMIT|OFFSET) to be|INVALID_LIMIT_LIKE_EXPRESSION": (
        "write a whole number of rows, 0 or more"
    ),
    r"TABLESAMPLE with ROWS": "write LIMIT for a number of rows",
    r"(?:unknown table function: |VALUED_FUNCTION\] Could not resolve `)"
    r"\w*(?i:read|scan|csv|json|parquet)": "{file}",
    r"unknown table function|UNRESOLVABLE_TABLE_VALUED_FUNCTION": (
        "write the name of a table, a subquery in parentheses, or a table function such as "
        "range(10)"
    ),
    r"near end of input": "write what is missing after the last word, or remove the last word",
    r"Syntax error at or near": (
        "write a comma or an operator before it; write it in backticks if it is a name; or "
        "remove it"
    ),
    r"another number of arguments|a function has no argument|requires \d+ arguments?"
    r"|the functions min and max take one argument|expects? \d+ arguments?": (
        f"write its arguments as {SPARK_FUNCTIONS} lists them"
    ),
    r"condition must be boolean|FILTER_NOT_BOOLEAN|JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE": (
        "compare it with something, such as x > 0"
    ),
    r"UNRESOLVED_USING_COLUMN_FOR_JOIN|Cannot find column": (
        "write a column that both sides of the JOIN have, or ON with a condition"
    ),
    r"NUM_COLUMNS_MISMATCH|queries have different number of columns": (
        "write the same number of columns in both queries"
    ),
    r"INVALID_WHERE_CONDITION|an aggregate is not allowed here": (
        "write a condition on groups in HAVING, or compute the aggregate in a subquery"
    ),
    r"NESTED_AGGREGATE_FUNCTION|an aggregate is not allowed in another aggregate": (
        "compute the inner aggregate in a subquery"
    ),
    r"AMBIGUOUS_REFERENCE|is ambiguous": "write the name of its table before it, as in t.x",
    r"MISSING_GROUP_BY": "write WHERE instead of HAVING, or add GROUP BY",
    r"extract value from data type|Can't extract a value from": (
        "write the name alone: x[0] and x.y are for arrays, structs and maps"
    ),
    r"IN_SUBQUERY_LENGTH_MISMATCH|SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN"
    r"|a subquery has several columns": "write one column in the SELECT of the subquery",
    r"Cannot resolve column position|BY_POS_OUT_OF_RANGE": (
        "write the name of a column, or the position of one in the SELECT list"
    ),
    r"should only be called with a list or map": "write an array or a map, such as array(x, y)",
    r'WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE\] Window function "(?P<call>\w+\(.*?\))"|'
    r"there is no function `(?P<name>(?i:rank|dense_rank|percent_rank|row_number|ntile|lag|lead"
    r"|cume_dist|nth_value))`": "write OVER (ORDER BY ...) after the parentheses of the function",
    r"is too large$": "write a smaller number",
    r"is not a number$": "write a number, such as INTERVAL '10' MINUTE",
    r"Can only use numbers in the interval": "write a number, such as INTERVAL '10' MINUTE",
}

# The help for a refusal that names no word of the query and has no entry in the table.
FIND_THE_PART = (
    "run SELECT * FROM ... MATCH_RECOGNIZE (...) alone, then add the other parts of the query one "
    "at a time; the part that fails is refused"
)


def find_refusal_cure(message: str, sentence: str) -> str | None:
    """Return what to write for a refusal, or None if we do not know.

    Args:
        message: the whole message of the engine. Spark's has the name of the error condition.
        sentence: the same in plain words.

    >>> find_refusal_cure("LIMIT must be >= 0, '-1' was provided", "LIMIT must be >= 0")
    'write a whole number of rows, 0 or more'
    >>> find_refusal_cure("[NUM_COLUMNS_MISMATCH] UNION can only be ...", "UNION can only be ...")
    'write the same number of columns in both queries'
    >>> find_refusal_cure("no such thing", "no such thing")
    """
    if cure := find_look_alike_cure(sentence):
        return cure
    if refusal := explain_refusal(message):
        return refusal.cure
    for pattern, cure in _CURES.items():
        if re.search(pattern, message) or re.search(pattern, sentence):
            return cure.format(file=current_surface().file)
    return find_types_cure(message)
