"""Draw random patterns and small streams of events, with Hypothesis or from a seed.

Patterns and events are text in the notation of `cases/patterns`, so that a failing example is
readable and can be pasted into a case file.
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
    """A source of choices: `random.Random`, or Hypothesis."""

    def choice(self, options: Sequence[Any]) -> Any:
        """Return one of the options."""
        ...

    def randint(self, least: int, most: int) -> int:
        """Return an integer from `least` to `most`, both included."""
        ...


@dataclass
class HypothesisChooser:
    """Choices that Hypothesis makes, so that it can shrink failing examples."""

    draw: Any

    def choice(self, options: Sequence[Any]) -> Any:
        """Return one of the options."""
        return self.draw(st.sampled_from(options))

    def randint(self, least: int, most: int) -> int:
        """Return an integer from `least` to `most`, both included."""
        return self.draw(st.integers(least, most))


@dataclass
class PatternWriter:
    """A writer of the calls of a random pattern."""

    chooser: Chooser
    names: list[str] = field(default_factory=list)  # the stages so far that accept events
    stages: int = 0  # the number of stages so far, negated ones included
    # Whether the last stage, and whether every stage, of the chain written last may be left out.
    ends_empty: bool = False
    is_empty: bool = False

    def chance(self, percent: int) -> bool:
        """Return True with a probability given in percent."""
        return self.chooser.randint(0, 99) >= 100 - percent

    def choice(self, options: Sequence[Any]) -> Any:
        """Return one of the options."""
        return self.chooser.choice(options)

    def write_chain(self, depth: int) -> str:
        """Write `begin(...).next(...)` with some stages."""
        count = self.choice((1, 2, 2, 3, 3, 4) if depth == 0 else (1, 2, 2))
        calls = ""
        greedy = False  # whether the stage before is greedy
        empty = False  # whether the stage before may be left out
        all_empty = True
        for index in range(count):
            call = "begin" if index == 0 else self.choice(CALLS)
            if index and not empty and self.chance(15):
                calls += self.write_negated_call()
                if self.chance(20):
                    calls += self.write_negated_call()
                greedy = False
            text, greedy, empty = self.write_stage(call, depth, may_be_optional=not greedy)
            calls += text
            all_empty &= empty
        self.ends_empty = empty
        self.is_empty = all_empty
        return calls.removeprefix(".")

    def write_negated_call(self) -> str:
        """Write a call with a negated stage."""
        call = self.choice(("not_next", "not_followed_by", "not_followed_by"))
        return f".{call}({self.write_name_and_conditions(negated=True)}"

    def write_name_and_conditions(self, *, negated: bool = False) -> str:
        """Write the name of a new stage and its conditions, after the opening parenthesis."""
        self.stages += 1
        letter = self.choice("acd" if negated else "abbcc" if self.names else "aab")
        name = f"{letter}{self.stages}"
        simple = self.chance(75)
        condition = f"is_{letter}" if simple else self.write_condition(name, letter, negated)
        if not negated:
            self.names.append(name)
        if simple:
            return f"{name})"
        if not condition:
            return f'"{name}")'
        return f'"{name}").where("{condition}")' + self.write_or_where()

    def write_or_where(self) -> str:
        """Write `.or_where(...)`, or nothing."""
        if not self.chance(10):
            return ""
        return f'.or_where("is_{self.choice(LETTERS)}")'

    def write_condition(self, name: str, letter: str, negated: bool) -> str:
        """Write a condition on the event, and perhaps on accepted events; "" for no condition."""
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

    def write_stage(self, call: str, depth: int, may_be_optional: bool) -> tuple[str, bool, bool]:
        """Write a stage, and return also whether it is greedy and whether it may be left out."""
        is_group = depth < 2 and self.chance(18)
        empty = False
        if is_group:
            text = f".{call}({self.write_chain(depth + 1)})"
            empty = self.is_empty
        else:
            text = f".{call}({self.write_name_and_conditions()}"
        text, greedy, optional = self.add_quantifier(text, is_group, may_be_optional)
        if not is_group and self.chance(8):
            text += f'.within({self.chooser.randint(1, 3)}, "previous_to_current")'
        return text, greedy, optional or empty

    def add_quantifier(
        self, text: str, is_group: bool, may_be_optional: bool
    ) -> tuple[str, bool, bool]:
        """Add a quantifier to a stage. Return the same as `write_stage`."""
        kind = self.choice(("one", "one", "one", "one_or_more", "one_or_more", "times", "range"))
        optional = may_be_optional and self.chance(20)
        suffix = ".optional()" if optional else ""
        if kind == "one":
            return text + suffix, False, optional
        gap = f"gap={self.chooser.randint(1, 3)}" if not is_group and self.chance(8) else ""
        loops, call = self.write_counts(kind, gap)
        inner = self.choice(("", "", ".consecutive()", ".allow_combinations()"))
        greedy = not is_group and inner != ".allow_combinations()" and self.chance(30)
        until = loops and self.chance(25)
        text += f".{call}{inner}{suffix}"
        text += ".greedy()" if greedy else ""
        text += f'.until("{self.write_until()}")' if until else ""
        return text, greedy, optional

    def write_counts(self, kind: str, gap: str) -> tuple[bool, str]:
        """Return whether a quantifier has no upper bound, and its call."""
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

    def write_until(self) -> str:
        """Write an `until` condition for the stage that was written last."""
        options = [f"is_{letter}" for letter in LETTERS]
        if self.names:
            options += [f"sum({self.names[-1]}.x) > 3", f"count({self.names[-1]}) >= 2"]
        return self.choice(options)


@st.composite
def questions(draw: Any) -> Question:
    """Draw a question with Hypothesis."""
    return draw_question(HypothesisChooser(draw))


def draw_question(chooser: Chooser) -> Question:
    """Draw a pattern and a stream of events."""
    writer = PatternWriter(chooser)
    calls = writer.write_chain(0)
    ends_open = not writer.ends_empty and writer.chance(12)
    if ends_open:
        calls += writer.write_negated_call()
    window = chooser.randint(3, 8) if ends_open or writer.chance(40) else None
    calls += f".within({window})" if window else ""
    timeouts = window is not None and writer.chance(50)
    skip = draw_skip_strategy(writer) if writer.chance(40) else ""
    return Question(calls, skip, timeouts, tuple(draw_stream(chooser)))


def draw_skip_strategy(writer: PatternWriter) -> str:
    """Draw an after-match skip strategy, in the words of a case file."""
    skip = writer.choice(("to next", "past last event", "to first", "to last"))
    if skip not in ("to first", "to last"):
        return skip
    return f"{skip} {writer.choice(writer.names)}{' throws' if writer.chance(20) else ''}"


def draw_stream(chooser: Chooser) -> list[str]:
    """Draw up to eight events. Some have the same time; some satisfy no or several conditions."""
    words, time = [], 0
    for number in range(1, chooser.choice((2, 4, 5, 6, 6, 7, 7, 8, 8)) + 1):
        time += chooser.choice((1, 1, 1, 0, 2))
        letters = chooser.choice(EVENTS)
        x = chooser.choice(("", "=0", "=1", "=2", "=3"))
        words.append(f"{letters}{number}@{time}{x}")
    return words
