"""LIKE and ILIKE: `%` is any text, `_` any character, and the escape takes that from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from matchrec.conditions.functions.function import Function, FunctionError, function
from matchrec.conditions.functions.texts.letters import lower
from matchrec.conditions.types import BOOLEAN, Family

TEXT = Family.STRING
ANY = {"%": ".*", "_": "."}


@lru_cache(maxsize=1000)
def compiled(pattern: str, escape: str) -> re.Pattern[str]:
    """The expression of a pattern. Raises where the escape is before anything else."""
    found = []
    characters = iter(pattern)
    for character in characters:
        if character != escape:
            found.append(ANY.get(character) or re.escape(character))
            continue
        escaped = next(characters, "")
        if escaped not in ("%", "_", escape):
            raise FunctionError(f"INVALID_FORMAT: {escape!r} escapes {escaped!r} in {pattern!r}")
        found.append(re.escape(escaped))
    return re.compile("".join(found), re.DOTALL)


def is_like(text: str, pattern: str, escape: str = "\\") -> bool:
    return compiled(pattern, escape).fullmatch(text) is not None


def is_like_in_any_case(text: str, pattern: str, escape: str = "\\") -> bool:
    return is_like(lower(text), lower(pattern), escape)


LIKES: Mapping[str, Function] = {
    "LIKE": function((TEXT,) * 3, BOOLEAN, is_like, least=2),
    "ILIKE": function((TEXT,) * 3, BOOLEAN, is_like_in_any_case, least=2),
}
