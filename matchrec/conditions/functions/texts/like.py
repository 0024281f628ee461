"""LIKE and ILIKE: `%` is any text, `_` any character, and the escape takes that from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from matchrec.conditions.functions.function import Function, FunctionError, UndecidedError, function
from matchrec.conditions.functions.texts.letters import lower
from matchrec.conditions.functions.texts.patterns import first
from matchrec.conditions.types import BOOLEAN, STRING
from matchrec.regular_expressions.program import (
    ALL,
    LAST,
    At,
    Boundary,
    Expression,
    One,
    RefusedError,
    Repeat,
    Sequence,
    Tree,
    of_characters,
)
from matchrec.regular_expressions.search import JavaPattern, compiled

TEXT = STRING
ANY: Mapping[str, Tree] = {"%": Repeat(One(ALL), 0, None, greedy=True), "_": One(ALL)}


@lru_cache(maxsize=1000)
def like_pattern(pattern: str, escape: str) -> JavaPattern:
    """What finds the whole of a text. Raises where the escape is before anything else."""
    parts: list[Tree] = [At(Boundary.START)]
    characters = iter(pattern)
    for character in characters:
        if character != escape:
            parts.append(ANY.get(character) or One(of_characters(character)))
            continue
        escaped = next(characters, "")
        if escaped not in ("%", "_", escape):
            raise FunctionError(f"INVALID_FORMAT: {escape!r} escapes {escaped!r} in {pattern!r}")
        parts.append(One(of_characters(escaped)))
    tree = Sequence((*parts, At(Boundary.END)))
    try:
        return compiled(Expression(pattern, tree, 0, {}, frozenset(), LAST))
    except RefusedError as error:
        raise UndecidedError(str(error)) from error


def is_like(text: str, pattern: str, escape: str = "\\") -> bool:
    return first(text, like_pattern(pattern, escape)) is not None


def is_like_in_any_case(text: str, pattern: str, escape: str = "\\") -> bool:
    return is_like(lower(text), lower(pattern), escape)


LIKES: Mapping[str, Function] = {
    "LIKE": function((TEXT,) * 3, BOOLEAN, is_like, least=2),
    "ILIKE": function((TEXT,) * 3, BOOLEAN, is_like_in_any_case, least=2),
}
