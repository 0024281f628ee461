"""Read functions over a row pattern window as measures.

The function and the measure that it becomes:

    avg(x) OVER w              FINAL avg(x)
    nth_value(x, 2) OVER w     FINAL FIRST(x, 1)
    last_value(x) OVER w       FINAL LAST(x)
"""

from __future__ import annotations

from matchrec.errors.sql import window as errors
from matchrec.plan.change_expressions import set_final_semantics
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    End,
    Navigation,
    Scalar,
    Semantics,
    Term,
    find_column_path,
    list_inputs,
    reads_columns_only,
    write_row_sql,
)
from matchrec.syntax.amounts import read_whole_number
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.nodes import WindowCall
from matchrec.syntax.tokens import TokenSequence, split_words

# The functions that return the value of one row, each with the end of the match from which it
# counts.
_ROW_VALUES = {
    **dict.fromkeys(split_words("FIRST_VALUE FIRST NTH_VALUE"), End.FIRST),
    **dict.fromkeys(split_words("LAST_VALUE LAST"), End.LAST),
}


def read_function(call: WindowCall) -> Measure:
    """Return a function over a window as a measure.

    Unlike a measure of a clause, this measure also has a value in rows without a match.

    Raises:
        MatchRecognizeError: the call is not of a function over the rows of a match.
    """
    tokens = call.tokens
    is_row_value = tokens.key(0) in _ROW_VALUES and tokens.key(1) == "("
    value = _read_row_value(tokens) if is_row_value else _read_aggregates(tokens)
    if value is None:
        is_call = tokens.key(1) == "(" and tokens.pairs.get(1) == len(tokens) - 1
        name = tokens[0].text if is_call else " ".join(tokens.text.split())
        raise errors.function_not_over_pattern_window(tokens.full_span, name=name)
    return Measure(call.column, value, tokens.full_span, has_value_without_match=True)


# The scope of the call: it can name no variable of the pattern.
_SCOPE_OF_FUNCTIONS = Scope(ClausePart.MEASURES)


def _read_aggregates(tokens: TokenSequence) -> Scalar | None:
    """Return an expression over aggregates of columns; None for other expressions."""
    scalar = parse_scalar(tokens, _SCOPE_OF_FUNCTIONS)
    for reference in scalar.references:
        if not isinstance(reference, Aggregate) or reference.function == MATCHED_ROWS:
            return None
        if not all(reads_columns_only(term) for term in list_inputs(reference)):
            return None
    return set_final_semantics(scalar) if scalar.references else None


def _read_row_value(tokens: TokenSequence) -> Scalar | None:
    """Return a call of FIRST_VALUE, LAST_VALUE or NTH_VALUE as FIRST or LAST of its argument.

    The result is None if the arguments are not an expression over columns of one row and, for
    NTH_VALUE, a number.
    """
    name = tokens.key(0)
    closing = tokens.pairs[1]
    arguments = tokens.split_at_commas(2, closing)
    has_number = name == "NTH_VALUE"
    expected_count = 2 if has_number else 1
    is_empty = closing == 2
    if closing != len(tokens) - 1 or len(arguments) != expected_count or is_empty:
        return None
    digits = tokens.text_at(tokens.span(*arguments[1])) if has_number else "1"
    number = read_whole_number(digits) if digits.isdecimal() else None
    span = tokens.span(*arguments[0])
    term = parse_scalar(tokens.cut_out(*arguments[0]), _SCOPE_OF_FUNCTIONS)
    navigations = {
        reference.navigation
        for reference in term.references
        if isinstance(reference, ColumnReference)
    }
    reads_current_row = navigations <= {Navigation()}
    if not number or not reads_columns_only(term) or not reads_current_row:
        return None
    navigation = Navigation(
        end=_ROW_VALUES[name], logical_offset=number - 1, semantics=Semantics.FINAL
    )
    reference = ColumnReference(
        navigation,
        write_row_sql(term),
        span,
        operations=term.operations,
        column_path=find_column_path(term),
    )
    return Term((reference,), span)
