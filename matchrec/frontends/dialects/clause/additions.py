"""Parts of the clause that one product has added: taken out, and said in the words of ours.

OPTIONS (use_longest_match = TRUE)    BigQuery     PATTERN (...) LONGEST MATCH
LIMIT DURATION (minute, 5)            Azure        PATTERN (...) WITHIN INTERVAL 5 MINUTE
PATTERN (a | )                        BigQuery     PATTERN (a | ())
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.clause.limits import Feature
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.product import Addition
from matchrec.frontends.dialects.rules.values.times import unit_of
from matchrec.frontends.lexing.tokens import Token, pair_brackets
from matchrec.frontends.sql.clause.sections import ClauseTokens
from matchrec.source import Span

_LONGEST = "USE_LONGEST_MATCH"
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_TRUTH = {"TRUE": True, "FALSE": False}


@dataclass(frozen=True, slots=True)
class Added:
    """Characters that only one product reads, and the words after PATTERN that say the same.

    feature: what they ask for, if anything.
    """

    span: Span
    words: str
    feature: Feature | None

    def edits(self, pattern: Span) -> Iterator[Edit]:
        """Take it out, and say it after the row pattern, which stands at `pattern`."""
        yield Edit(self.span, "")
        if self.words:
            yield Edit(Span(pattern.end, pattern.end), f" {self.words}")


def without_additions(
    clause: ClauseTokens, additions: frozenset[Addition], values: Mapping[str, object]
) -> tuple[ClauseTokens, tuple[Added, ...]]:
    """The tokens of a clause in the grammar of all, and what a product has added to it.

    values: of the query's parameters, as far as they are known.
    """
    found = tuple(_additions(clause, additions, values))
    if not found:
        return clause, ()

    def stays(token: Token) -> bool:
        return not any(one.span.holds(token.span) for one in found)

    tokens = tuple(filter(stays, clause.tokens))
    return replace(clause, tokens=tokens, pairs=pair_brackets(tokens)), found


def _additions(
    clause: ClauseTokens, additions: frozenset[Addition], values: Mapping[str, object]
) -> Iterator[Added]:
    for index in clause.level(0, len(clause)):
        words = clause.key(index), clause.key(index + 1)
        if Addition.LONGEST_MATCH in additions and words == ("OPTIONS", "("):
            yield _options(clause, index, values)
        if Addition.DURATION in additions and words == ("LIMIT", "DURATION"):
            yield _duration(clause, index)


def _options(clause: ClauseTokens, index: int, values: Mapping[str, object]) -> Added:
    closing = _closing(clause, index + 1)
    longest = False
    for start, end in clause.separated(index + 2, closing):
        if start == end:
            continue
        value = _truth(clause, start + 2, end, values)
        if clause.key(start) != _LONGEST or value is None:
            raise errors.unknown_option(clause.span(start, end), _LONGEST.lower())
        longest = value
    span = clause.span(index, closing + 1)
    return Added(span, "LONGEST MATCH", Feature.LONGEST) if longest else Added(span, "", None)


def _truth(clause: ClauseTokens, start: int, end: int, values: Mapping[str, object]) -> bool | None:
    """TRUE, FALSE or the value of a parameter `@name`, None for all else."""
    if end - start == 1:
        return _TRUTH.get(clause.key(start))
    is_parameter = end - start == 2 and clause.key(start) == "@"
    value = values.get(clause[end - 1].text) if is_parameter else None
    return value if isinstance(value, bool) else None


def _duration(clause: ClauseTokens, index: int) -> Added:
    closing = _closing(clause, index + 2)
    parts = clause.separated(index + 3, closing)
    if len(parts) != 2 or any(start == end for start, end in parts):
        raise errors.malformed_duration(clause.span(index, closing + 1))
    unit, amount = (clause.text_at(clause.span(*part)) for part in parts)
    if not amount.isdigit() or not int(amount) or unit_of(unit) not in _UNITS:
        raise errors.malformed_duration(clause.span(index, closing + 1))
    words = f"WITHIN INTERVAL '{amount}' {unit_of(unit)}"
    return Added(clause.span(index, closing + 1), words, Feature.WITHIN)


def option_edits(clause: ClauseTokens, pattern: Span) -> Iterator[Edit]:
    """LONGEST MATCH after PATTERN, which stands at `pattern`, as an option of the clause."""
    for index in clause.level(0, len(clause)):
        words = clause.key(index), clause.key(index + 1)
        if clause[index].span.start > pattern.end and words == ("LONGEST", "MATCH"):
            end = clause[len(clause) - 1].span.end
            yield Edit(clause.span(index, index + 2), "")
            yield Edit(Span(end, end), f" OPTIONS ({_LONGEST.lower()} = TRUE)")
            return


def _closing(clause: ClauseTokens, opening: int) -> int:
    if opening not in clause.pairs:
        raise errors.malformed_duration(clause.span(opening - 2, opening))
    return clause.pairs[opening]
