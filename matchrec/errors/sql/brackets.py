"""What to write instead of brackets that Spark SQL lacks: `[1, 2]`, `x[1:2]`, `AS [n]`."""

from __future__ import annotations

import re

from matchrec.errors.wording import shorten, write_name

# A bracket or parenthesis, or a text in quotes, in which brackets do not count.
_BRACKET_OR_QUOTED_TEXT = re.compile(
    r"""[\[\]()]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`""", re.DOTALL
)

CLOSING_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def find_closing_bracket(text: str, opening: int) -> int | None:
    """Return the index of the bracket that closes the bracket at index `opening`, or None.

    >>> find_closing_bracket("f(a, ')', (b)) + (c)", 1), find_closing_bracket("[1, (2]", 0)
    (13, None)
    """
    expected: list[str] = []  # the closing brackets of the brackets that are open
    for part in _BRACKET_OR_QUOTED_TEXT.finditer(text, opening):
        if part[0] in CLOSING_BRACKETS:
            expected.append(CLOSING_BRACKETS[part[0]])
        elif part[0] in (")", "]"):
            if part[0] != expected.pop():
                return None
            if not expected:
                return part.start()
    return None


def _find_open_bracket(text: str) -> int | None:
    """Return the index of the last `[` if it is not closed in the text; else None."""
    openings: list[int] = []
    for part in _BRACKET_OR_QUOTED_TEXT.finditer(text):
        if part[0] == "[":
            openings.append(part.start())
        elif part[0] == "]":
            openings.clear()
    return openings[-1] if openings else None


def _cut_out_of_brackets(text: str) -> str | None:
    """Return the text between the bracket at the start of a text and the one that closes it."""
    closing = find_closing_bracket(text, 0) if text.startswith("[") else None
    return None if closing is None else text[1:closing].strip()


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
    if text == "[":
        return _find_array_hint(before, after)
    conditions = re.search(r"(?i)\b\w+_(?:match|contiguity)\s+(?P<first>[^{}]+)$", before)
    if text == "}" and conditions is not None:  # WHERE of SASE+ without `{`
        return f"add `{{` before {shorten(conditions['first'].strip())}"
    opening = _find_open_bracket(before)
    if opening is None:
        return None
    preceding = before[:opening].rstrip()
    inside = _cut_out_of_brackets(before[opening:] + after)
    if inside is not None and text != "," and re.search(r"(?i)\bAS$", preceding):
        return f"write AS {write_name(inside)}"
    if before.rstrip().endswith(":") or text == ":":
        return "write slice(x, start, length) for a part of the array x"
    if inside is not None and text == ",":
        return f"write {_write_array(inside)}"
    return None


def _find_array_hint(before: str, after: str) -> str:
    """Return what to write for an opening bracket where a value is expected."""
    if before.rstrip().endswith("."):
        return "remove the dot before `[`"
    inside = _cut_out_of_brackets(after)
    if inside is None:
        return "write array(...) for an array, and a name in backticks"
    if re.search(r"(?i)\bfor\b.*\bin\b", _BRACKET_OR_QUOTED_TEXT.sub("", inside)):
        return "write transform(xs, x -> x + 1) or filter(xs, x -> x > 1) for a list comprehension"
    if re.fullmatch(r"[^\W\d]\w*", inside):
        return f"write {inside} for the column, array({inside}) for an array"
    if re.fullmatch(r"[\w $#-]*[^\W\d][\w $#-]*", inside):
        return f"write {write_name(inside)} for a column of this name"
    return f"write {_write_array(inside)}"


def _write_array(inside: str) -> str:
    """Return the call for an array with these items. An item may be an array.

    >>> _write_array("'[a]', [[1], [2]]")
    "array('[a]', array(array(1), array(2)))"
    """
    calls = {"[": "array(", "]": ")"}
    items = _BRACKET_OR_QUOTED_TEXT.sub(lambda part: calls.get(part[0], part[0]), inside)
    return shorten(f"array({items})")
