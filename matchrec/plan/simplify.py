"""Row pattern → row pattern with the same words in the same preferment order, and fewer nodes."""

from __future__ import annotations

from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    Permutation,
    Quantified,
    RowPattern,
    alternation,
    concatenation,
    permutation,
)


def simplify(pattern: RowPattern) -> RowPattern:
    """The pattern without `{1}`, loops over nothing, and needless nesting, bottom up.

    >>> from matchrec.plan.pattern import Variable, show
    >>> show(simplify(Quantified(Concatenation((Variable("A"), Empty())), 1, 1)))
    'A'
    """
    match pattern:
        case Concatenation(parts, span):
            return concatenation([simplify(part) for part in parts], span)
        case Alternation(parts, span):
            return alternation(without_repeats([simplify(part) for part in parts]), span)
        case Permutation(parts, span):
            return permutation([simplify(part) for part in parts], span)
        case Exclusion(part, span):
            inner = simplify(part)
            return inner if isinstance(inner, Empty) else Exclusion(inner, span)
        case Quantified(part, least, most, greedy, span):
            inner = simplify(part)
            if isinstance(inner, Empty) or (least, most) == (1, 1):
                return inner
            return Quantified(inner, least, most, greedy, span)
        case _:
            return pattern


def without_repeats(parts: list[RowPattern]) -> list[RowPattern]:
    """The alternatives without one that an earlier one equals: it could never be preferred."""
    return list(dict.fromkeys(parts))
