"""Recognise queries that only select columns of a view.

For such a query, methods of the DataFrame do the same without Spark's parser.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import TokenType

from matchrec.plan.templates import Template, View
from matchrec.plan.words import is_reserved
from matchrec.syntax.tokenize import read_sqlglot_tokens

# The text before the view: `SELECT a, b FROM `.
_SELECT_FROM = re.compile(
    r"\s*SELECT(?:\s*\*\s*|\s+(?P<names>[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s+)FROM\s*",
    re.IGNORECASE,
)

# The text after the view: ` AS v`.
_ONLY_ALIAS = re.compile(r"\s*(?:(?:AS\s+)?(?P<alias>[A-Za-z_]\w*)\s*)?;?\s*", re.IGNORECASE)

# A comment, but not a hint. A comment with a backslash is left out: Spark may continue it in the
# next line.
_COMMENT = re.compile(r"--[^\n\\]*|/\*(?!\+)(?:[^*]|\*(?!/))*\*/")


class PlainSelect(NamedTuple):
    """A query that only selects columns of a view: `SELECT a, b FROM view AS v`."""

    # The hole for the view.
    view: View
    # The alias of the view; None if there is none.
    alias: str | None
    # The names of the columns; None for `*`.
    names: tuple[str, ...] | None


def match_plain_select(text: Template) -> PlainSelect | None:
    """Return the parts of a query that only selects columns of a view; None for other queries.

    >>> match_plain_select(("SELECT * FROM ", View("t"), " AS m"))
    PlainSelect(view=View(name='t'), alias='m', names=None)
    >>> match_plain_select(("SELECT a, b FROM ", View("t"), ""))
    PlainSelect(view=View(name='t'), alias=None, names=('a', 'b'))
    >>> match_plain_select(("SELECT * FROM ", View("t"), " WHERE x"))
    """
    match text:
        case (str(before), View() as view, str(after)):
            start = _SELECT_FROM.fullmatch(_COMMENT.sub(" ", before))
            end = _ONLY_ALIAS.fullmatch(_COMMENT.sub(" ", after))
        case _:
            return None
    if start is None or end is None:
        return None
    alias = end["alias"]
    names = None if start["names"] is None else tuple(re.findall(r"\w+", start["names"]))
    words = list(names or ())
    if alias is not None:
        words.append(alias)
    if not all(_is_plain_name(word) for word in words):
        return None
    return PlainSelect(view, alias, names)


def _is_plain_name(word: str) -> bool:
    """Return whether Spark reads a word as a name under all settings: it has no meaning in SQL."""
    (token,) = read_sqlglot_tokens(word)
    return token.token_type is TokenType.VAR and not is_reserved(word)
