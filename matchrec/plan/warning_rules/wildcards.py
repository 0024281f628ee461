"""Warnings about texts with a wildcard that the operator does not know.

Each operator has its own wildcards. These conditions look for the character itself:

    kind LIKE 'payment*'     looks for an asterisk: `payment%` was meant
    kind = 'payment%'        looks for a percent sign: LIKE was meant
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from matchrec.errors import condition_warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.expression import Operation
from matchrec.plan.warning_rules.references import find_string_literal, show_users_operand

# Operators and functions for which no character is a wildcard. Operators of lists compare a value
# with several texts.
_EQUALITIES = frozenset({"=", "<>", "<=>"})
_LIST_OPERATORS = frozenset({"IN", "NOT IN"})
_TEXT_FUNCTIONS = frozenset({"STARTSWITH", "ENDSWITH", "CONTAINS"})

# Operators whose right operand is a pattern of LIKE.
_LIKE_OPERATORS = frozenset({"LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"})

# Operators and functions whose second operand is a regular expression.
_REGEX_OPERATORS = frozenset({"RLIKE", "NOT RLIKE", "REGEXP_LIKE"})

# The operators among all of these that are true for other texts.
_NEGATED_OPERATORS = frozenset({"<>", "NOT IN", "NOT RLIKE"})

# `payment%`, `%payment`; not `10%`, `100 %` or `%`, which mean a percent sign.
_PERCENT_AS_WILDCARD = re.compile(r"%+[^\W\d_].*|.*[^\W\d_]%+", re.DOTALL)

# `payment*`, `*payment*`, `payment.*`; not `*`, `a*b`, or a text with a wildcard of LIKE.
_STAR_AS_WILDCARD = re.compile(r"(?=.*[^\W\d_])((\.?\*)?[^%*]+\*|\.?\*[^%*]+)", re.DOTALL)

# A character with a meaning in regular expressions. A text with such a character is probably meant
# as a regular expression.
_REGEX_SYNTAX = re.compile(r"[.\[\](){}^$|+*?\\]")


def warn_about_wildcards(operation: Operation) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each text with a wildcard that the operator does not know.

    A text in which the user can mean the character itself, such as `'10%'`, raises no warning.
    """
    operator = operation.operator
    if operator in _LIKE_OPERATORS:
        yield from warn_about_star(operation)
        return
    for operand in operation.operands:
        literal = find_string_literal(operand)
        if literal is None:
            continue
        text = literal[1:-1]
        if not _PERCENT_AS_WILDCARD.fullmatch(text):
            continue
        like_operator = "NOT LIKE" if operator in _NEGATED_OPERATORS else "LIKE"
        if operator in _EQUALITIES:
            yield condition_warnings.percent_in_equality(
                operation.span, operator=operator, literal=literal, like=like_operator
            )
        elif operator in _LIST_OPERATORS:
            value = show_users_operand(operation.operands[0])
            yield condition_warnings.percent_in_list(
                operation.span,
                operator=operator,
                literal=literal,
                test=f"{value} {like_operator} {literal}",
            )
        elif operator in _TEXT_FUNCTIONS:
            quote = literal[0]
            yield condition_warnings.percent_in_function(
                operation.span,
                function=operator.lower(),
                literal=literal,
                intended=f"{quote}{text.strip('%')}{quote}",
            )
        elif operator in _REGEX_OPERATORS and not _REGEX_SYNTAX.search(text):
            yield condition_warnings.percent_in_regex(
                operation.span, operator=operator, literal=literal, like=like_operator
            )


def warn_about_star(operation: Operation) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if the pattern of LIKE has a wildcard of a shell or a regular expression."""
    if len(operation.operands) < 2:
        return
    literal = find_string_literal(operation.operands[1])
    if literal is not None and _STAR_AS_WILDCARD.fullmatch(literal[1:-1]):
        intended_literal = literal.replace(".*", "%").replace("*", "%")
        yield condition_warnings.star_in_like(
            operation.span, operator=operation.operator, literal=literal, intended=intended_literal
        )
