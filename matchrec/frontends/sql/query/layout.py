"""Text that takes up the place of other text, so that what follows keeps its line and column."""

from __future__ import annotations

from matchrec.plan.text.template import Template, View


def hole_in(written: str, view: View) -> Template:
    """A hole for `view`, as many lines and columns large as `written`.

    It is put into a middle line where there is one: so it is not in Spark's picture of the text
    before or after it, and a name that is too long moves nothing.

    >>> hole_in("t MATCH_RECOGNIZE (\\n  PATTERN (A)\\n)", View("m"))
    ('                   \\n', View(name='m'), '\\n ')
    """
    lines = [" " * len(line) for line in written.split("\n")]
    inner = range(1, len(lines) - 1)
    if inner:
        chosen = max(inner, key=lambda index: len(lines[index]))
        before, after = lines[:chosen], lines[chosen + 1 :]
        return (
            "".join(f"{line}\n" for line in before),
            View(view.name, len(lines[chosen])),
            "".join(f"\n{line}" for line in after),
        )
    first, *last = lines
    rest = "".join(f"\n{line}" for line in last) or " "
    return " ", View(view.name, max(0, len(first) - len(" ") - (not last))), rest


def written_into(blank: str, word: str) -> str:
    """A word at the end of text that is blank otherwise; on the line before where that is full.

    >>> written_into("SELECT x FROM ", "FROM"), written_into("FROM\\n", "FROM")
    ('         FROM ', 'FROM\\n')
    """
    *before, last = (" " * len(line) for line in blank.split("\n"))
    if len(last) < len(word) and before:
        before[-1] = before[-1][: -len(word)] + word
    else:
        space = " " * (len(last) > len(word))
        last = f"{word}{space}".rjust(len(last))
    return "\n".join([*before, last])
