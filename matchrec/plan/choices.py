"""The base of enums whose members are the choices of an option, or the functions of the match.

Each member declares its words, its dependencies, and the meaning that `explain` prints. So a choice
is declared in one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from typing_extensions import Self


class Dependency(Enum):
    """A dependency of a part of a query on more than the values of a match's own rows.

    The value completes a sentence that begins with the part. `compile.pruning.proven_shortcuts`
    decides by these members which shortcuts a query allows.
    """

    UNMATCHED_BETWEEN = "reads unmatched rows between the first and the last row of a match"
    NEIGHBOURS = "reads rows before or after a match"
    ROW_COUNTS = "counts the rows between the rows of a match"
    POSITIONS = "returns the positions of rows in the partition"
    ABSENT_BEFORE = "forbids rows before a match"
    ABSENT_BETWEEN = "forbids rows between the rows of a match"
    ABSENT_AFTER = "forbids rows after a match, in its window"
    COMPLETED_LATER = "completes a match only at a later row"
    EMPTY_MATCHES = "allows empty matches"
    PARTITION_EDGES = "tests where the partition begins or ends"
    OVERLAP = "can exclude matches that overlap an earlier match"
    EARLIER_MATCHES = "depends on earlier matches in the partition"
    UNMATCHED_ROWS = "outputs rows that are in no match"
    PARTIAL_MATCHES = "outputs runs that are not matches"
    TIMED_OUT = "outputs runs that have timed out"


@dataclass(frozen=True, slots=True)
class ChoiceDeclaration:
    """The declaration of a choice of an option."""

    # The keywords of the choice, as in a query. If no query can name the choice, words for it.
    words: str
    # What `explain` says about the choice; empty if the words say it.
    meaning: str = ""
    # The dependencies on more than the values of a match's own rows.
    dependencies: tuple[Dependency, ...] = ()


class OptionChoice(Enum):
    """The base of options. A subclass is an option, and each of its members is a choice.

    Example of a member:

        LONGEST = ChoiceDeclaration(
            "LONGEST MATCH", "for each starting row, the match with the most rows"
        )
    """

    # The words of the declaration.
    _value_: str
    # The dependencies of the declaration.
    dependencies: tuple[Dependency, ...]
    # The meaning of the declaration.
    meaning: str

    def __new__(cls, declaration: ChoiceDeclaration) -> Self:
        """Make a member, whose value is the words of its declaration."""
        member = object.__new__(cls)
        member._value_ = declaration.words
        member.dependencies = declaration.dependencies
        member.meaning = declaration.meaning
        return member

    @property
    def words(self) -> str:
        """Return the words of the declaration: the keywords of an option, or a function's name."""
        return self._value_
