"""Typographic and East Asian characters that look like signs of SQL."""

from __future__ import annotations

# For the full-width form of each ASCII character: the character.
_WIDE = {chr(0xFEE0 + code): chr(code) for code in range(ord("!"), ord("~") + 1)}

# The signs of SQL to write for typographic and full-width East Asian characters.
LOOK_ALIKES = {
    **{wide: ascii_sign for wide, ascii_sign in _WIDE.items() if not ascii_sign.isalnum()},
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014", "-"),
    **dict(zip("\u2264\u2265\u2260", ("<=", ">=", "<>"), strict=True)),
    **dict(zip("\u2227\u2228\u00ac", ("AND", "OR", "NOT"), strict=True)),
    **dict(zip("\u00d7\u00f7\u3001\u3002", "*/,.", strict=True)),
}


def find_look_alike_hint(sentence: str) -> str | None:
    """Return the help for the first character of a sentence that looks like a sign of SQL.

    Word processors replace quotes and dashes, and East Asian scripts have their own signs. Returns
    None if the sentence has no such character.

    >>> find_look_alike_hint("Syntax error at or near '‘'"), find_look_alike_hint("Syntax error")
    ("write ' for ‘", None)
    """
    for character in sentence:
        if character in LOOK_ALIKES:
            return f"write {LOOK_ALIKES[character]} for {character}"
    return None
