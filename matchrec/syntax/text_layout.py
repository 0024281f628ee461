"""Write replacements that take as many lines and columns as the text that they replace.

Spark can report errors about the text after a replacement. Thanks to the same layout, these errors
have the line and the column of the user's text.
"""

from __future__ import annotations

from matchrec.plan.templates import Template, View


def make_hole(text: str, view: View) -> Template:
    """Return a hole for `view` and blanks, which take as many lines and columns as `text`.

    If `text` has three lines or more, the hole goes into the longest line between the first and the
    last line. So the hole is not in a line that Spark prints for an error before or after it, and a
    name that is too long for its line does not move other text.

    >>> make_hole("t MATCH_RECOGNIZE (\\n  PATTERN (A)\\n)", View("m"))
    ('                   \\n', View(name='m'), '\\n ')
    """
    blank_lines = blank_out(text).split("\n")
    inner_lines = range(1, len(blank_lines) - 1)
    if inner_lines:
        longest = max(inner_lines, key=lambda index: len(blank_lines[index]))
        before = "".join(f"{line}\n" for line in blank_lines[:longest])
        after = "".join(f"\n{line}" for line in blank_lines[longest + 1 :])
        return before, View(view.name, len(blank_lines[longest])), after
    first_line, *other_lines = blank_lines
    # Blanks around the hole separate its name from the words before and after it.
    after = "".join(f"\n{line}" for line in other_lines) or " "
    blanks = len(" ") if other_lines else len("  ")
    return " ", View(view.name, max(0, len(first_line) - blanks)), after


def blank_out(text: str) -> str:
    """Return blanks that take as many lines and columns as a text.

    >>> blank_out("SELECT x\\nFROM")
    '        \\n    '
    """
    return "\n".join(" " * len(line) for line in text.split("\n"))


def write_at_end(text: str, *words: str) -> str:
    """Blank out a text, and write words at its end without changing the length of a line.

    A blank stays after the last word if there is room for it. Words that do not fit into the last
    line are written into the lines before it.

    Raises:
        ValueError: the text has no room for the words.

    >>> write_at_end("SELECT x FROM ", "FROM"), write_at_end("FROM\\n", "FROM")
    ('         FROM ', 'FROM\\n')
    >>> write_at_end("SELECT\\n  x\\nFROM ", "SELECT", "*", "FROM")
    'SELECT\\n  *\\nFROM '
    """
    lines = blank_out(text).split("\n")
    index = len(lines) - 1
    end = len(lines[-1])
    for word in reversed(words):
        while end < len(word):
            if index == 0:
                raise ValueError(f"no room for {word}")
            index -= 1
            end = len(lines[index])
        is_at_end_of_text = index == len(lines) - 1 and end == len(lines[-1])
        start = end - len(word)
        if is_at_end_of_text and start > 0:
            start -= 1  # for the blank after the last word
        line = lines[index]
        lines[index] = f"{line[:start]}{word}{line[start + len(word) :]}"
        end = start
    return "\n".join(lines)


def replace_select_list(text: str) -> str:
    """Replace the select list of a query by a `*` at its end, without changing lines and columns.

    Args:
        text: the word SELECT and the select list, up to its last token.

    >>> replace_select_list("SELECT x, y"), replace_select_list("SELECT\\n  x")
    ('SELECT    *', 'SELECT\\n  *')
    """
    select_list = text[len("SELECT") :]
    return f"SELECT{blank_out(select_list)[:-1]}*"
