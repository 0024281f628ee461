"""Parts of the clause that one product has added: taken out, and said in the words of ours.

OPTIONS (use_longest_match = TRUE)    BigQuery     PATTERN (...) LONGEST MATCH
LIMIT DURATION (minute, 5)            Azure        PATTERN (...) WITHIN INTERVAL 5 MINUTE
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.lexing.tokens import Token, pair_brackets
from matchrec.frontends.sql.clause.sections import ClauseTokens
from matchrec.source import Span

_LONGEST = "USE_LONGEST_MATCH"
_TRUTH = {"TRUE": True, "FALSE": False}


@dataclass(frozen=True, slots=True)
class Addition:
    """Characters that only one product reads, and the words after PATTERN that say the same."""

    span: Span
    words: str

    def edits(self, pattern: Span) -> Iterator[Edit]:
        """Take it out, and say it after the row pattern, which stands at `pattern`."""
        yield Edit(self.span, "")
        if self.words:
            yield Edit(Span(pattern.end, pattern.end), f" {self.words}")


def without_additions(clause: ClauseTokens) -> tuple[ClauseTokens, tuple[Addition, ...]]:
    """The tokens of a clause in the grammar of all, and what one product has added to it."""
    found = tuple(_additions(clause))
    if not found:
        return clause, ()

    def stays(token: Token) -> bool:
        return not any(one.span.holds(token.span) for one in found)

    tokens = tuple(filter(stays, clause.tokens))
    return replace(clause, tokens=tokens, pairs=pair_brackets(tokens)), found


def _additions(clause: ClauseTokens) -> Iterator[Addition]:
    for index in clause.level(0, len(clause)):
        opening = index + 1
        match clause.key(index), clause.key(opening):
            case "OPTIONS", "(" if opening in clause.pairs:
                yield _options(clause, index)
            case "LIMIT", "DURATION" if index + 2 in clause.pairs:
                yield _duration(clause, index)


def _options(clause: ClauseTokens, index: int) -> Addition:
    closing = clause.pairs[index + 1]
    longest = False
    for start, end in clause.separated(index + 2, closing):
        value = _TRUTH.get(clause.key(end - 1))
        if end - start != 3 or clause.key(start) != _LONGEST or value is None:
            raise errors.unknown_option(clause.span(start, end), _LONGEST.lower())
        longest = value
    return Addition(clause.span(index, closing + 1), "LONGEST MATCH" if longest else "")


def _duration(clause: ClauseTokens, index: int) -> Addition:
    closing = clause.pairs[index + 2]
    parts = clause.separated(index + 3, closing)
    if len(parts) != 2:
        raise errors.malformed_duration(clause.span(index, closing + 1))
    unit, amount = (clause.text_at(clause.span(*part)) for part in parts)
    return Addition(clause.span(index, closing + 1), f"WITHIN INTERVAL {amount} {unit.upper()}")
