"""Regular expressions of Java as those of Python, where both mean the same.

What they read in different ways is refused by name: character classes in one another, possessive
quantifiers, flags other than (?i) and (?s) at the start, \\p{...}, a group that may be empty under
a quantifier without bound.
Source: the documentation of java.util.regex.Pattern, and of Python's `re`.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import lru_cache

from matchrec.conditions.functions.function import FunctionError, UndecidedError
from matchrec.dataclass import dataclass

LINE_ENDS = "\\n\\r\\u0085\\u2028\\u2029"
NO_LINE_END = f"[^{LINE_ENDS}]"
LAST_LINE = "(?=(?:\\r\\n|(?<!\\r)\\n|[\\r\\u0085\\u2028\\u2029])?\\Z)"
CLASSES = frozenset("dDwWsS")
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
QUANTIFIER = re.compile(r"([*+?]|\{(\d+)(?:,(\d*))?\})(\??)(\+?)")
FLAGS = re.compile(r"\(\?([is]+)\)")
OPENING = re.compile(r"\((\?(?::|=|!|<=|<!|<([a-zA-Z][a-zA-Z0-9]*)>))?")
MOST_REPEATED = 1000


@dataclass(frozen=True, slots=True)
class JavaPattern:
    """A pattern, compiled. repeated: groups in a repeated part, whose last value Java may forget.

    last: the last character of texts in which it means the same. Word boundaries are others beyond
    ASCII; beyond U+FFFF a character of Java is two, between which nothing is found, too.
    """

    expression: re.Pattern[str]
    repeated: frozenset[int]
    last: str

    def check(self, text: str) -> str:
        """The text, if the pattern is Java's in it."""
        if max(text, default="") > self.last:
            raise UndecidedError(
                f"the regular expression {self.expression.pattern!r} has \\b, looks around or "
                f"finds nothing: Python does not read it as Java does in a text with {max(text)!r}"
            )
        return text


@lru_cache(maxsize=1000)
def java_pattern(text: str) -> JavaPattern:
    """The pattern. Raises what Java's parser does, and where it is refused."""
    reader = PatternReader(text)
    try:
        return reader.whole()
    except (re.error, OverflowError, RecursionError) as error:
        raise FunctionError(f"the pattern {text!r} cannot be read: {error}") from error


@dataclass(slots=True)
class PatternReader:
    """Reads a pattern of Java from left to right, and writes one of Python."""

    text: str
    place: int = 0
    groups: int = 0
    open: int = 0
    dot: str = NO_LINE_END
    last: str = "\U0010ffff"
    names: list[str] = field(default_factory=list)
    repeated: set[int] = field(default_factory=set)

    def whole(self) -> JavaPattern:
        flags = re.ASCII
        if (found := FLAGS.match(self.text)) is not None:
            self.place = found.end()
            flags |= re.IGNORECASE if "i" in found[1] else 0
            self.dot = "(?s:.)" if "s" in found[1] else self.dot
        written, empty = self.alternatives()
        if empty:
            self.limit("\uffff")
        if self.place < len(self.text):
            raise self.refused(")")
        return JavaPattern(re.compile(written, flags), frozenset(self.repeated), self.last)

    def limit(self, last: str) -> None:
        """Beyond that character the pattern is not Java's."""
        self.last = min(self.last, last)

    def refused(self, what: str) -> FunctionError:
        return UndecidedError(
            f"the regular expression {self.text!r} has {what!r} at character {self.place + 1}, "
            "which Python does not read as Java does"
        )

    def alternatives(self) -> tuple[str, bool]:
        """Up to a `)`: what is written, and whether it may be empty."""
        parts = [self.sequence()]
        while self.text[self.place : self.place + 1] == "|":
            self.place += 1
            parts.append(self.sequence())
        return "|".join(one for one, _ in parts), any(empty for _, empty in parts)

    def sequence(self) -> tuple[str, bool]:
        written, empty = [], True
        while self.place < len(self.text) and self.text[self.place] not in "|)":
            before = self.groups
            one, may_be_empty, repeatable = self.item()
            one, optional = self.quantified(one, may_be_empty, repeatable, before)
            written.append(one)
            empty = empty and optional
        return "".join(written), empty

    def quantified(self, one: str, empty: bool, repeatable: bool, before: int) -> tuple[str, bool]:
        """An item with the quantifier after it, and whether it may be empty then."""
        found = QUANTIFIER.match(self.text, self.place)
        if found is None:
            return one, empty
        if not repeatable or found[5] or (empty and found[1] != "?"):
            raise self.refused(found[0])
        if max(int(found[2] or 0), int(found[3] or 0)) > MOST_REPEATED:
            raise self.refused(found[0])
        self.place = found.end()
        if QUANTIFIER.match(self.text, self.place):
            raise self.refused(self.text[self.place])
        if found[1] != "?":
            self.repeated.update(range(before + 1, self.groups + 1))
        may_be_missing = found[1] in "*?" or (found[2] is not None and int(found[2]) == 0)
        return one + found[0], empty or may_be_missing

    def item(self) -> tuple[str, bool, bool]:
        """What is written, whether it may be empty, whether a quantifier may follow."""
        character = self.text[self.place]
        if character == "(":
            return self.group()
        if character == "[":
            return self.character_class(), False, True
        if character == "\\":
            return self.escape()
        if character in "*+?{":
            raise self.refused(character)
        self.place += 1
        if character == ".":
            return self.dot, False, True
        if character in "^$":
            return ("\\A" if character == "^" else LAST_LINE), True, False
        return re.escape(character), False, True

    def group(self) -> tuple[str, bool, bool]:
        found = OPENING.match(self.text, self.place)
        assert found is not None
        if found[1] is None and self.text[self.place + 1 : self.place + 2] == "?":
            raise self.refused(self.text[self.place : self.place + 3])
        looks = found[1] in ("?=", "?!", "?<=", "?<!")
        opening = found[0]
        if found[1] is None or found[2] is not None:
            self.groups += 1
            opening = f"(?P<{found[2]}>" if found[2] else "("
        if looks:
            self.limit("\uffff")
        self.place = found.end()
        before = self.groups
        inner, empty = self.alternatives()
        if looks and self.groups > before:
            raise self.refused("a group in a lookaround")
        if self.place >= len(self.text):
            raise self.refused("an open group")
        self.place += 1
        return f"{opening}{inner})", empty or looks, not looks

    def escape(self) -> tuple[str, bool, bool]:
        """What a backslash and the character after it mean outside of a class."""
        after = self.text[self.place + 1 : self.place + 2]
        if after == "b":
            self.limit("\x7f")
        if after in ("b", "A", "z", "Z"):
            self.place += 2
            return {"z": "\\Z", "Z": LAST_LINE}.get(after, f"\\{after}"), True, False
        if after in CLASSES and after:
            self.place += 2
            return f"\\{after}", False, True
        return re.escape(self.escaped_character()), False, True

    def escaped_character(self) -> str:
        """The one character that an escape stands for."""
        after = self.text[self.place + 1 : self.place + 2]
        digits = {"x": 2, "u": 4}.get(after)
        if digits is not None:
            code = self.text[self.place + 2 : self.place + 2 + digits]
            if re.fullmatch(f"[0-9a-fA-F]{{{digits}}}", code) is None:
                raise self.refused(f"\\{after}")
            if 0xD800 <= int(code, 16) < 0xE000:
                raise self.refused(f"\\{after}{code}")
            self.place += 2 + digits
            return chr(int(code, 16))
        if after in CONTROLS:
            self.place += 2
            return CONTROLS[after]
        if not after or after.isalnum() or not after.isascii():
            raise self.refused(f"\\{after}")
        self.place += 2
        return after

    def character_class(self) -> str:
        """`[...]`, in which no other one stands."""
        self.place += 1
        negated = "^" if self.text[self.place : self.place + 1] == "^" else ""
        self.place += len(negated)
        found: list[str] = []
        while True:
            here = self.text[self.place : self.place + 1]
            if here in ("", "[") or self.text.startswith("&&", self.place):
                raise self.refused(here or "an open class")
            if here == "]" and found:
                self.place += 1
                return f"[{negated}{''.join(found)}]"
            if here == "]" or (here == "^" and not found):
                raise self.refused(here)
            found.append(self.members())

    def members(self) -> str:
        """A character, a range, or a class such as \\d, in a class."""
        if self.text[self.place] == "\\" and self.text[self.place + 1 : self.place + 2] in CLASSES:
            after = self.text[self.place + 1 : self.place + 2]
            if after:
                self.place += 2
                if self.text[self.place : self.place + 1] == "-":
                    raise self.refused("-")
                return f"\\{after}"
        first = self.member()
        rest = self.text[self.place : self.place + 2]
        if not rest.startswith("-") or rest == "-]":
            return in_class(first)
        self.place += 1
        if self.text[self.place : self.place + 1] in ("", "["):
            raise self.refused("-")
        last = self.member()
        if last < first:
            raise self.refused(f"{first}-{last}")
        return f"{in_class(first)}-{in_class(last)}"

    def member(self) -> str:
        if self.text[self.place] == "\\":
            return self.escaped_character()
        self.place += 1
        return self.text[self.place - 1]


def in_class(character: str) -> str:
    """The character as itself in a class."""
    return f"\\{character}" if character in "\\]^-[&|~" else character
