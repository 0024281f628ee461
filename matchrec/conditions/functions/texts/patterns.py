"""RLIKE and the functions of regular expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from matchrec.conditions.functions.function import Function, FunctionError, UndecidedError, function
from matchrec.conditions.types import BOOLEAN, INT, STRING
from matchrec.regular_expressions.program import RefusedError
from matchrec.regular_expressions.search import Found, JavaPattern, java_pattern

TEXT, WHOLE = STRING, INT


def known_pattern(pattern: str) -> JavaPattern:
    """The pattern. Raises where it is refused."""
    try:
        return java_pattern(pattern)
    except RefusedError as error:
        raise UndecidedError(str(error)) from error


def found_in(text: str, pattern: JavaPattern) -> Iterator[Found]:
    """All places from left to right. Raises where the pattern is refused for the text."""
    try:
        yield from pattern.all(text)
    except RefusedError as error:
        raise UndecidedError(str(error)) from error


def places(text: str, pattern: str) -> Iterator[Found]:
    return found_in(text, known_pattern(pattern))


def first(text: str, pattern: JavaPattern) -> Found | None:
    return next(found_in(text, pattern), None)


def is_found(text: str, pattern: str) -> bool:
    return first(text, known_pattern(pattern)) is not None


def extract(text: str, pattern: str, group: int = 1) -> str:
    """What a group has of the first place; nothing where there is none."""
    known = known_pattern(pattern)
    found = first(text, known)
    if found is None:
        return ""
    check_group(known, group)
    return found.group(group)


def check_group(pattern: JavaPattern, group: int) -> None:
    if not 0 <= group <= pattern.expression.groups:
        raise FunctionError(f"INVALID_PARAMETER_VALUE: there is no group {group}")
    if group in pattern.expression.repeated:
        raise UndecidedError(f"group {group} is repeated: what Java keeps of it is not known")


IS_FOUND = function((TEXT, TEXT), BOOLEAN, is_found)

PATTERNS: Mapping[str, Function] = {
    "RLIKE": IS_FOUND,
    "REGEXP": IS_FOUND,
    "REGEXP_LIKE": IS_FOUND,
    "REGEXP_EXTRACT": function((TEXT, TEXT, WHOLE), STRING, extract, least=2),
}
