"""Check the formats of dates and times that a query has as literals, before the query runs.

Engines read a format only when they read rows, and then name neither the call nor the clause. A
format whose letters Spark knows is accepted without a query. For any other format a query of one
row finds out whether the engine accepts it, which depends on its settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import point_at
from matchrec.errors.sql.brackets import find_closing_bracket
from matchrec.errors.sql.datetime_formats import find_foreign_letters, invalid_datetime_format
from matchrec.plan.expression import ColumnReference, Operation, walk_scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Span
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.operand_kinds import read_string_literal
from matchrec.spark.errors.row_expressions import find_clause_of_key, list_scalars
from matchrec.spark.relation import Relation
from matchrec.spark.session_errors import SESSION_ERRORS

# The start of a call whose last argument is a format.
FORMAT_FUNCTION = re.compile(
    r"\b(?P<function>DATE_FORMAT|TO_CHAR|TO_VARCHAR|TO_DATE|TRY_TO_DATE|TO_TIMESTAMP"
    r"|TRY_TO_TIMESTAMP|TO_TIMESTAMP_NTZ|TO_TIMESTAMP_LTZ|UNIX_TIMESTAMP|TO_UNIX_TIMESTAMP"
    r"|FROM_UNIXTIME)\s*\(",
    re.IGNORECASE,
)
# The last argument of a call, if it is a literal.
LAST_LITERAL = re.compile(r",\s*(?P<literal>'[^'\\]*'|\"[^\"\\]*\")\s*$")
# Functions that also take formats of numbers and of binary values, and these formats.
FUNCTIONS_OF_NUMBERS = ("TO_CHAR", "TO_VARCHAR")
OTHER_FORMAT = re.compile(r"[09.,DGLS$MIPR]+|base64|hex|utf-8", re.IGNORECASE)


class WrittenText(NamedTuple):
    """A text of SQL in a query."""

    # The clause that has the text, such as MEASURES.
    clause: str
    text: str
    # Where the expression with the text is written.
    span: Span | None


class FormatCall(NamedTuple):
    """A call with a format."""

    # The function in upper case, such as TO_DATE.
    function: str
    # The format with its quotes.
    literal: str


def find_invalid_formats(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Yield the errors of formats that the engine does not accept.

    Runs a query of one row for each format with a letter that Spark does not know.
    """
    for clause, text, span in list_texts(plan):
        for function, literal in find_format_calls(text):
            takes_numbers = function in FUNCTIONS_OF_NUMBERS
            if takes_numbers and OTHER_FORMAT.fullmatch(literal[1:-1]):
                continue
            if find_foreign_letters(literal[1:-1]) and not accepts_format(literal, relation):
                error = invalid_datetime_format(
                    span, literal=literal, clause=clause, takes_numbers=takes_numbers
                )
                yield point_at(error, literal)


def find_format_calls(text: str) -> Iterator[FormatCall]:
    """Yield the calls in a text that have a literal format.

    >>> list(find_format_calls("to_date(concat('(', s), 'YYYY') > day"))
    [FormatCall(function='TO_DATE', literal="'YYYY'")]
    """
    for call in FORMAT_FUNCTION.finditer(text):
        closing = find_closing_bracket(text, call.end() - 1)
        arguments = "" if closing is None else text[call.end() : closing]
        last_argument = LAST_LITERAL.search(arguments)
        if last_argument is not None:
            yield FormatCall(call["function"].upper(), last_argument["literal"])


def list_texts(plan: MatchPlan) -> Iterator[WrittenText]:
    """Yield the texts of SQL in keys, conditions and measures, with `x` for what they read."""
    for key in plan.sorted_by:
        yield WrittenText(find_clause_of_key(plan, key), key.text, key.span)
    for clause, scalar in list_scalars(plan):
        for part in walk_scalar(scalar):
            if isinstance(part, Operation):
                literal = read_string_literal(part.operands[-1]) if part.operands else None
                if literal is not None:
                    call = f"{part.operator}(x, {literal})"
                    yield WrittenText(clause, call, part.operands[-1].span)
                continue
            pieces = [piece if isinstance(piece, str) else "x" for piece in part.pieces]
            yield WrittenText(clause, "".join(pieces), part.span)
            for reference in part.references:
                if isinstance(reference, ColumnReference):
                    yield WrittenText(clause, reference.argument, part.span)


def accepts_format(literal: str, relation: Relation) -> bool:
    """Return whether the engine accepts a format. Runs a query of one row.

    Args:
        literal: the format, as SQL.
        relation: the input.
    """
    with silence_analysis():
        try:
            relation.runner.spark.range(1).selectExpr(
                f"date_format(timestamp_seconds(id), {literal})"
            ).collect()
        except SESSION_ERRORS:
            return False
    return True
