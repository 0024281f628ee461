"""Spark's error conditions about a name, and what matchrec says about each of them.

An error condition is the word in brackets at the start of a message of Spark, without its subclass:
`[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, ...` has the condition `UNRESOLVED_COLUMN`.
Sail has no conditions. `sail.refused_names` finds the condition that fits a text of Sail.
"""

from __future__ import annotations

from dataclasses import dataclass

# The parameters of Spark's messages that have the name of a table, or of a function.
TABLE_PARAMETER = "relationName"
FUNCTION_PARAMETER = "routineName"


@dataclass(frozen=True, slots=True)
class NameCondition:
    """An error condition about a name, with the words and the code of our error about it."""

    # Spark's error condition.
    condition: str
    # The sentence in plain words, in which `{name}` stands for the name. Spark's own sentences have
    # several lines, with advice that is not about this query.
    sentence: str
    # The parameter of Spark's message that has the name; None if Spark's sentence is kept.
    parameter: str | None = None
    # The code of the error around a clause. An error about the same mistake inside a clause has the
    # same code. None for the code of refusals that are not about a name.
    code: str | None = None


UNKNOWN_TABLE = NameCondition(
    "TABLE_OR_VIEW_NOT_FOUND",
    sentence="unknown table or view {name}",
    parameter=TABLE_PARAMETER,
    code="unknown-table",
)
UNKNOWN_COLUMN = NameCondition(
    "UNRESOLVED_COLUMN",
    sentence="unknown column {name}",
    parameter="objectName",
    code="unknown-column",
)
# Of `t.*`, if nothing in FROM is called `t`.
UNKNOWN_STAR = NameCondition(
    "CANNOT_RESOLVE_STAR_EXPAND",
    sentence="nothing in FROM is called {name}",
    parameter="targetString",
    code="unknown-column",
)
UNKNOWN_FUNCTION = NameCondition(
    "UNRESOLVED_ROUTINE",
    sentence="unknown function {name}",
    parameter=FUNCTION_PARAMETER,
    code="unknown-function",
)
AMBIGUOUS_COLUMN = NameCondition("AMBIGUOUS_REFERENCE", sentence="column {name} is ambiguous")
PARAMETER_WITHOUT_VALUE = NameCondition(
    "UNBOUND_SQL_PARAMETER", sentence="parameter {name} has no value"
)

# All of them, by Spark's condition.
NAME_CONDITIONS = {
    name_condition.condition: name_condition
    for name_condition in (
        UNKNOWN_TABLE,
        UNKNOWN_COLUMN,
        UNKNOWN_STAR,
        UNKNOWN_FUNCTION,
        AMBIGUOUS_COLUMN,
        PARAMETER_WITHOUT_VALUE,
    )
}
