"""What to write instead of brackets that Spark SQL lacks: `[1, 2]`, `x[1:2]`, `AS [n]`."""

from __future__ import annotations

import re

from matchrec.errors.wording import shorten, write_name

# An opening bracket with what it holds, which may have brackets nested one deep.
_BRACKETS = re.compile(r"\[(?P<inside>(?:[^\[\]]|\[[^\[\]]*\])*)\]")


def find_bracket_hint(text: str, before: str, after: str) -> str | None:
    """Return what to write for brackets in which a word or sign cannot come next.

    Args:
        text: the word or sign.
        before: the text of the part of the clause before it.
        after: the text from it on.

    Returns:
        None if the word or sign is not about brackets.

    >>> find_bracket_hint("[", "A AS contains(", "[1, 2], v)")
    'write array(1, 2)'
    >>> find_bracket_hint(",", "A AS ARRAY[1", ", 2][0] = v")
    'write array(1, 2)'
    >>> find_bracket_hint("[", "", "[day of week], sym")
    'write `day of week` for a column of this name'
    >>> find_bracket_hint("2", "LAST(A.v)[1:", "2] AS x")
    'write slice(x, start, length) for a part of the array x'
    >>> find_bracket_hint("total", "A.v AS [", "total] PATTERN (A)")
    'write AS total'
    >>> find_bracket_hint("x", "v > 1 ", "x > 2")
    """
    opening = before.rfind("[")
    is_inside = opening > before.rfind("]")
    if text == "[":
        return _find_array_hint(before, after)
    if not is_inside:
        return None
    preceding = before[:opening].rstrip()
    brackets = _BRACKETS.match(before[opening:] + after)
    if brackets is not None and re.search(r"(?i)\bAS$", preceding):
        return f"write AS {write_name(brackets['inside'].strip())}"
    if before.rstrip().endswith(":") or text == ":":
        return "write slice(x, start, length) for a part of the array x"
    if brackets is not None and text == ",":
        return f"write {_write_array(brackets['inside'])}"
    return None


def _find_array_hint(before: str, after: str) -> str:
    """Return what to write for an opening bracket where a value is expected."""
    brackets = _BRACKETS.match(after)
    if before.rstrip().endswith("."):
        return "remove the dot before `[`"
    if brackets is None:
        return "write array(...) for an array, and a name in backticks"
    inside = brackets["inside"].strip()
    if re.search(r"(?i)\bfor\b.*\bin\b", inside):
        return "write transform(xs, x -> x + 1) or filter(xs, x -> x > 1) for a list comprehension"
    if re.fullmatch(r"[^\W\d]\w*", inside):
        return f"write {inside} for the column, array({inside}) for an array"
    if re.fullmatch(r"[\w $#-]*[^\W\d][\w $#-]*", inside):
        return f"write {write_name(inside)} for a column of this name"
    return f"write {_write_array(inside)}"


def _write_array(inside: str) -> str:
    """Return the call for an array with these items. An item may be an array."""
    items = re.sub(r"\[([^\[\]]*)\]", r"array(\1)", inside.strip())
    return shorten(f"array({items})")
