"""Ends of windows as Sail computes them: a key and a whole number, for keys of every type."""

from __future__ import annotations

import re

from matchrec.plan.text import SUM_OR_NULL

MOST = (1 << 63) - 1  # the largest BIGINT

# What must not be taken for a parenthesis or a comma of the call: quoted text.
PARTS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|[(),]""", re.DOTALL)

WHOLE_NUMBER = re.compile(r"\s*\(?(\d+)L\)?\s*")


def rewrite_sums(text: str) -> str:
    """Return SQL in which no `try_add` adds a BIGINT to a key, which Sail does for BIGINT alone.

    A sum beyond BIGINT stays NULL:

        try_add(t, 5L)   →   CASE WHEN t <= 9223372036854775802 THEN t + 5L END
    """
    start = text.find(f"{SUM_OR_NULL}(")
    if start < 0:
        return text
    inside = start + len(SUM_OR_NULL) + 1
    commas = []
    depth = 1
    for part in PARTS.finditer(text, inside):
        if part[0] == "(":
            depth += 1
        elif part[0] == ")":
            depth -= 1
            if depth == 0:
                end = part.start()
                break
        elif part[0] == "," and depth == 1:
            commas.append(part.start())
    else:
        return text
    key, length = text[inside : commas[-1]], text[commas[-1] + 1 : end]
    before, after = text[:start], rewrite_sums(text[end + 1 :])
    if (number := WHOLE_NUMBER.fullmatch(length)) is None:
        return f"{before}{SUM_OR_NULL}({rewrite_sums(key)},{length}){after}"
    key = rewrite_sums(key)
    most = MOST - int(number[1])
    return f"{before}CASE WHEN ({key}) <= {most}L THEN ({key}) + {number[1]}L END{after}"
