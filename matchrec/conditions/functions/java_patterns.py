"""Regular expressions of Java go in, whether they are found in texts comes out.

    a(b|[c-e])*$   →   Sequence(One(a) Repeat(...) At(LAST_LINE))

The time is bounded by the size of the expression times that of the text, whatever they are, where
Java's and Python's own searches may take years. What is taken means what it means in Java. Refused
by name are what cannot be found in bounded time, such as look-around and back references, and what
is rare: possessive quantifiers, flags other than (?i) and (?s) at the start, \\p{...}, character
classes in one another, a part that may be empty under `*` or `+`.

Source: the documentation of java.util.regex.Pattern. Antimirov, "Partial Derivatives of Regular
Expressions and Finite Automaton Constructions".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field
from enum import IntFlag
from functools import lru_cache, reduce
from operator import or_

from typing_extensions import assert_never

from matchrec.dataclass import dataclass

LAST = 0x10FFFF
BEYOND = 0x10000  # from here on a character of Java is two
SURROGATE = "\ud800"  # the half of such a character
MOST_REPEATED = 1000


class RefusedError(Exception):
    """An expression that is not read, or a text in which it may mean something else."""


class Boundary(IntFlag):
    """Where an expression may hold without a character. LAST_LINE: at the end, or before its end of
    line.
    """

    START = 1
    END = 2
    LAST_LINE = 4
    WORD = 8


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """One of some characters, as Python writes a class of them. Case is that of ASCII."""

    characters: str
    any_case: bool = False

    def has(self, character: str) -> bool:
        """Whether it is one of them."""
        return test_of(self.characters, self.any_case).fullmatch(character) is not None


@lru_cache(maxsize=1000)
def test_of(characters: str, any_case: bool) -> re.Pattern[str]:
    """What tests a character."""
    return re.compile(characters, re.ASCII | re.IGNORECASE if any_case else re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """A place that is an edge."""

    edge: Boundary


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One part after the other."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The first part that leads on."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A part so many times; most is None without a bound. again: what is left after it once."""

    part: Tree
    least: int
    most: int | None
    again: Repeat | None


def repeated(part: Tree, least: int, most: int | None) -> Repeat:
    """A part so many times; without a bound it is left as it is once it has come often enough."""
    found = Repeat(part, 0, None if most is None else 0, None)
    for left in range(1, (least if most is None else most) + 1):
        if most is None:
            found = Repeat(part, left, None, found)
        else:
            found = Repeat(part, max(least - most + left, 0), left, found)
    return found


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


ALL = "[\\s\\S]"
WITHOUT_LINE_ENDS = "[^\n\r\u0085\u2028\u2029]"
EDGES = {"A": Boundary.START, "z": Boundary.END, "Z": Boundary.LAST_LINE, "b": Boundary.WORD}
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
QUANTIFIER = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})\??(\+?)", re.ASCII)
FLAGS = re.compile(r"\(\?([is]+)\)")
OPENING = re.compile(r"\((?:\?(?::|<([a-zA-Z][a-zA-Z0-9]*)>))?")
NAMED = r"\\[dwsDWS]"
ESCAPED = (
    r"\\(?:[ntrfae]|x[\da-fA-F]{2}|u(?![dD][89a-fA-F])[\da-fA-F]{4}|[^a-zA-Z\d\x80-\U0010ffff])"
)
INSIDE = rf"{ESCAPED}|[^\[\]\\]"
MEMBER = rf"({NAMED})(?!-)|({INSIDE})(?:-({INSIDE})|(?!-)|(?=-\]))"
EACH_MEMBER = re.compile(MEMBER, re.ASCII | re.DOTALL)
CLASS = re.compile(rf"\[(\^?)(?!\^)((?:{MEMBER})+)\]", re.ASCII | re.DOTALL)
OUTSIDE = re.compile(rf"({NAMED})|{ESCAPED}|[^\\]", re.ASCII | re.DOTALL)


def character_of(written: str) -> str:
    """The character that is written, or for which an escape stands."""
    if len(written) < 3:
        return CONTROLS.get(written[1:], written[-1])
    return chr(int(written[2:], 16))


def read_expression(text: str) -> Expression:
    """The tree of an expression. Raises RefusedError."""
    return ExpressionParser(text).whole()


@dataclass(slots=True)
class ExpressionParser:
    """Reads an expression from left to right; a part comes with whether it may be empty."""

    text: str
    place: int = 0
    dot: str = WITHOUT_LINE_ENDS
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
        return repeated(one, *times), empty or times[0] == 0

    def item(self) -> tuple[Tree, bool]:
        character = self.next()
        if character == "(":
            return self.group()
        if character == "[":
            return One(self.character_class(), self.any_case), False
        if character == "\\" and (edge := EDGES.get(self.next(2)[1:])) is not None:
            self.place += 2
            self.limit(0x7F if edge is Boundary.WORD else LAST)
            return At(edge), True
        if character in "*+?{":
            raise self.refused(character)
        if character in ".^$":
            self.place += 1
            if character == ".":
                return One(self.dot), False
            return At(Boundary.START if character == "^" else Boundary.LAST_LINE), True
        written = OUTSIDE.match(self.text, self.place)
        if written is None:
            raise self.refused(self.next(2))
        self.place = written.end()
        characters = written[1] or re.escape(character_of(written[0]))
        return One(characters, self.any_case), False

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

    def character_class(self) -> str:
        """`[...]`, in which no other one stands."""
        found = CLASS.match(self.text, self.place)
        if found is None or "&&" in found[2]:
            raise self.refused("[")
        members = []
        for named, first, last in EACH_MEMBER.findall(found[2]):
            ends = [re.escape(character_of(one)) for one in (first, last) if one]
            if last and character_of(last) < character_of(first):
                raise self.refused(f"{first}-{last}")
            members.append(named or "-".join(ends))
        self.place = found.end()
        written = f"[{found[1]}{''.join(members)}]"
        if not found[1] and One(written).has(SURROGATE):
            self.limit(BEYOND - 1)  # halves of a character of Java's are found where it is not
        return written


# The search: all that may be left to find is followed at once, through the text from left to right.
#
# ab*c in `abbd`      at a: ab*c    at b: b*c or ab*c    at b: the same    at d: the same
#
# What has once been asked of an expression is remembered, so that a character is mostly a look-up.

MOST_POSITIONS = 10_000
MOST_WORK = 1 << 26  # positions x characters
MOST_STATES, MOST_STEPS = 2_000, 100_000  # that are remembered

Rest = tuple[Tree, ...]
"""What is left to find, from left to right."""

LAST_END_OF_LINE = re.compile("(?:\r\n|(?<!\r)\n|[\r\u0085\u2028\u2029])\\Z")
EDGE_OF_WORD = re.compile(r"\b", re.ASCII)
BEGIN, FOUND = 0, 1


@dataclass(slots=True)
class JavaPattern:
    """An expression, and what texts have asked of it so far.

    positions, edges: of the tree. states: what may be left at a place of a text, by their numbers;
    FOUND is that of none. steps: the next state, by state, character and edges.
    """

    expression: Expression
    positions: int
    edges: Boundary
    states: list[frozenset[Rest]] = field(default_factory=list)
    numbers: dict[frozenset[Rest], int] = field(default_factory=dict)
    steps: dict[tuple[int, str, int], int] = field(default_factory=dict)

    def is_found(self, text: str) -> bool:
        """Whether some part of a text is as the expression says. Raises RefusedError."""
        self.check(text)
        if len(self.states) > MOST_STATES or len(self.steps) > MOST_STEPS or not self.states:
            self.forget()
        steps, state = self.steps, BEGIN
        edges = edges_of(text, self.edges) if self.edges else {}
        for place, character in enumerate((*text, "")):
            key = state, character, edges.get(place, 0)
            known = steps.get(key)
            state = self.step(*key) if known is None else known
            if state == FOUND:
                return True
        return False

    def check(self, text: str) -> None:
        """Raises RefusedError for a text in which it may be another pattern, or takes too long."""
        own = self.expression
        if own.last < LAST and max(map(ord, text), default=0) > own.last:
            raise RefusedError(
                f"the regular expression {own.text!r} has \\b, finds nothing or half a character: "
                f"it may mean something else to Java in a text with {max(text)!r}"
            )
        if self.positions * (len(text) + 1) > MOST_WORK:
            raise RefusedError(
                f"the regular expression {own.text!r} is too large for a text of {len(text)} "
                "characters"
            )

    def forget(self) -> None:
        """Begin anew with what is left before a text: all of it."""
        whole = frozenset({(self.expression.tree,)})
        self.states[:] = whole, frozenset()
        self.numbers = {whole: BEGIN}
        self.steps.clear()

    def step(self, state: int, character: str, edges: int) -> int:
        """The state after a character, or at the end of a text; it is remembered."""
        found = frozenset(self.after(state, character, edges))
        number = FOUND if () in found else self.numbers.setdefault(found, len(self.states))
        if number == len(self.states):
            self.states.append(found)
        self.steps[state, character, edges] = number
        return number

    def after(self, state: int, character: str, edges: int) -> Iterator[Rest]:
        """What may be left after a character; nothing where it is found before that."""
        waiting, seen = [*self.states[state]], set[Rest]()
        yield (self.expression.tree,)  # which may begin at any place
        while waiting:
            rest = waiting.pop()
            if not rest:
                yield rest
            if not rest or rest in seen:
                continue
            seen.add(rest)
            first, others = rest[0], rest[1:]
            match first:
                case One():
                    if first.has(character):
                        yield others
                case At(edge):
                    waiting += [others] if edge & edges else []
                case Sequence(parts):
                    waiting.append(parts + others)
                case Choice(parts):
                    waiting += [(part, *others) for part in parts]
                case Repeat(part, least, most):
                    waiting += [others] if least == 0 else []
                    waiting += [(part, first.again or first, *others)] if most != 0 else []
                case _:
                    assert_never(first)


def edges_of(text: str, asked: Boundary) -> dict[int, int]:
    """The edges of those places of a text that are some."""
    found = defaultdict[int, int](int)
    found[0] = Boundary.START
    found[len(text)] |= Boundary.END | Boundary.LAST_LINE
    if (line := LAST_END_OF_LINE.search(text)) is not None:
        found[line.start()] |= Boundary.LAST_LINE
    if Boundary.WORD in asked:
        for word in EDGE_OF_WORD.finditer(text):
            found[word.start()] |= Boundary.WORD
    return found


def measure(tree: Tree) -> tuple[int, Boundary]:
    """How many places for a character a tree has, repeats counted, and which edges."""
    match tree:
        case One():
            return 1, Boundary(0)
        case At(edge):
            return 1, edge
        case Repeat(part, least, most):
            positions, edges = measure(part)
            return positions * max(least, most or 1), edges
        case Sequence(parts) | Choice(parts):
            found = [measure(part) for part in parts]
            edges = reduce(or_, (edge for _, edge in found), Boundary(0))
            return sum(positions for positions, _ in found), edges
        case _:
            assert_never(tree)


@lru_cache(maxsize=1000)
def java_pattern(text: str) -> JavaPattern:
    """The pattern of an expression. Raises RefusedError."""
    return compiled(read_expression(text))


def compiled(expression: Expression) -> JavaPattern:
    """The pattern of an expression that has been read. Raises RefusedError if it is too large."""
    positions, edges = measure(expression.tree)
    if positions > MOST_POSITIONS:
        raise RefusedError(f"the regular expression {expression.text!r} is too large")
    return JavaPattern(expression, positions, edges)
