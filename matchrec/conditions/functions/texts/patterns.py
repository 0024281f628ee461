"""RLIKE and the functions of regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from matchrec.conditions.functions.function import Function, FunctionError, UndecidedError, function
from matchrec.conditions.functions.texts.java_patterns import JavaPattern, java_pattern
from matchrec.conditions.types import BOOLEAN, INT, STRING, Family, array

TEXT = Family.STRING
WHOLE = Family.INTEGER
GROUP_IN_REPLACEMENT = re.compile(r"\\(.?)|\$(?:(\d)|\{([a-zA-Z][a-zA-Z0-9]*)\})?", re.DOTALL)


def is_found(text: str, pattern: str) -> bool:
    known = java_pattern(pattern)
    return known.expression.search(known.check(text)) is not None


def extract(text: str, pattern: str, group: int = 1) -> str:
    """What a group has of the first place; nothing where there is none."""
    known = java_pattern(pattern)
    found = known.expression.search(known.check(text))
    if found is None:
        return ""
    check_group(known, group)
    return found[group] or ""


def check_group(pattern: JavaPattern, group: int) -> None:
    if not 0 <= group <= pattern.expression.groups:
        raise FunctionError(f"INVALID_PARAMETER_VALUE: there is no group {group}")
    if group in pattern.repeated:
        raise UndecidedError(f"group {group} is repeated: Python may not keep what Java does")


def count(text: str, pattern: str) -> int:
    return sum(1 for _ in places(text, pattern))


def places(text: str, pattern: str) -> Iterator[re.Match[str]]:
    known = java_pattern(pattern)
    return all_found(known, known.check(text))


def all_found(pattern: JavaPattern, text: str) -> Iterator[re.Match[str]]:
    """One after the other; where nothing was found, Java goes on a character further."""
    place = 0
    while place <= len(text):
        found = pattern.expression.search(text, place)
        if found is None:
            return
        yield found
        place = max(found.end(), found.start() + 1)


def first_part(text: str, pattern: str) -> str | None:
    """What is found first; NULL where that is nothing."""
    found = next(places(text, pattern), None)
    return None if found is None else found[0] or None


def first_place(text: str, pattern: str, _: int = 0) -> int:
    """From 1; 0 where nothing is found."""
    found = next(places(text, pattern), None)
    if found is None:
        return 0
    if max(text[: found.start()], default="") > "\uffff":
        raise UndecidedError("how a character beyond U+FFFF is counted depends on Spark's version")
    return found.start() + 1


def substitute(text: str, pattern: str, instead: str, start: int = 1) -> str:
    """All that is found from the start-th character on replaced."""
    known = java_pattern(pattern)
    if start < 1:
        raise FunctionError("the position from which one replaces must be positive")
    if start > 1 and max(text, default="") > "\uffff":
        raise UndecidedError("Java counts a character beyond U+FFFF twice")
    if start > 1 and start > len(text):
        return text
    begin = start - 1
    rest = known.check(text)[begin:]
    parts, last = [text[:begin]], 0
    write: Callable[[re.Match[str]], str] | None = None
    for found in all_found(known, rest):
        write = write or replacement(known, instead)
        parts += [rest[last : found.start()], write(found)]
        last = found.end()
    return "".join((*parts, rest[last:]))


def replacement(pattern: JavaPattern, text: str) -> Callable[[re.Match[str]], str]:
    """What is put in place of what is found: `$1` and `${name}` are groups of it."""
    parts: list[str | int] = []
    last = 0
    while (found := GROUP_IN_REPLACEMENT.search(text, last)) is not None:
        parts.append(text[last : found.start()])
        last = found.end()
        escaped, digit, name = found.groups()
        if escaped is not None:
            if not escaped:
                raise FunctionError("a replacement ends with a backslash")
            parts.append(escaped)
            continue
        if digit is None and name is None:
            raise FunctionError("a replacement has a `$` without a group")
        number = group_of(pattern, digit, name)
        while digit and last < len(text) and text[last] in "0123456789":
            further = number * 10 + int(text[last])
            if further > pattern.expression.groups:
                break
            number, last = further, last + 1
        check_group(pattern, number)
        parts.append(number)
    parts.append(text[last:])
    return lambda found: "".join(one if isinstance(one, str) else found[one] or "" for one in parts)


def group_of(pattern: JavaPattern, digit: str | None, name: str | None) -> int:
    if digit is not None:
        return int(digit)
    number = pattern.expression.groupindex.get(name or "")
    if number is None:
        raise FunctionError(f"there is no group {name!r}")
    return number


def split(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    """The parts between what is found, no more than `limit` where that is positive."""
    if not pattern and text and limit <= 0:
        return tuple(text)
    if not pattern:
        raise UndecidedError("how a text is split at nothing depends on Spark's version")
    parts: list[str] = []
    last = 0
    for found in places(text, pattern):
        if len(parts) == limit - 1:
            break
        if found.end() > 0:  # Java leaves nothing before nothing
            parts.append(text[last : found.start()])
            last = found.end()
    return (*parts, text[last:])


def extract_all(text: str, pattern: str, group: int = 1) -> tuple[str, ...]:
    """What a group has of all places."""
    known = java_pattern(pattern)
    all_places = list(all_found(known, known.check(text)))
    if all_places:
        check_group(known, group)
    return tuple(found[group] or "" for found in all_places)


IS_FOUND = function((TEXT, TEXT), BOOLEAN, is_found)

PATTERNS: Mapping[str, Function] = {
    "RLIKE": IS_FOUND,
    "REGEXP": IS_FOUND,
    "REGEXP_LIKE": IS_FOUND,
    "REGEXP_EXTRACT": function((TEXT, TEXT, WHOLE), STRING, extract, least=2),
    "REGEXP_EXTRACT_ALL": function((TEXT, TEXT, WHOLE), array(STRING), extract_all, least=2),
    "SPLIT": function((TEXT, TEXT, WHOLE), array(STRING), split, least=2),
    "REGEXP_REPLACE": function((TEXT, TEXT, TEXT, WHOLE), STRING, substitute, least=3),
    "REGEXP_COUNT": function((TEXT, TEXT), INT, count),
    "REGEXP_SUBSTR": function((TEXT, TEXT), STRING, first_part),
    "REGEXP_INSTR": function((TEXT, TEXT, WHOLE), INT, first_place, least=2),
}
