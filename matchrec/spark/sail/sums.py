"""Write the ends of windows so that Sail computes them for keys of every numeric type.

The end of a window is a sum: an ORDER BY key plus a number. matchrec writes the sum with `try_add`,
so that a sum that is too large is NULL. But Sail's `try_add` adds a BIGINT only to a BIGINT. So the
sum is rewritten with `+` and a test:

    try_add(t, 5L)   →   CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END
"""

from __future__ import annotations

import re

from matchrec.plan.text import SUM_OR_NULL
from matchrec.spark.sail.call_arguments import split_call_arguments

LARGEST_BIGINT = (1 << 63) - 1

# The literal of a BIGINT, perhaps in parentheses: `5L`, `(5L)`.
BIGINT_LITERAL = re.compile(r"\s*\(?(\d+)L\)?\s*")


def rewrite_sums(text: str) -> str:
    """Return SQL in which no `try_add` of matchrec adds a BIGINT literal to a key.

    Only sums of `plan.text.write_sum_or_null` are rewritten, not a `try_add` of the user. A sum
    beyond BIGINT is still NULL. Sums of a key and anything else, such as an interval, stay as they
    are.

    >>> from matchrec.plan.text import write_sum_or_null
    >>> rewrite_sums(write_sum_or_null("t", "5L"))
    'CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END'
    """
    start = text.find(f"{SUM_OR_NULL}(")
    if start < 0:
        return text
    arguments = split_call_arguments(text, start + len(f"{SUM_OR_NULL}("))
    if arguments is None:
        return text
    key_text, length = arguments.texts
    key = rewrite_sums(key_text)
    literal = BIGINT_LITERAL.fullmatch(length)
    if literal is None:
        new_sum = f"{SUM_OR_NULL}({key},{length})"
    else:
        largest_key = LARGEST_BIGINT - int(literal[1])
        new_sum = f"CASE WHEN ({key}) <= {largest_key}L THEN ({key}) + {literal[1]}L END"
    return text[:start] + new_sum + rewrite_sums(text[arguments.end + 1 :])
