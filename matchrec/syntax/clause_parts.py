"""The parts of a clause, and how to recognise a part that is in the wrong place.

No keyword of the clause is reserved, so `pattern` or `measures` can also be the name of a column.
`sections` finds the parts of a well-formed clause. The functions here find a part anywhere, because
the words after its keyword leave no doubt: `PATTERN (`, `MEASURES A.`. Error messages need them for
a part after the clause, inside PATTERN, or in a bracket that is not closed.
"""

from __future__ import annotations

from enum import Enum

from matchrec.syntax.durations import is_distance
from matchrec.syntax.function_names import FUNCTIONS_OF_MATCH
from matchrec.syntax.tokens import TokenSequence, split_words


class ClausePart(Enum):
    """The parts of a clause, in the order in which they must be written.

    The values are the names of the parts in messages.
    """

    PARTITION_BY = "PARTITION BY"
    ORDER_BY = "ORDER BY"
    MEASURES = "MEASURES"
    FRAME = "ROWS BETWEEN"
    ROWS_PER_MATCH = "ONE ROW or ALL ROWS PER MATCH"
    AFTER_MATCH = "AFTER MATCH SKIP"
    SEARCH = "INITIAL or SEEK"
    PATTERN = "PATTERN"
    WITHIN = "WITHIN"
    SUBSET = "SUBSET"
    DEFINE = "DEFINE"


def find_definite_part(tokens: TokenSequence, index: int) -> ClausePart | None:
    """Return PATTERN, SUBSET or DEFINE if this part certainly starts at `index`, otherwise None.

    Certain are `PATTERN (`, `SUBSET u =` and `DEFINE a AS`. The result is None for a keyword that
    may be a name, and for DEFINE with a list of variables, `DEFINE a, b AS`.
    """
    if tokens.key(index - 1) in (".", "AS"):
        return None
    match tokens.key(index), tokens.key(index + 1), tokens.key(index + 2):
        case "PATTERN", "(", _:
            return ClausePart.PATTERN
        case "SUBSET", _, "=":
            return ClausePart.SUBSET
        case "DEFINE", _, "AS":
            return ClausePart.DEFINE
    return None


# First words of a measure that cannot follow the alias `measures` of a relation.
_FUNCTIONS_OF_MEASURES = FUNCTIONS_OF_MATCH | split_words("RUNNING FINAL COUNT SUM AVG MIN MAX")


def find_misplaced_part(tokens: TokenSequence, index: int) -> str | None:
    """Return the name, as in messages, of the part whose first words are at `index`.

    The words must be where no part may start, as right after the clause. WITHIN with a distance,
    ONE ROW PER MATCH, ALL ROWS PER MATCH, AFTER MATCH SKIP and MEASURES are found. The result is
    None for words that may have another meaning there: `measures` can be the alias of the clause,
    but `MEASURES A.` cannot be part of a query.
    """
    match tokens.key(index), tokens.key(index + 1), tokens.key(index + 2):
        case "WITHIN", _, _ if is_distance(tokens, index + 1):
            return "WITHIN"
        case ("ONE", "ROW", "PER") | ("ALL", "ROWS", "PER"):
            return f"{tokens.key(index)} {tokens.key(index + 1)} PER MATCH"
        case "AFTER", "MATCH", "SKIP":
            return "AFTER MATCH SKIP"
        case "MEASURES", _, ".":
            return "MEASURES"
        case "MEASURES", function, "(" if function in _FUNCTIONS_OF_MEASURES:
            return "MEASURES"
    return None
