"""A choice of an option, and a function of the match, is declared once: its words, what it looks at
beside a match's own rows, and what it means, as `explain` says.
"""

from __future__ import annotations

from enum import Enum

from typing_extensions import Self


class Beyond(Enum):
    """What is looked at beside the values of a match's own rows, as what is said of a part."""

    BETWEEN = "reads rows beside those of a match, between its first and its last row"
    BESIDE = "reads rows beside a match"
    DISTANCE = "counts the rows between those of a match"
    PLACES = "says where in the partition rows stand"
    ABSENT_BEFORE = "looks for rows before a match"
    ABSENT_BETWEEN = "looks for rows between those of a match"
    ABSENT_AFTER = "looks for rows after a match, in its window"
    LATER = "has a match complete with a later row"
    EMPTY = "may match no rows"
    EDGES = "asks where the partition begins or ends"
    OVERLAP = "depends on matches that share rows"
    EARLIER = "depends on earlier matches of the partition"
    UNMATCHED = "gives rows that no match has"
    LIVE = "gives runs that are no match"
    TIMED_OUT = "gives runs whose window has ended"


class OptionChoice(Enum):
    """One of several that an option may be: its words, what it looks at, what it means."""

    _value_: str
    beyond: tuple[Beyond, ...]
    meaning: str

    def __new__(cls, words: str, beyond: tuple[Beyond, ...], meaning: str = "") -> Self:
        member = object.__new__(cls)
        member._value_, member.beyond, member.meaning = words, beyond, meaning
        return member

    @property
    def words(self) -> str:
        return self._value_
