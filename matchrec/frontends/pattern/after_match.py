"""After-match skip strategies: which matches a match leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from matchrec.arguments import FLAG, TEXT, Kind, checked
from matchrec.dataclass import dataclass
from matchrec.errors import stages as errors
from matchrec.plan.clauses import SkipTo

TO = Kind(
    "what to skip to",
    lambda value: value is None or isinstance(value, SkipTo),
    'write AfterMatch.SKIP_TO_NEXT, or AfterMatch.skip_to_first("stage")',
)

NO_STAGE = Kind("None", lambda value: value is None, 'write AfterMatch.skip_to_first("stage")')


@dataclass(frozen=True, slots=True)
class AfterMatch:
    """An after-match skip strategy; matches come out in the order of their first events.

    NO_SKIP: all matches. SKIP_TO_NEXT: one for each first event. SKIP_PAST_LAST_EVENT: none that
    starts before the last one has ended. skip_to_first(stage), skip_to_last(stage): none that
    starts before the first, or last, event of that stage in the last one.

    >>> AfterMatch.skip_to_last("b").throw_on_miss()
    AfterMatch.skip_to_last('b').throw_on_miss()
    """

    to: SkipTo | None = None
    stage: str | None = None
    throws: bool = False

    NO_SKIP: ClassVar[AfterMatch]
    SKIP_TO_NEXT: ClassVar[AfterMatch]
    SKIP_PAST_LAST_EVENT: ClassVar[AfterMatch]

    def __post_init__(self) -> None:
        TO.check("AfterMatch", "to", self.to)
        to_stage = self.to in (SkipTo.FIRST, SkipTo.LAST)
        (TEXT if to_stage else NO_STAGE).check("AfterMatch", "stage", self.stage)
        FLAG.check("AfterMatch", "throws", self.throws)

    @staticmethod
    @checked(stage=TEXT)
    def skip_to_first(stage: str) -> AfterMatch:
        """Nothing that starts before the first event of a stage; without one, as NO_SKIP.

        >>> AfterMatch.skip_to_first("b")
        AfterMatch.skip_to_first('b')
        """
        return AfterMatch(SkipTo.FIRST, stage)

    @staticmethod
    @checked(stage=TEXT)
    def skip_to_last(stage: str) -> AfterMatch:
        """Nothing that starts before the last event of a stage; without one, as NO_SKIP.

        >>> AfterMatch.skip_to_last("b")
        AfterMatch.skip_to_last('b')
        """
        return AfterMatch(SkipTo.LAST, stage)

    def throw_on_miss(self) -> AfterMatch:
        """A match without an event of the stage, or that starts with that event, is an error.

        >>> AfterMatch.skip_to_first("b").throw_on_miss()
        AfterMatch.skip_to_first('b').throw_on_miss()
        """
        if self.stage is None:
            raise errors.throws_without_stage(repr(self))
        return replace(self, throws=True)

    def __repr__(self) -> str:
        if self.stage is None:
            return f"AfterMatch.{NAMES[self.to]}"
        function = "skip_to_first" if self.to is SkipTo.FIRST else "skip_to_last"
        suffix = ".throw_on_miss()" if self.throws else ""
        return f"AfterMatch.{function}({self.stage!r}){suffix}"


NAMES = {
    None: "NO_SKIP",
    SkipTo.NEXT_ROW: "SKIP_TO_NEXT",
    SkipTo.PAST_LAST_ROW: "SKIP_PAST_LAST_EVENT",
}
AfterMatch.NO_SKIP = AfterMatch()
AfterMatch.SKIP_TO_NEXT = AfterMatch(SkipTo.NEXT_ROW)
AfterMatch.SKIP_PAST_LAST_EVENT = AfterMatch(SkipTo.PAST_LAST_ROW)
