"""Write sums so that Sail computes them for keys of every numeric type.

Such a sum is the end of a window: a key plus a number.

`try_add` of Sail adds a BIGINT to a BIGINT only. So the sum is written with `+` and a check.
"""

from __future__ import annotations

import re

from matchrec.plan.text import SUM_OR_NULL

# The largest BIGINT.
MOST = (1 << 63) - 1

# Parentheses and commas. Quoted text comes first, because those inside it do not count.
PARTS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|[(),]""", re.DOTALL)

WHOLE_NUMBER = re.compile(r"\s*\(?(\d+)L\)?\s*")


def rewrite_sums(text: str) -> str:
    """Return SQL in which no `try_add` adds a BIGINT to a key. A sum beyond BIGINT stays NULL:

    try_add(t, 5L)   →   CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END
    """
    start = text.find(f"{SUM_OR_NULL}(")
    if start < 0:
        return text
    inside = start + len(SUM_OR_NULL) + 1
    offsets = find_commas_and_end(text, inside)
    if offsets is None:
        return text
    *_, comma, end = offsets
    key = rewrite_sums(text[inside:comma])
    length = text[comma + 1 : end]
    before = text[:start]
    after = rewrite_sums(text[end + 1 :])
    number = WHOLE_NUMBER.fullmatch(length)
    if number is None:
        return f"{before}{SUM_OR_NULL}({key},{length}){after}"
    most = MOST - int(number[1])
    return f"{before}CASE WHEN ({key}) <= {most}L THEN ({key}) + {number[1]}L END{after}"


def find_commas_and_end(text: str, start: int) -> list[int] | None:
    """Return where the commas of a call are, and its closing parenthesis; None if it has none.

    >>> find_commas_and_end("f(g(x, y), ')')", 2)
    [9, 14]
    """
    offsets: list[int] = []
    depth = 1
    for part in PARTS.finditer(text, start):
        if part[0] == "(":
            depth += 1
        elif part[0] == ")":
            depth -= 1
        if depth == 0:
            return [*offsets, part.start()]
        if part[0] == "," and depth == 1:
            offsets.append(part.start())
    return None
