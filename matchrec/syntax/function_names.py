"""Names of functions, grouped by what their calls read in an expression over rows of a match."""

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
# Functions whose value is a fact about the match, such as MATCH_NUMBER.
MATCH_FUNCTIONS = frozenset(function.value for function in MatchFunction)
# All functions that read the match, except aggregates.
FUNCTIONS_OF_MATCH = NAVIGATION | MATCH_FUNCTIONS | {"CLASSIFIER", "MATCHED_ROWS"}

# Functions that aggregate the rows of a variable.
AGGREGATES = read_words("AGGREGATE")
# Functions whose call without arguments is a constant, such as `now()` and `array()`.
CONSTANT_CALLS = read_words("CONSTANT CALL")

# Functions that can be called only with OVER.
WINDOW_ONLY = split_words(
    "LAG LEAD NTH_VALUE ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE"
)

# All functions whose calls read more than one row.
CALLS_OVER_SEVERAL_ROWS = AGGREGATES | FUNCTIONS_OF_MATCH | WINDOW_ONLY
