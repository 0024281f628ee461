"""Lambda functions among the tokens of an expression, and where their variables stand.

exists(A.xs, x -> x > B.y)      aggregate(A.xs, 0, (sum, x) -> sum + x)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matchrec.dataclass import dataclass
from matchrec.frontends.lexing.tokens import CLOSING, Token, TokenKind, level


@dataclass(frozen=True, slots=True)
class WrittenLambda:
    """Tokens `start .. end`, of which those after `arrow` are the body.

    names: where the names of its variables stand, before the arrow.
    """

    start: int
    arrow: int
    end: int
    names: tuple[int, ...]


def find_lambdas(tokens: Sequence[Token], pairs: dict[int, int]) -> dict[int, WrittenLambda]:
    """The lambda functions by their first tokens, outer ones before those inside."""
    openings = {closing: opening for opening, closing in pairs.items()}
    found = {}
    for arrow, token in enumerate(tokens):
        if token.key != "->":
            continue
        start = openings.get(arrow - 1, arrow - 1)
        names = (start,) if start == arrow - 1 else tuple(range(start + 1, arrow - 1, 2))
        if all(tokens[name].kind is TokenKind.WORD for name in names):
            found[start] = WrittenLambda(start, arrow, end_of_body(tokens, pairs, arrow), names)
    return found


def end_of_body(tokens: Sequence[Token], pairs: dict[int, int], arrow: int) -> int:
    """The comma or the bracket after what an arrow leads to."""
    ends = (
        at
        for at in level(pairs, arrow + 1, len(tokens))
        if tokens[at].key == "," or tokens[at].key in CLOSING
    )
    return next(ends, len(tokens))


def find_variables(
    tokens: Sequence[Token], lambdas: Iterable[WrittenLambda]
) -> dict[int, WrittenLambda]:
    """By the place of each variable in a body, the lambda function whose variable it is."""
    found: dict[int, WrittenLambda] = {}
    for one in lambdas:
        names = {tokens[name].text for name in one.names}
        for place in range(one.arrow + 1, one.end):
            if tokens[place].text in names and may_be_variable(tokens, place):
                found[place] = one
    named = {name for one in lambdas for name in one.names}
    return {place: one for place, one in found.items() if place not in named}


def may_be_variable(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word is neither a field, nor a function."""
    after = tokens[place + 1].key if place + 1 < len(tokens) else ""
    is_word = tokens[place].kind is TokenKind.WORD
    return is_word and tokens[place - 1].key != "." and after != "("
