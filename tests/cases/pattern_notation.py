"""The short notation of patterns, events and matches in `cases/patterns`; see the README there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.cases.case_file import PatternRecord
from tests.generators.pattern_trees import Event, Pattern
from tests.references.patterns import Mapped, MissError, Search, Skip, TimedOut, rank, reported

LETTERS = "abcdef"
SCHEMA = "p string, n int, t int, e string, x int, " + ", ".join(
    f"is_{letter} boolean" for letter in LETTERS
)
NAMES = tuple(part.split()[0] for part in SCHEMA.split(", "))
CALLS = r"begin|next|followed_by|followed_by_any|not_next|not_followed_by"


@dataclass(frozen=True)
class Question:
    """A pattern over some events. skip: the words of a case, "" for none."""

    calls: str
    skip: str
    timeouts: bool
    words: tuple[str, ...]

    def __str__(self) -> str:
        """The text of a case, as far as it is a question."""
        options = [f"skip {self.skip}"] if self.skip else []
        options += ["timeouts"] if self.timeouts else []
        return "\n".join([f"pattern {self.calls}", *options, " ".join(self.words), "----"])

    @property
    def strategy(self) -> Skip:
        return read_skip(self.skip) if self.skip else Skip()

    @property
    def streams(self) -> dict[str, list[Event]]:
        """By partition."""
        return read_events(self.words)


def question_of(record: PatternRecord) -> Question:
    return Question(record.calls, record.skip, record.timeouts, record.events)


def written_out(pattern: str) -> str:
    """The pattern as Python: a stage without quotes has its letter as condition.

    >>> written_out("begin(a).next(b2).optional()")
    'begin("a").where("is_a").next("b2").where("is_b").optional()'
    """
    return re.sub(
        rf"\b({CALLS})\(([{LETTERS}])(\d*)\)", r'\1("\2\3").where("is_\2")', pattern.strip()
    )


def built(pattern: str, builder: Any) -> Any:
    """What a builder with the calls of `matchrec.Pattern` makes of a pattern."""
    return eval(written_out(pattern), {"Pattern": builder, "begin": builder.begin})


def read_events(words: Sequence[str]) -> dict[str, list[Event]]:
    """The streams by partition, each in its order.

    >>> [event["e"] for event in read_events(["a1@7", "b1@5", "ab2@5=3"])["-"]]
    ['b1', 'ab2', 'a1']
    """
    streams: dict[str, list[Event]] = {}
    for number, word in enumerate(words, 1):
        event = read_event(word, number)
        streams.setdefault(event["p"], []).append(event)
    return {p: sorted(one, key=lambda e: (e["t"], e["n"])) for p, one in streams.items()}


def read_event(word: str, number: int) -> dict[str, Any]:
    """`ab3@5=7/p`: label ab3, satisfies a and b; time 5, x 7, partition p; `a?1`: a is unknown."""
    found = re.fullmatch(r"((?:[a-z]\??)+\d*)(?:@(\d+))?(?:=(-?\d+))?(?:/(\w+))?", word)
    if found is None:
        raise ValueError(f"no event: {word!r}")
    label, time, x, partition = found.groups()
    event: dict[str, Any] = {"p": partition or "-", "n": number, "e": label}
    event["t"] = int(time) if time else number
    event["x"] = int(x) if x else None
    for letter in LETTERS:
        unknown = f"{letter}?" in label
        event[f"is_{letter}"] = None if unknown else letter in label
    return event


def read_skip(text: str) -> Skip:
    """`to next`, `past last event`, `to first b`, `to last b throws`, `no skip`."""
    words = text.split()
    throws = words[-1] == "throws"
    words = words[: len(words) - throws]
    if words[:2] in (["to", "first"], ["to", "last"]):
        return Skip(words[1], words[2], throws)
    return Skip(words[1] if words[0] == "to" else " ".join(words))


def shown(mapped: Mapped, stream: Sequence[Event]) -> str:
    """`a: a1, b: b1 b2`."""
    return ", ".join(
        f"{name}: {' '.join(stream[q]['e'] for q in positions)}" for name, positions in mapped
    )


def shown_timeout(one: TimedOut, stream: Sequence[Event]) -> str:
    return f"{shown(one.mapped, stream)} timed out {one.time}"


def by_definition(question: Question) -> list[list[str]]:
    """The lines of every right result: matches in their order, then partial ones, by partition.

    A partition that misses the stage it skips to makes the result `throws STAGE`. Raises
    TooMuchError.
    """
    pattern, skip = built(question.calls, Pattern), question.strategy
    results: list[list[str]] = [[]]
    for stream in question.streams.values():
        search = Search(pattern, stream)
        ways: list[list[str]] = []
        orders = search.orders() if question.skip else [sorted(search.found, key=rank)]
        for ordered in orders:
            try:
                found = reported(search, ordered, skip)
            except MissError as miss:
                return [[f"throws {miss}"]]
            lines = [shown(match.mapped, stream) for match in found.matches]
            if question.timeouts:
                lines += sorted(shown_timeout(one, stream) for one in found.timed_out)
            if lines not in ways:
                ways.append(lines)
        results = [[*before, *lines] for before in results for lines in ways]
    return results
