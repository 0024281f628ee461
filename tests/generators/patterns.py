"""Random patterns and small streams of events, as a hypothesis strategy or from a seed.

Everything is text in the notation of `cases/patterns`, so that an example that fails can be read,
and pasted as a case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hypothesis import strategies as st

from tests.cases.pattern_notation import Question

LETTERS = "abcd"
EVENTS = (*"aaabbbccd", *("ab", "bc", "ac", "abc"), "z", "a?", "b?c")
CALLS = ("next", "followed_by", "followed_by", "followed_by", "followed_by_any")


class Chooser(Protocol):
    """What `random.Random` has, and hypothesis can do too."""

    def choice(self, options: Sequence[Any]) -> Any: ...
    def randint(self, least: int, most: int) -> int: ...


@dataclass
class Drawn:
    """Choices that hypothesis makes, and makes smaller."""

    draw: Any

    def choice(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def randint(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))


@dataclass
class Writer:
    """Writes the calls of one pattern.

    names: of the stages so far that accept events. ends_empty, is_empty: whether the last stage of
    the chain written last, or all of it, may be left out.
    """

    chooser: Chooser
    names: list[str] = field(default_factory=list)
    stages: int = 0
    ends_empty: bool = False
    is_empty: bool = False

    def chance(self, percent: int) -> bool:
        return self.chooser.randint(0, 99) >= 100 - percent

    def choice(self, options: Sequence[Any]) -> Any:
        return self.chooser.choice(options)

    def chain(self, depth: int) -> str:
        """`begin(...).next(...)` of some stages."""
        count = self.choice((1, 2, 2, 3, 3, 4) if depth == 0 else (1, 2, 2))
        calls, greedy, empty, all_empty = "", False, False, True
        for place in range(count):
            call = "begin" if place == 0 else self.choice(CALLS)
            if place and not empty and self.chance(15):
                calls += self.negated()
                if self.chance(20):
                    calls += self.negated()
                greedy = False
            text, greedy, empty = self.stage(call, depth, may_be_optional=not greedy)
            calls += text
            all_empty &= empty
        self.ends_empty, self.is_empty = empty, all_empty
        return calls.removeprefix(".")

    def negated(self) -> str:
        call = self.choice(("not_next", "not_followed_by", "not_followed_by"))
        return f".{call}({self.named(negated=True)}"

    def named(self, *, negated: bool = False) -> str:
        """The name of a new stage and its conditions, behind the opening parenthesis."""
        self.stages += 1
        letter = self.choice("acd" if negated else "abbcc" if self.names else "aab")
        name = f"{letter}{self.stages}"
        simple = self.chance(75)
        condition = f"is_{letter}" if simple else self.condition(name, letter, negated)
        if not negated:
            self.names.append(name)
        if simple:
            return f"{name})"
        if not condition:
            return f'"{name}")'
        return f'"{name}").where("{condition}")' + self.or_where()

    def or_where(self) -> str:
        if not self.chance(10):
            return ""
        return f'.or_where("is_{self.choice(LETTERS)}")'

    def condition(self, name: str, letter: str, negated: bool) -> str:
        """A condition on the event, perhaps on what has been accepted; empty is none."""
        simple = (
            "",
            f"is_{letter} OR is_{self.choice(LETTERS)}",
            f"NOT is_{letter}",
            "x > 1",
            f"is_{letter} AND x < 3",
            "x IS NULL OR x = 2",
        )
        readable = self.names if negated else [*self.names, name]
        if not readable or not self.chance(40):
            return self.choice(simple)
        read = self.choice(readable)
        return self.choice(
            (
                f"count({read}) < 2",
                f"is_{letter} AND sum({read}.x) + x < 4",
                f"x >= last({read}.x)",
                f"count({read}) = 0 OR x > last({read}.x)",
                f"is_{letter} AND x <> first({read}.x)",
                f"count({read}.x) = 1",
                f"x > min({read}.x)",
                f"max({read}.x) IS NULL OR x < max({read}.x)",
                f"x >= avg({read}.x)",
            )
        )

    def stage(self, call: str, depth: int, may_be_optional: bool) -> tuple[str, bool, bool]:
        """The text of a stage, whether it is greedy, and whether it may be left out."""
        is_group, empty = depth < 2 and self.chance(18), False
        if is_group:
            text = f".{call}({self.chain(depth + 1)})"
            empty = self.is_empty
        else:
            text = f".{call}({self.named()}"
        text, greedy, optional = self.quantified(text, is_group, may_be_optional)
        if not is_group and self.chance(8):
            text += f'.within({self.chooser.randint(1, 3)}, "previous_to_current")'
        return text, greedy, optional or empty

    def quantified(
        self, text: str, is_group: bool, may_be_optional: bool
    ) -> tuple[str, bool, bool]:
        kind = self.choice(("one", "one", "one", "one_or_more", "one_or_more", "times", "range"))
        optional = may_be_optional and self.chance(20)
        suffix = ".optional()" if optional else ""
        if kind == "one":
            return text + suffix, False, optional
        gap = f"gap={self.chooser.randint(1, 3)}" if not is_group and self.chance(8) else ""
        loops, call = self.counts(kind, gap)
        inner = self.choice(("", "", ".consecutive()", ".allow_combinations()"))
        greedy = not is_group and inner != ".allow_combinations()" and self.chance(30)
        until = loops and self.chance(25)
        text += f".{call}{inner}{suffix}"
        text += ".greedy()" if greedy else ""
        text += f'.until("{self.until()}")' if until else ""
        return text, greedy, optional

    def counts(self, kind: str, gap: str) -> tuple[bool, str]:
        """Whether it is a loop, and the call."""
        least = self.chooser.randint(1, 2)
        if kind == "one_or_more":
            if self.chance(25):
                return True, f"times_or_more({', '.join(filter(None, (str(least), gap)))})"
            return True, f"one_or_more({gap})"
        if kind == "times":
            return False, f"times({', '.join(filter(None, (str(least), gap)))})"
        most = self.chooser.randint(least, 3)
        bounds = ", ".join(filter(None, (f"{least}, {most}", gap)))
        return False, f"times({bounds})"

    def until(self) -> str:
        """A condition that ends the loop of the stage that was written last."""
        options = [f"is_{letter}" for letter in LETTERS]
        if self.names:
            options += [f"sum({self.names[-1]}.x) > 3", f"count({self.names[-1]}) >= 2"]
        return self.choice(options)


@st.composite
def questions(draw: Any) -> Question:
    return random_question(Drawn(draw))


def random_question(chooser: Chooser) -> Question:
    writer = Writer(chooser)
    calls = writer.chain(0)
    ends_open = not writer.ends_empty and writer.chance(12)
    if ends_open:
        calls += writer.negated()
    window = chooser.randint(3, 8) if ends_open or writer.chance(40) else None
    calls += f".within({window})" if window else ""
    timeouts = window is not None and writer.chance(50)
    skip = random_skip(writer) if writer.chance(40) else ""
    return Question(calls, skip, timeouts, tuple(random_stream(chooser)))


def random_skip(writer: Writer) -> str:
    skip = writer.choice(("to next", "past last event", "to first", "to last"))
    if skip not in ("to first", "to last"):
        return skip
    return f"{skip} {writer.choice(writer.names)}{' throws' if writer.chance(20) else ''}"


def random_stream(chooser: Chooser) -> list[str]:
    """Up to eight events; some of them at one time, some satisfy nothing or two conditions."""
    words, time = [], 0
    for number in range(1, chooser.choice((2, 4, 5, 6, 6, 7, 7, 8, 8)) + 1):
        time += chooser.choice((1, 1, 1, 0, 2))
        letters = chooser.choice(EVENTS)
        x = chooser.choice(("", "=0", "=1", "=2", "=3"))
        words.append(f"{letters}{number}@{time}{x}")
    return words
