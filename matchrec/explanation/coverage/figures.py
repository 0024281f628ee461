"""What `coverage` says of a clause, in numbers."""

from __future__ import annotations

from enum import Enum

from matchrec.compile.counted import Figures, NearestStart
from matchrec.dataclass import dataclass
from matchrec.engine.contiguous.kernels import coverage_layout as layout

QUERY = "matchrec.why(spark, query"


class Reason(Enum):
    """Why a run came no nearer to a match: see `coverage_layout`."""

    FALSE = layout.FALSE
    NO_ROW = layout.NO_ROW
    OUT_OF_WINDOW = layout.OUT_OF_WINDOW
    ANCHORED = layout.ANCHORED
    FORBIDDEN = layout.FORBIDDEN


@dataclass(frozen=True, slots=True)
class Ending:
    """What ended some runs. awaited: the variables that would have brought them nearer to a match.

    remaining: how many rows a match still needed at least.
    """

    reason: Reason
    awaited: tuple[str, ...]
    remaining: int
    count: int

    def __str__(self) -> str:
        """The reason in words."""
        names = either(self.awaited)
        match self.reason:
            case Reason.FALSE if len(self.awaited) == 1:
                return f"{names} was not true"
            case Reason.FALSE:
                return f"none of {', '.join(self.awaited)} was true"
            case Reason.NO_ROW:
                return f"the partition ended before {names}"
            case Reason.OUT_OF_WINDOW:
                return f"the window ended before {names}"
            case Reason.ANCHORED:
                return "^ or $ was not there"
            case Reason.FORBIDDEN:
                return f"what must not be there came before {names}"


@dataclass(frozen=True, slots=True)
class FalsePart:
    """A part of a condition that has several, and for how many of the runs it was not true.

    What depends on the run is one part, which counts where all others were true.
    """

    variable: str
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class OccurrenceCoverage:
    """An occurrence of a variable in PATTERN; number 0 is what comes before any row.

    came: starting rows whose match, or whose nearest run, has a row there. ended: those that began
    no match and whose nearest run had its last row there. endings, false_parts: why, the most
    frequent first.
    """

    number: int
    variable: str | None
    came: int
    ended: int
    endings: tuple[Ending, ...]
    false_parts: tuple[FalsePart, ...]


@dataclass(frozen=True, slots=True)
class ClauseCoverage:
    """How far the starting rows of one clause came.

    occurrences: in the order of PATTERN, after what comes before any row. nearest: the starting row
    that came nearest to a match and began none, if one has got any row. question: the call of `why`
    about one of its rows, without that. selects: whether rows may be skipped or all matches are
    asked for; `figures.matches` are starting rows that begin one then.
    """

    pattern: str
    figures: Figures
    occurrences: tuple[OccurrenceCoverage, ...]
    nearest: NearestStart | None
    question: str = QUERY
    selects: bool = False

    @property
    def tried(self) -> int:
        """The starting rows from which a match was sought; the others are inside of matches."""
        return self.occurrences[0].came

    @property
    def without_match(self) -> int:
        """The starting rows of these that began no match."""
        return self.tried - self.figures.matches

    @property
    def summary(self) -> str:
        """How many of the starting rows begin a match, in one line."""
        begin = f"{self.figures.matches:,} of {self.tried:,} starting rows begin a match"
        return f"{self.pattern}, {begin}"


def either(names: tuple[str, ...]) -> str:
    """One of several names, in words."""
    return " or ".join(names) or "the end of the match"
