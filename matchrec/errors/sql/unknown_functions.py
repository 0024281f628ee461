"""Errors about functions that do not exist, with the function that the user may have meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from matchrec.errors.kinds import MatchRecognizePlanError, point_at
from matchrec.errors.language import name_part
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.run.origins import read_users_text, read_users_text_around
from matchrec.errors.sql.column_advice import CALLS_OF_MATCH
from matchrec.errors.sql.foreign_names import (
    find_function_hint,
    find_keyword_argument_hint,
    write_arguments,
)
from matchrec.errors.surface import current_surface
from matchrec.source import Span

# Functions that exist only in a clause.
_MATCH_FUNCTIONS = (
    *CALLS_OF_MATCH,
    "PREV",
    "NEXT",
    "FIRST",
    "LAST",
    "MATCH_STATUS",
    "MATCH_TIMEOUT",
)
_AGGREGATES = ("SUM", "AVG", "MIN", "MAX", "COUNT")


def unknown_function(
    name: str, clause: str, functions: Iterable[str], span: Span | None
) -> MatchRecognizePlanError:
    """Return the error for a function that does not exist.

    Args:
        name: the function.
        clause: the clause of the call.
        functions: the functions that the session has.
        span: the call in the text of the query.
    """
    hint = find_unknown_function_hint(name, (*functions, *_MATCH_FUNCTIONS))
    if name.upper() in ("FINAL", "RUNNING"):
        hint = f"write {name} before each FIRST, LAST and aggregate in the parentheses"
    elif name.upper() == "ALL":
        hint = "write one condition for each value: x LIKE 'a' AND x LIKE 'b'"
    elif span is not None:
        keyword_hint = find_keyword_argument_hint(name, *read_users_text_around(span))
        is_method_of_pandas = hint.startswith("write PREV(")  # `price.shift(1)`
        if not is_method_of_pandas:
            keyword_hint = keyword_hint or _find_method_hint(name, span)
        hint = keyword_hint or write_arguments(hint, read_users_text(span), name)
    if clause == "ORDER BY" and hint.startswith("write current_timestamp()"):
        hint = "write the column with the time of each row: ORDER BY needs a value for each row"
    error = MatchRecognizePlanError(
        f"unknown function `{name}` in {name_part(clause)}",
        span,
        hint=hint,
        code="unknown-function",
    )
    return point_at(error, name)


def _find_method_hint(name: str, span: Span) -> str | None:
    """Return what to write for `A.LAST(price)` and `A.price(1)`; None for other calls.

    Args:
        name: the function with its qualifier.
        span: the call in the text of the query.
    """
    qualifier, _, plain = name.rpartition(".")
    text, start = read_users_text_around(span)
    call = re.search(rf"(?i){re.escape(plain)}\s*\(\s*(\w+)\s*\)", text[start:])
    if not qualifier or "." in qualifier or call is None:
        return None
    if call[1].isdecimal():
        return (
            f"write FIRST({qualifier}.{plain}, {call[1]}) or LAST({qualifier}.{plain}, {call[1]})"
        )
    if plain.upper() in (*_MATCH_FUNCTIONS, *_AGGREGATES):
        return f"write {plain}({qualifier}.{call[1]})"
    return None


def find_unknown_function_hint(name: str, functions: Iterable[str]) -> str:
    """Return what to write for a function that the session does not have.

    Args:
        name: the function, with a qualifier as in `price.shift`.
        functions: the functions that the session has.
    """
    qualifier, _, plain = name.rpartition(".")
    hint = find_function_hint(plain)
    if hint:
        return hint
    if qualifier:
        return f"write {plain}(x): a function comes before its argument"
    candidates = (function for function in functions if _is_similar(name, function))
    near = find_nearest(name, candidates)
    if near is None:
        return current_surface().advice_on_own_function.format(name=name)
    return f"write {near.upper() if name.isupper() else near.lower()}"


def _is_similar(name: str, function: str) -> bool:
    """Return whether `name` may be a misspelling of a function.

    A name of at most 4 letters may lack a letter or have its letters in another order. A wrong
    letter does not count, because every short name would be similar to many functions.
    """
    missing_letters = len(function) - len(name)
    if abs(missing_letters) > 2:
        return False
    has_same_letters = sorted(name.upper()) == sorted(function.upper())
    return len(name) > 4 or has_same_letters or missing_letters == 1
