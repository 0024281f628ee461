"""Options of a clause that only one product reads, such as `LIMIT DURATION (minute, 5)`."""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.errors.sql import products as errors
from matchrec.source import Span
from matchrec.syntax.clause_tokens import ClauseTokens


@dataclass(frozen=True, slots=True)
class ProductOption:
    """An option of a clause that only one product reads, such as `LIMIT DURATION (minute, 5)`."""

    # The characters of the option.
    span: Span
    # The words after PATTERN that mean the same, such as `WITHIN INTERVAL '5' MINUTE`; "" if the
    # option says what is so without it.
    words: str


def find_option_end(clause: ClauseTokens, opening: int) -> int:
    """Return the index of the parenthesis that closes an option.

    Raises:
        MatchRecognizeError: there is no parenthesis at `opening`, or nothing closes it.
    """
    if opening not in clause.pairs:
        raise errors.malformed_limit_duration(clause.span(opening - 2, opening))
    return clause.pairs[opening]
