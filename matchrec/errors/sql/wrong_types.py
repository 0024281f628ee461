"""Errors for values whose types an operator or a function does not take.

    `>` in DEFINE cannot compare date and int [incompatible-types]
      line 9, column 15
          DEFINE B AS day > 5
                      ^^^^^^^
      note: day is of type date, 5 is of type int
      help: write unix_date(day) > 5 for days since 1970, or a date such as DATE'2026-01-31'

The help repeats the texts of the user's operands, so that it can be pasted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.language import name_part
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.sql.call_hints import EXPECTED_ARGUMENTS, SPARK_FUNCTIONS
from matchrec.errors.sql.expression import advise_on_several_arguments
from matchrec.errors.sql.foreign_names import find_arguments_hint, read_arguments, write_arguments
from matchrec.errors.sql.infix_hints import COMPARISONS
from matchrec.errors.sql.operand_hints import CHOICES, LOGIC, find_operands_hint
from matchrec.errors.sql.refused_parts import find_time_fault
from matchrec.errors.sql.type_kinds import TypedText
from matchrec.errors.sql.written_times import EXAMPLE_LITERALS, is_written_literal, write_literal
from matchrec.errors.wording import join_alternatives, shorten, write_name, write_string
from matchrec.source import Span

# For operators whose names in `plan.operators` are not what queries write: what queries write.
_OPERATORS_AS_WRITTEN = {"NEG": "-", "CASE OF": "CASE"}
# Operators that are words. Messages write them in capitals, unlike functions.
_WORDS = frozenset(("DIV", "LIKE", "ILIKE", "RLIKE", "CASE", "CAST", "TRY_CAST")) | LOGIC

# Aggregates for which users write several arguments, although they take one.
_AGGREGATES_OF_ONE_VALUE = frozenset(("SUM", "AVG", "MEAN", "STDDEV", "VARIANCE", "MEDIAN"))

# An error lists at most this many numbers of arguments.
MAX_COUNTS = 3


def incompatible_types(  # noqa: PLR0913 -- what is known about an operation
    operator: str,
    operands: Sequence[TypedText],
    span: Span | None,
    *,
    clause: str,
    target: str = "",
    expected: str = "",
) -> MatchRecognizePlanError:
    """Return the error for an operator or a function that does not take values of these types.

    Args:
        operator: the name of the operator or function in upper case, as in `plan.operators`.
        operands: the values, in the order in which the operation takes them.
        span: the operation in the text of the query.
        clause: the clause of the operation, such as DEFINE.
        target: the type to which a CAST converts; "" for other operations.
        expected: a note on the types that the operation takes; "" if they are not known.
    """
    # Spark calls `DATEDIFF(day, a, b)` TIMESTAMPDIFF.
    written = read_users_text(span) if span is not None else None
    if operator == "TIMESTAMPDIFF" and written and written.upper().startswith("DATEDIFF"):
        shown_operator = "DATEDIFF"
    else:
        shown_operator = operator
    headline = _write_types_headline(shown_operator, operands, clause, target)
    return MatchRecognizePlanError(
        headline,
        span,
        notes=(_list_types(operands), EXPECTED_ARGUMENTS.get(operator, expected)),
        hint=find_operands_hint(operator, operands, target),
        code="incompatible-types",
    )


def _write_types_headline(
    operator: str, operands: Sequence[TypedText], clause: str, target: str
) -> str:
    """Return the headline of `incompatible_types`; the arguments are as for this function."""
    type_names = [operand.type_name for operand in operands]
    if len(operands) != 2:
        type_names = list(dict.fromkeys(type_names))
    *first_types, last_type = type_names
    types = f"{', '.join(first_types)} and {last_type}" if first_types else last_type
    is_function = operator.isidentifier() and operator not in _WORDS | COMPARISONS
    name = operator.lower() if is_function else _OPERATORS_AS_WRITTEN.get(operator, operator)
    subject = f"`{name}` in {name_part(clause)}"
    is_conditional = operator in ("CASE", "IF") and len(operands) == 1
    if operator in ("CAST", "TRY_CAST") and target:
        return f"{subject} cannot convert {types} to {target.lower()}"
    if operator in COMPARISONS:
        return f"{subject} cannot compare {types}"
    if operator in LOGIC or is_conditional:
        wrong_types = " and ".join(name for name in type_names if name != "boolean")
        return f"{subject} needs boolean, not {wrong_types}"
    if len(operands) > 1 and (operator in CHOICES or not is_function):
        return f"{subject} cannot combine {types}"
    return f"{subject} does not take {types}"


def _list_types(operands: Sequence[TypedText]) -> str:
    """Return a note with the types of operands. If they are not two, it has one for each type.

    >>> _list_types([TypedText("day", "date"), TypedText("5", "int")])
    'day is of type date, 5 is of type int'
    """
    listed = dict.fromkeys(operands)
    if len(operands) != 2:
        first_of_type: dict[str, TypedText] = {}
        for operand in operands:
            first_of_type.setdefault(operand.type_name, operand)
        listed = dict.fromkeys(first_of_type.values())
    return ", ".join(
        f"{shorten(operand.text)} is of type {operand.type_name}" for operand in listed
    )


def unreadable_literal(
    string: str, span: Span | None, *, clause: str, value: TypedText, columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a string that is compared with a number or a time, and is not one.

    Args:
        string: the string with its quotes.
        span: the string in the text of the query.
        clause: the clause of the comparison.
        value: the value with which it is compared.
        columns: the columns of the input, whose name the user may have put in quotes.
    """
    text = string[1:-1]
    column = next((name for name in columns if name.lower() == text.lower()), None)
    if re.fullmatch(r":\w+", text):
        hint = f"write {text}, without quotes, for the value of a parameter"
    elif column is not None:
        hint = f"quotes make it a string: write {write_name(column)} for the column"
    elif value.kind in EXAMPLE_LITERALS:
        literal = write_literal(value.kind, text)
        hint = f"write {literal} instead of {string}"
        if not is_written_literal(value.kind, text):
            example = f"a {value.type_name} such as {literal}"
            hint = f"write {example} instead of {string}, or compare CAST({value.text} AS STRING)"
    else:
        hint = f"write a number without quotes instead of {string}, or compare "
        hint += f"CAST({value.text} AS STRING)"
    return MatchRecognizePlanError(
        f"{shorten(string)} in {name_part(clause)} cannot be compared with {value.type_name}",
        span,
        notes=(
            f"{shorten(value.text)} is of type {value.type_name}, and strings are cast to it",
            (find_time_fault(text) or "") if value.kind in EXAMPLE_LITERALS else "",
        ),
        hint=hint,
        code="unreadable-literal",
    )


def unreadable_parameter(
    span: Span | None, *, name: str | None, text: str, clause: str, value: TypedText
) -> MatchRecognizePlanError:
    """Return the error for a parameter with a string that is compared with a number or a time.

    Args:
        span: the parameter in the text of the query.
        name: the name of the parameter; None for `?`.
        text: the value of the parameter, which is not a number or a time.
        clause: the clause of the comparison.
        value: the number or the time with which the parameter is compared.
    """
    parameter = "?" if name is None else f":{name}"
    meant = f"a {value.type_name}" if value.kind in EXAMPLE_LITERALS else "a number"
    return MatchRecognizePlanError(
        f"the value of {parameter} in {name_part(clause)} cannot be compared with "
        f"{value.type_name}",
        span,
        notes=(
            f"{parameter} is {shorten(write_string(text))}",
            f"{shorten(value.text)} is of type {value.type_name}, and strings are cast to it",
        ),
        hint=f"pass {meant} instead of the string, or compare CAST({value.text} AS STRING)",
        code="unreadable-parameter",
    )


def invalid_regular_expression(
    span: Span | None, *, literal: str, pattern: str, position: int, clause: str
) -> MatchRecognizePlanError:
    """Return the error for a string that the engine does not accept as a regular expression.

    Args:
        span: the string in the text of the query.
        literal: the string with its quotes.
        pattern: its characters.
        position: the index of the first character that is wrong.
        clause: the clause of the string.

    >>> error = invalid_regular_expression(
    ...     None, literal="'a(b'", pattern="a(b", position=1, clause="DEFINE"
    ... )
    >>> print(error.message, error.hint, sep="; ")
    'a(b' in DEFINE is not a regular expression; write 'a\\\\(b' for the character ( itself
    """
    hint = "write a regular expression, or contains(x, 'text') to search for a text"
    character = pattern[position : position + 1]
    if character and character in "()[]{}*+?":
        escaped = f"{pattern[:position]}\\{pattern[position:]}".replace("\\", "\\\\")
        hint = (
            f"write {literal[0]}{escaped}{literal[0]} for the character {pattern[position]} itself"
        )
    return MatchRecognizePlanError(
        f"{shorten(literal)} in {name_part(clause)} is not a regular expression",
        span,
        hint=hint,
        code="invalid-regular-expression",
    )


def wrong_number_of_function_arguments(
    function: str, expected: Sequence[str], actual: int, span: Span | None, *, clause: str
) -> MatchRecognizePlanError:
    """Return the error for a call of a function of Spark with too few or many arguments.

    Args:
        function: the name of the function, as the user wrote it.
        expected: the numbers of arguments that it takes; empty if they are not known.
        actual: the number of arguments of the call.
        span: the call in the text of the query.
        clause: the clause of the call.
    """
    takes = "another number of arguments"
    if len(expected) > MAX_COUNTS:
        takes = f"at least {expected[0]} arguments"
    elif expected:
        takes = f"{join_alternatives(expected)} argument{'' if list(expected) == ['1'] else 's'}"
    pages = f"{SPARK_FUNCTIONS}#{function.lower()}"
    text = (read_users_text(span) or "") if span is not None else ""
    arguments = read_arguments(text, function)
    hint = advise_on_several_arguments(function, arguments)
    hint = hint or find_arguments_hint(function)
    if hint is None and function.upper() in _AGGREGATES_OF_ONE_VALUE and len(arguments) == 2:
        calls = [f"{function}({argument})" for argument in arguments]
        hint = f"write {' and '.join(calls)}"
    if hint and span is not None:
        hint = write_arguments(hint, text, function)
    return MatchRecognizePlanError(
        f"{function} in {name_part(clause)} takes {takes}, not {actual}",
        span,
        notes=(f"{pages} describes its arguments",),
        hint=hint or f"write {function} with {takes if expected else 'other arguments'}",
        code="wrong-number-of-arguments",
    )
