"""Trees of regular expressions as instructions.

(a|b)*c
0 SPLIT ... CHARACTER, JUMP, MATCH: see `Opcode`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_never

from matchrec.dataclass import dataclass

MOST_INSTRUCTIONS = 10_000

IntArray = npt.NDArray[np.int32]


class Opcode(IntEnum):
    """What an instruction does with its numbers a and b, before the next one comes.

    CHARACTER takes one of a .. b, ONE_OF one of the ranges a .. b - 1. SPLIT tries what is at a,
    then what is at b. AT asks whether the place is an edge.
    """

    CHARACTER = 0
    ONE_OF = 1
    SPLIT = 2
    JUMP = 3
    AT = 4
    MATCH = 5


class RegexProgram(NamedTuple):
    """Arrays of a compiled expression.

    instructions: int32[k, 4], operation, a, b, and how many SPLITs come before.
    ranges: int32[r, 2].
    """

    instructions: IntArray
    ranges: IntArray

    @property
    def splits(self) -> int:
        return int(self.instructions[-1, -1])


@dataclass(slots=True)
class Writer:
    """Writes the instructions of an expression."""

    text: str
    written: list[list[int]] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    splits: int = 0

    def add(self, operation: Opcode, a: int = 0, b: int = 0) -> int:
        """One more instruction; its place."""
        if len(self.written) >= MOST_INSTRUCTIONS:
            raise RefusedError(f"the regular expression {self.text!r} is too large")
        self.written.append([operation, a, b, self.splits])
        self.splits += operation is Opcode.SPLIT
        return len(self.written) - 1

    def write(self, tree: Tree) -> None:
        """What finds the tree, after all that has been written."""
        match tree:
            case One(ranges):
                self.characters(ranges)
            case At(edge):
                self.add(Opcode.AT, edge)
            case Sequence(parts):
                for part in parts:
                    self.write(part)
            case Choice(parts):
                self.either(parts)
            case Repeat():
                self.repeat(tree)
            case _:
                assert_never(tree)

    def characters(self, ranges: tuple[tuple[int, int], ...]) -> None:
        if len(ranges) == 1:
            self.add(Opcode.CHARACTER, *ranges[0])
            return
        self.add(Opcode.ONE_OF, len(self.ranges), len(self.ranges) + len(ranges))
        self.ranges += ranges

    def either(self, parts: tuple[Tree, ...]) -> None:
        ends = []
        for part in parts[:-1]:
            split = self.add(Opcode.SPLIT)
            self.write(part)
            ends.append(self.add(Opcode.JUMP))
            self.leave(split)
        self.write(parts[-1])
        for end in ends:
            self.written[end][1] = len(self.written)

    def leave(self, split: int) -> None:
        """A choice leads to what comes next, or else here."""
        self.written[split][1:3] = split + 1, len(self.written)

    def repeat(self, tree: Repeat) -> None:
        for _ in range(tree.least):
            self.write(tree.part)
        splits = []
        for _ in range(1 if tree.most is None else tree.most - tree.least):
            splits.append(self.add(Opcode.SPLIT))
            self.write(tree.part)
        if tree.most is None:
            self.add(Opcode.JUMP, splits[0])
        for split in splits:
            self.leave(split)


def program_of(expression: Expression) -> RegexProgram:
    """The program of an expression. Raises RefusedError where it is too large."""
    writer = Writer(expression.text)
    writer.write(expression.tree)
    writer.add(Opcode.MATCH)
    return RegexProgram(
        np.array(writer.written, np.int32),
        np.array(writer.ranges, np.int32).reshape(-1, 2),
    )


# Regular expressions of Java as trees.
#
# a(b|[c-e])*$
# Sequence(One(a) Repeat(...) Edge.LAST_LINE)
#
# Refused by name are what cannot be found in bounded time, such as look-around and back references,
# and what is rare: possessive quantifiers, flags other than (?i) and (?s) at the start, \\p{...},
# character classes in one another, a part that may be empty under `*` or `+`.
# Source: the documentation of java.util.regex.Pattern.

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)
BEYOND = 0x10000  # from here on a character of Java is two
MOST_REPEATED = 1000

Ranges = tuple[tuple[int, int], ...]
"""Characters: the first and the last of each range, in order, with others between two of them."""


class RefusedError(Exception):
    """An expression that is not read, or a text in which it may mean something else."""


class Boundary(IntEnum):
    """Where an expression may hold without a character. LAST_LINE: at the end, or before its end of
    line.
    """

    START = 0
    END = 1
    LAST_LINE = 2
    WORD = 3


@dataclass(frozen=True, slots=True)
class One:
    """One of some characters."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class At:
    """A place that is an edge."""

    edge: Boundary


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first part that leads on."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part so many times; most is None without a bound."""

    part: Tree
    least: int
    most: int | None


Tree = One | At | Sequence | Choice | Repeat


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that has been read.

    last: the last character of texts in which it is Java's. Word boundaries depend on the version
    of Java beyond ASCII; beyond U+FFFF a character of Java is two, between which nothing is found,
    too.
    """

    text: str
    tree: Tree
    last: int


def ranges(*found: tuple[int, int]) -> Ranges:
    """Any ranges, in order and joined.

    >>> ranges((5, 9), (1, 2), (3, 6))
    ((1, 9),)
    """
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return tuple(joined)


def others(of: Ranges) -> Ranges:
    """All other characters."""
    begins = [0, *(last + 1 for _, last in of)]
    ends = [*(first - 1 for first, _ in of), LAST]
    return tuple(pair for pair in zip(begins, ends, strict=True) if pair[0] <= pair[1])


def of_characters(characters: Iterable[str]) -> Ranges:
    return ranges(*((ord(one), ord(one)) for one in characters))


def in_any_case(of: Ranges) -> Ranges:
    """With the other case of letters of ASCII: Java knows no other ones without (?u)."""
    capital, small = (65, 90), (97, 122)
    more = [shared(one, capital, 32) for one in of] + [shared(one, small, -32) for one in of]
    return ranges(*of, *(one for one in more if one[0] <= one[1]))


def shared(one: tuple[int, int], other: tuple[int, int], distance: int) -> tuple[int, int]:
    """What is in both ranges, further on."""
    return max(one[0], other[0]) + distance, min(one[1], other[1]) + distance


DIGITS = ranges((48, 57))
LETTERS = ranges((48, 57), (65, 90), (95, 95), (97, 122))
BLANKS = of_characters(" \t\n\x0b\f\r")
LINE_ENDS = of_characters("\n\r\u0085\u2028\u2029")
ALL: Ranges = ((0, LAST),)
CLASSES = {
    "d": DIGITS,
    "w": LETTERS,
    "s": BLANKS,
    "D": others(DIGITS),
    "W": others(LETTERS),
    "S": others(BLANKS),
}
EDGES = {"A": Boundary.START, "z": Boundary.END, "Z": Boundary.LAST_LINE, "b": Boundary.WORD}
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
QUANTIFIER = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})\??(\+?)", re.ASCII)
FLAGS = re.compile(r"\(\?([is]+)\)")
OPENING = re.compile(r"\((?:\?(?::|<([a-zA-Z][a-zA-Z0-9]*)>))?")


def read_expression(text: str) -> Expression:
    """The tree of an expression. Raises RefusedError."""
    return ExpressionParser(text).whole()


@dataclass(slots=True)
class ExpressionParser:
    """Reads an expression from left to right; a part comes with whether it may be empty."""

    text: str
    place: int = 0
    dot: Ranges = field(default=others(LINE_ENDS))
    any_case: bool = False
    last: int = LAST
    names: set[str] = field(default_factory=set)

    def whole(self) -> Expression:
        if (found := FLAGS.match(self.text)) is not None:
            self.place = found.end()
            self.any_case = "i" in found[1]
            self.dot = ALL if "s" in found[1] else self.dot
        try:
            tree, empty = self.alternatives()
        except RecursionError:
            raise self.refused("too many groups in one another") from None
        if empty:
            self.limit(BEYOND - 1)
        if self.place < len(self.text):
            raise self.refused(")")
        return Expression(self.text, tree, self.last)

    def limit(self, last: int) -> None:
        """In texts with further characters the expression is not Java's."""
        self.last = min(self.last, last)

    def refused(self, what: str) -> RefusedError:
        return RefusedError(
            f"the regular expression {self.text!r} has {what!r} at character {self.place + 1}, "
            "which is not read"
        )

    def next(self, count: int = 1) -> str:
        """What comes next; less at the end."""
        return self.text[self.place : self.place + count]

    def alternatives(self) -> tuple[Tree, bool]:
        """Up to a `)`."""
        parts = [self.sequence()]
        while self.next() == "|":
            self.place += 1
            parts.append(self.sequence())
        empty = any(empty for _, empty in parts)
        return (Choice(tuple(one for one, _ in parts)) if parts[1:] else parts[0][0]), empty

    def sequence(self) -> tuple[Tree, bool]:
        parts, empty = [], True
        while self.place < len(self.text) and self.next() not in "|)":
            one, may_be_empty = self.quantified(*self.item())
            parts.append(one)
            empty = empty and may_be_empty
        return Sequence(tuple(parts)), empty

    def quantified(self, one: Tree, empty: bool) -> tuple[Tree, bool]:
        """An item with the quantifier after it."""
        found = QUANTIFIER.match(self.text, self.place)
        if found is None:
            return one, empty
        sign, least, comma, most, possessive = found.groups()
        if isinstance(one, At) or possessive or (empty and sign != "?"):
            raise self.refused(found[0])
        if max(int(least or 0), int(most or 0)) > MOST_REPEATED:
            raise self.refused(found[0])
        self.place = found.end()
        if QUANTIFIER.match(self.text, self.place):
            raise self.refused(self.next())
        if least is not None:
            times = int(least), int(most) if most else None if comma else int(least)
        else:
            times = int(sign == "+"), 1 if sign == "?" else None
        if times[1] is not None and times[1] < times[0]:
            raise self.refused(found[0])
        return Repeat(one, *times), empty or times[0] == 0

    def item(self) -> tuple[Tree, bool]:
        character = self.next()
        if character == "(":
            return self.group()
        if character == "[":
            return One(self.character_class()), False
        if character == "\\" and (edge := EDGES.get(self.next(2)[1:])) is not None:
            self.place += 2
            self.limit(0x7F if edge is Boundary.WORD else LAST)
            return At(edge), True
        if character == "\\" and (found := CLASSES.get(self.next(2)[1:])) is not None:
            self.place += 2
            return One(found), False
        if character in "*+?{":
            raise self.refused(character)
        if character in ".^$":
            self.place += 1
            if character == ".":
                return One(self.dot), False
            return At(Boundary.START if character == "^" else Boundary.LAST_LINE), True
        return One(self.as_written(of_characters(self.member()))), False

    def as_written(self, found: Ranges) -> Ranges:
        """Characters that an expression names, in the case that is asked for."""
        return in_any_case(found) if self.any_case else found

    def group(self) -> tuple[Tree, bool]:
        found = OPENING.match(self.text, self.place)
        assert found is not None
        if found[0] == "(" and self.next(2) == "(?":
            raise self.refused(self.next(3))
        if found[1] in self.names:
            raise self.refused(found[0])
        if found[1] is not None:
            self.names.add(found[1])
        self.place = found.end()
        inner, empty = self.alternatives()
        if self.place >= len(self.text):
            raise self.refused("an open group")
        self.place += 1
        return inner, empty

    def member(self) -> str:
        """The one character that is written, or for which an escape stands."""
        if self.next() != "\\":
            self.place += 1
            return self.text[self.place - 1]
        after = self.next(2)[1:]
        digits = {"x": 2, "u": 4}.get(after)
        if digits is not None:
            code = self.text[self.place + 2 : self.place + 2 + digits]
            if re.fullmatch(f"[0-9a-fA-F]{{{digits}}}", code) is None:
                raise self.refused(f"\\{after}")
            if SURROGATES[0] <= int(code, 16) <= SURROGATES[1]:
                raise self.refused(f"\\{after}{code}")
            self.place += 2 + digits
            return chr(int(code, 16))
        if after not in CONTROLS and (not after or after.isalnum() or not after.isascii()):
            raise self.refused(f"\\{after}")
        self.place += 2
        return CONTROLS.get(after, after)

    def character_class(self) -> Ranges:
        """`[...]`, in which no other one stands."""
        self.place += 1
        negated = self.next() == "^"
        self.place += negated
        found: list[tuple[int, int]] = []
        while self.next() != "]" or not found:
            here = self.next()
            if here in ("", "[", "]") or self.next(2) == "&&" or (here == "^" and not found):
                raise self.refused(here or "an open class")
            found += self.members()
        self.place += 1
        of = ranges(*found)
        return others(of) if negated else self.without_halves(of)

    def without_halves(self, of: Ranges) -> Ranges:
        """Halves of a character of Java's are found where whole ones are not."""
        if any(first <= SURROGATES[1] and last >= SURROGATES[0] for first, last in of):
            self.limit(BEYOND - 1)
        return of

    def members(self) -> Ranges:
        """A character, a range, or a class such as \\d, in a class."""
        named = CLASSES.get(self.next(2)[1:]) if self.next() == "\\" else None
        if named is not None:
            self.place += 2
            if self.next() == "-":
                raise self.refused("-")
            return named
        first = last = self.member()
        if self.next() == "-" and self.next(2) != "-]":
            self.place += 1
            if self.next() in ("", "["):
                raise self.refused("-")
            last = self.member()
        if last < first:
            raise self.refused(f"{first}-{last}")
        return self.as_written(((ord(first), ord(last)),))
