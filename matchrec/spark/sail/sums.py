"""Write the ends of windows so that Sail computes them for keys of every numeric type.

The end of a window is a sum: an ORDER BY key plus a number. matchrec writes the sum with `try_add`,
so that a sum that is too large is NULL. But Sail's `try_add` adds a BIGINT only to a BIGINT. So the
sum is rewritten with `+` and a test:

    try_add(t, 5L)   →   CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END
"""

from __future__ import annotations

import re

from matchrec.plan.text import SUM_OR_NULL

LARGEST_BIGINT = (1 << 63) - 1

# Parentheses, commas and quoted texts. Quoted texts come first in the expression, so that no
# parenthesis or comma is found inside of them.
PUNCTUATION = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|[(),]""", re.DOTALL)

WHOLE_NUMBER = re.compile(r"\s*\(?(\d+)L\)?\s*")


def rewrite_sums(text: str) -> str:
    """Return SQL in which no `try_add` adds a whole number to a key.

    Only sums of `plan.text.write_sum_or_null` are rewritten, not a `try_add` of the user. A sum
    beyond BIGINT is still NULL. Sums with an interval, or another value that is not a BIGINT
    literal, stay as they are.

    >>> from matchrec.plan.text import write_sum_or_null
    >>> rewrite_sums(write_sum_or_null("t", "5L"))
    'CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END'
    """
    start = text.find(f"{SUM_OR_NULL}(")
    if start < 0:
        return text
    start_of_key = start + len(SUM_OR_NULL) + 1
    offsets = find_commas_and_end(text, start_of_key)
    if offsets is None:
        return text
    *_, comma, end = offsets
    key = rewrite_sums(text[start_of_key:comma])
    length = text[comma + 1 : end]
    before = text[:start]
    after = rewrite_sums(text[end + 1 :])
    number = WHOLE_NUMBER.fullmatch(length)
    if number is None:
        return f"{before}{SUM_OR_NULL}({key},{length}){after}"
    largest_key = LARGEST_BIGINT - int(number[1])
    return f"{before}CASE WHEN ({key}) <= {largest_key}L THEN ({key}) + {number[1]}L END{after}"


def find_commas_and_end(text: str, start: int) -> list[int] | None:
    """Return the offsets of the commas between arguments of a call, then of its last parenthesis.

    Commas in parentheses or quotes are not between arguments and do not count.

    Args:
        text: SQL.
        start: the offset of the first argument of the call.

    Returns:
        The offsets in the text; None if the call has no closing parenthesis.

    >>> find_commas_and_end("f(g(x, y), ')')", 2)
    [9, 14]
    """
    offsets: list[int] = []
    depth = 1
    for sign in PUNCTUATION.finditer(text, start):
        if sign[0] == "(":
            depth += 1
        elif sign[0] == ")":
            depth -= 1
        if depth == 0:
            return [*offsets, sign.start()]
        if sign[0] == "," and depth == 1:
            offsets.append(sign.start())
    return None
