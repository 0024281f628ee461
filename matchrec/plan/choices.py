"""Enums whose members declare everything about a choice of an option or a function of the match.

Each member has the words of its choice, what the choice looks at beside a match's own rows, and
what it means, for `explain`. So a choice is declared in one place.
"""

from __future__ import annotations

from enum import Enum

from typing_extensions import Self


class Dependency(Enum):
    """What a part of a query looks at beside the values of a match's own rows.

    The value completes a sentence that begins with the part. `compile.pruning.locality` decides by
    these members which shortcuts a query allows.
    """

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
    """One of the choices of an option.

    LONGEST = "LONGEST MATCH", (), "of the matches at each starting row the one with ..."
    """

    _value_: str  # the words
    beyond: tuple[Dependency, ...]  # what it looks at beside a match's own rows
    meaning: str  # what `explain` says; empty if the words say it

    def __new__(cls, words: str, beyond: tuple[Dependency, ...], meaning: str = "") -> Self:
        """Make a member whose value is its words."""
        member = object.__new__(cls)
        member._value_ = words
        member.beyond = beyond
        member.meaning = meaning
        return member

    @property
    def words(self) -> str:
        """The choice as one writes it in a clause."""
        return self._value_
