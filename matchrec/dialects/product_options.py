"""Options of a clause that only one product reads.

`spellings_azure` and `spellings_bigquery` read them, and `spellings` replaces them by words.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.source import Span
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.misplaced_patterns import explain_unclosed_parenthesis


@dataclass(frozen=True, slots=True)
class ProductOption:
    """An option of a clause that only one product reads, such as `LIMIT DURATION (minute, 5)`."""

    # The characters of the option.
    span: Span
    # The words after PATTERN that mean the same, such as `WITHIN INTERVAL '5' MINUTE`; "" if the
    # clause means the same without the option.
    words: str


def find_option_end(clause: ClauseTokens, opening: int) -> int:
    """Return the index of the parenthesis that closes an option.

    Args:
        clause: the tokens of the clause.
        opening: the index of the parenthesis that opens the option.

    Raises:
        MatchRecognizeError: the parenthesis is not closed.
    """
    if opening not in clause.pairs:
        raise explain_unclosed_parenthesis(clause, opening)
    return clause.pairs[opening]
