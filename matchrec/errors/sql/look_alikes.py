"""Characters that look like a sign of SQL, such as typographic quotes and full-width parentheses.

Word processors replace quotes and dashes, and East Asian scripts have their own signs.
"""

from __future__ import annotations

from string import punctuation

# The distance in Unicode from an ASCII sign to its full-width form.
_FULL_WIDTH_DISTANCE = 0xFEE0

# For each look-alike: the sign of SQL to write instead.
LOOK_ALIKES = {
    **{chr(ord(sign) + _FULL_WIDTH_DISTANCE): sign for sign in punctuation},
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014", "-"),  # minus, hyphens and dashes
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "<>",
    "\u2227": "AND",
    "\u2228": "OR",
    "\u00ac": "NOT",
    "\u00d7": "*",
    "\u00f7": "/",
    "\u3001": ",",
    "\u3002": ".",  # the ideographic comma and full stop
}


def find_look_alike_hint(sentence: str) -> str | None:
    """Return the help for the first character of a sentence that looks like a sign of SQL.

    Returns None if the sentence has no such character.

    >>> find_look_alike_hint("Syntax error at or near '‘'"), find_look_alike_hint("Syntax error")
    ("write ' for ‘", None)
    """
    for character in sentence:
        if character in LOOK_ALIKES:
            return f"write {LOOK_ALIKES[character]} for {character}"
    return None
