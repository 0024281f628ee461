"""Names of functions, by what a call of them reads in an expression over the rows of a match."""

from __future__ import annotations

from matchrec.plan.expression import MatchFunction
from matchrec.plan.words import read_words
from matchrec.syntax.tokens import split_words

# Physical navigation goes over rows of the partition, logical navigation over rows of the match.
PHYSICAL = frozenset({"PREV", "NEXT"})
LOGICAL = frozenset({"FIRST", "LAST"})
NAVIGATION = PHYSICAL | LOGICAL
# Keywords before a function that choose the rows of the match that it reads.
SEMANTICS = frozenset({"RUNNING", "FINAL"})
MATCH_FUNCTIONS = frozenset(function.value for function in MatchFunction)
FUNCTIONS_OF_MATCH = NAVIGATION | MATCH_FUNCTIONS | {"CLASSIFIER", "MATCHED_ROWS"}

AGGREGATES = read_words("AGGREGATE")
# Functions whose call without arguments is a constant, such as `now()` and `array()`.
CONSTANT_CALLS = read_words("CONSTANT CALL")

# Functions that are called with OVER only.
WINDOW_ONLY = split_words(
    "LAG LEAD NTH_VALUE ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE"
)

CALLS_OVER_SEVERAL_ROWS = AGGREGATES | FUNCTIONS_OF_MATCH | WINDOW_ONLY
