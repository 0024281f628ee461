"""Parse and write patterns, events and matches in the short notation of `cases/patterns`.

The README there defines the notation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.cases.case_file import PatternRecord
from tests.generators.pattern_trees import Event, Pattern
from tests.references.patterns import (
    Mapped,
    MissError,
    Search,
    Skip,
    SkipTo,
    TimedOut,
    rank,
    report_matches,
)

LETTERS = "abcdef"
SCHEMA = "p string, n int, t int, e string, x int, " + ", ".join(
    f"is_{letter} boolean" for letter in LETTERS
)
NAMES = tuple(part.split()[0] for part in SCHEMA.split(", "))
CALLS = r"begin|next|followed_by|followed_by_any|not_next|not_followed_by"


@dataclass(frozen=True)
class Question:
    """A pattern over some events: a `pattern` record without the expected matches."""

    calls: str  # Python that builds the pattern, in short notation
    skip: str  # the words after `skip`, "" for none
    timeouts: bool  # whether partial matches that time out are part of the result
    words: tuple[str, ...]  # the events

    def __str__(self) -> str:
        """Return the text of the record up to `----`."""
        options = [f"skip {self.skip}"] if self.skip else []
        options += ["timeouts"] if self.timeouts else []
        return "\n".join([f"pattern {self.calls}", *options, " ".join(self.words), "----"])

    @property
    def strategy(self) -> Skip:
        """Return the after-match skip strategy."""
        return read_skip(self.skip) if self.skip else Skip()

    @property
    def streams(self) -> dict[str, list[Event]]:
        """Return the events of each partition, in order."""
        return read_events(self.words)


def read_question(record: PatternRecord) -> Question:
    """Return the question of a record."""
    return Question(record.calls, record.skip, record.timeouts, record.events)


def write_out(pattern: str) -> str:
    """Return the Python text of a pattern. A stage without quotes has its letter as condition.

    >>> write_out("begin(a).next(b2).optional()")
    'begin("a").where("is_a").next("b2").where("is_b").optional()'
    """
    return re.sub(
        rf"\b({CALLS})\(([{LETTERS}])(\d*)\)", r'\1("\2\3").where("is_\2")', pattern.strip()
    )


def build_pattern(pattern: str, builder: Any) -> Any:
    """Build a pattern with a class that has the methods of `matchrec.Pattern`."""
    return eval(write_out(pattern), {"Pattern": builder, "begin": builder.begin})


def read_events(words: Sequence[str]) -> dict[str, list[Event]]:
    """Parse events, and return those of each partition in order.

    >>> [event["e"] for event in read_events(["a1@7", "b1@5", "ab2@5=3"])["-"]]
    ['b1', 'ab2', 'a1']
    """
    streams: dict[str, list[Event]] = {}
    for number, word in enumerate(words, 1):
        event = read_event(word, number)
        streams.setdefault(event["p"], []).append(event)
    return {
        partition: sorted(events, key=lambda event: (event["t"], event["n"]))
        for partition, events in streams.items()
    }


def read_event(word: str, number: int) -> dict[str, Any]:
    """Parse an event.

    `ab3@5=7/p` has the label ab3 and satisfies a and b; its time is 5, its x is 7, its partition p.
    For `a?1` it is unknown (NULL) whether it satisfies a.

    Args:
        number: the position of the event in its list, from 1, which is its time by default.
    """
    parts = re.fullmatch(r"((?:[a-z]\??)+\d*)(?:@(\d+))?(?:=(-?\d+))?(?:/(\w+))?", word)
    if parts is None:
        raise ValueError(f"no event: {word!r}")
    label, time, x, partition = parts.groups()
    event: dict[str, Any] = {"p": partition or "-", "n": number, "e": label}
    event["t"] = int(time) if time else number
    event["x"] = int(x) if x else None
    for letter in LETTERS:
        unknown = f"{letter}?" in label
        event[f"is_{letter}"] = None if unknown else letter in label
    return event


def read_skip(text: str) -> Skip:
    """Parse `to next`, `past last event`, `to first b`, `to last b throws` or `no skip`."""
    words = text.split()
    throws = words[-1] == "throws"
    words = words[: len(words) - throws]
    if words[:2] in (["to", "first"], ["to", "last"]):
        return Skip(SkipTo(words[1]), words[2], throws)
    return Skip(SkipTo(words[1] if words[0] == "to" else " ".join(words)))


def show_match(mapped: Mapped, stream: Sequence[Event]) -> str:
    """Write the events of a match: `a: a1, b: b1 b2`."""
    return ", ".join(
        f"{name}: {' '.join(stream[position]['e'] for position in positions)}"
        for name, positions in mapped
    )


def show_timeout(timed_out: TimedOut, stream: Sequence[Event]) -> str:
    """Write a partial match that timed out: `a: a1 timed out 7`."""
    return f"{show_match(timed_out.mapped, stream)} timed out {timed_out.time}"


def list_right_lines(question: Question) -> list[list[str]]:
    """Return the lines of every result that is right by definition.

    The lines of a partition are its matches in their order, then its partial matches. Several
    results are right if the definitions leave the order of matches open. If a match has no event of
    the stage to skip to, the result is `throws STAGE`.

    Raises:
        TooManyWaysError: the enumeration takes too long.
    """
    pattern = build_pattern(question.calls, Pattern)
    skip = question.strategy
    results: list[list[str]] = [[]]
    for stream in question.streams.values():
        search = Search(pattern, stream)
        results_of_stream: list[list[str]] = []
        orders = search.list_orders() if question.skip else [sorted(search.matches, key=rank)]
        for ordered in orders:
            try:
                result = report_matches(search, ordered, skip)
            except MissError as miss:
                return [[f"throws {miss}"]]
            lines = [show_match(match.mapped, stream) for match in result.matches]
            if question.timeouts:
                lines += sorted(show_timeout(partial, stream) for partial in result.timed_out)
            if lines not in results_of_stream:
                results_of_stream.append(lines)
        results = [[*before, *lines] for before in results for lines in results_of_stream]
    return results
