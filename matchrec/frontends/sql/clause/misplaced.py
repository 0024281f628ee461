"""What stands outside of parentheses, or without a word, so that it is seen what was meant."""

from __future__ import annotations

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as errors
from matchrec.frontends.lexing.function_names import OF_THE_MATCH, words
from matchrec.frontends.lexing.token_sequence import TokenSequence
from matchrec.frontends.lexing.tokens import TokenKind

_UNITS = words(
    """
    YEAR YEARS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS
    MILLISECOND MILLISECONDS MICROSECOND MICROSECONDS
    """
)
_OF_PATTERN = words("^ $ * + ? { |")
_MEASURES = OF_THE_MATCH | words("RUNNING FINAL COUNT SUM AVG MIN MAX")


def is_time(tokens: TokenSequence, index: int) -> bool:
    """Whether a length of time without INTERVAL stands at `index`: `5 DAYS`, `'5' DAY`."""
    inside = 0 <= index < len(tokens)
    return inside and tokens[index].is_constant and tokens.key(index + 1) in _UNITS


def is_distance(tokens: TokenSequence, index: int) -> bool:
    """Whether an interval stands at `index`, with its word or without."""
    return tokens.key(index) == "INTERVAL" or is_time(tokens, index)


def pattern_outside(tokens: TokenSequence, word: int, wrong: int) -> MatchRecognizeError | None:
    """The error of a symbol of PATTERN at `wrong`, outside of its parentheses; None of another.

    word: the index of PATTERN.
    """
    if tokens.key(wrong) not in _OF_PATTERN:
        return None
    end = word + 1
    while end < len(tokens) and _goes_on(tokens, end):
        end = tokens.past(end)
    text = tokens.text_at(tokens.span(word + 1, end))
    return errors.pattern_goes_on(tokens[wrong].text, text, tokens[wrong].span)


def _goes_on(tokens: TokenSequence, index: int) -> bool:
    return tokens[index].kind is TokenKind.SYMBOL or tokens.key(index - 1) == "|"


def part_outside(tokens: TokenSequence, index: int) -> str | None:
    """A part of the clause that starts at `index`, where the query around it cannot go on so."""
    match [tokens.key(at) for at in range(index, index + 3)]:
        case "WITHIN", _, _ if is_distance(tokens, index + 1):
            return "WITHIN"
        case ("ONE", "ROW", "PER") | ("ALL", "ROWS", "PER"):
            return f"{tokens.key(index)} {tokens.key(index + 1)} PER MATCH"
        case "AFTER", "MATCH", "SKIP":
            return "AFTER MATCH SKIP"
        case "MEASURES", function, "(" if function in _MEASURES:
            return "MEASURES"
        case "MEASURES", _, ".":
            return "MEASURES"
    return None
