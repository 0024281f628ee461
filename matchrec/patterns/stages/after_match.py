"""`AfterMatch`: where the search of a `Pattern` resumes after a match.

Source: Flink CEP, "The Pattern API", "After Match Skip Strategy".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from matchrec import arguments
from matchrec.arguments import ArgumentKind, check_arguments, make_class_test
from matchrec.errors import stages as errors
from matchrec.patterns.stages.public_class import PublicClass
from matchrec.plan.clauses import SkipTo
from matchrec.public_names import public

# The kinds of the arguments of `AfterMatch`.

SKIP_TARGET = ArgumentKind(
    "a place to skip to, or None",
    lambda value: value is None or isinstance(value, SkipTo),
    'write AfterMatch.SKIP_TO_NEXT, or AfterMatch.skip_to_first("stage")',
)
NO_STAGE = ArgumentKind(
    "None", make_class_test(type(None)), 'write AfterMatch.skip_to_first("stage")'
)


# No public class has slots: `help` would show the methods that dataclasses add for pickling them.
@public
@dataclass(frozen=True, match_args=False)
class AfterMatch(metaclass=PublicClass):
    """A skip strategy: where the search resumes after a match, and so which matches are dropped.

    Except with NO_SKIP, the result has the matches in the order of their first events.

    - `NO_SKIP` returns all matches.
    - `SKIP_TO_NEXT` returns one match for each first event.
    - `SKIP_PAST_LAST_EVENT` drops matches that start before the last match has ended.
    - `skip_to_first(stage)` and `skip_to_last(stage)` drop matches that start before the first, or
      last, event of that stage in the last match.

    >>> AfterMatch.skip_to_last("b").throw_on_miss()
    AfterMatch.skip_to_last('b').throw_on_miss()
    """

    # Private to users. The modules that lower and write a Pattern read these fields.
    # The row to skip to; None for NO_SKIP.
    _to: SkipTo | None = None
    # The name of the stage, for skip_to_first and skip_to_last.
    _stage: str | None = None
    # Whether `throw_on_miss` was called.
    _throws: bool = False
    # For the message about a strategy that is passed to another method, as `begin` of Flink takes
    # it: see `arguments.explain_positional_arguments`.
    _method_that_takes_it: ClassVar[str] = "after_match"

    NO_SKIP: ClassVar[AfterMatch]
    SKIP_TO_NEXT: ClassVar[AfterMatch]
    SKIP_PAST_LAST_EVENT: ClassVar[AfterMatch]

    def __post_init__(self) -> None:
        """Check the types of the fields, and that `throw_on_miss` has a stage."""
        SKIP_TARGET.check("`AfterMatch`", "to", self._to)
        needs_stage = self._to in (SkipTo.FIRST, SkipTo.LAST)
        stage_kind = arguments.TEXT if needs_stage else NO_STAGE
        stage_kind.check("`AfterMatch`", "stage", self._stage)
        arguments.FLAG.check("`AfterMatch`", "throws", self._throws)
        if self._throws and self._stage is None:
            raise errors.throw_without_stage(strategy=repr(self))

    @staticmethod
    @check_arguments(stage=arguments.TEXT)
    def skip_to_first(stage: str) -> AfterMatch:
        """Drop matches that start before the first event of `stage` in the last match.

        A last match without such an event drops no other match, as with NO_SKIP.

        >>> AfterMatch.skip_to_first("b")
        AfterMatch.skip_to_first('b')
        """
        return AfterMatch(SkipTo.FIRST, stage)

    @staticmethod
    @check_arguments(stage=arguments.TEXT)
    def skip_to_last(stage: str) -> AfterMatch:
        """Drop matches that start before the last event of `stage` in the last match.

        A last match without such an event drops no other match, as with NO_SKIP.

        >>> AfterMatch.skip_to_last("b")
        AfterMatch.skip_to_last('b')
        """
        return AfterMatch(SkipTo.LAST, stage)

    def throw_on_miss(self) -> AfterMatch:
        """Raise an error if a match has no event to skip to, or if that is its first event.

        >>> AfterMatch.skip_to_first("b").throw_on_miss()
        AfterMatch.skip_to_first('b').throw_on_miss()
        """
        return replace(self, _throws=True)

    def __repr__(self) -> str:
        if self._stage is None:
            return f"AfterMatch.{CONSTANT_NAMES[self._to]}"
        function = "skip_to_first" if self._to is SkipTo.FIRST else "skip_to_last"
        suffix = ".throw_on_miss()" if self._throws else ""
        return f"AfterMatch.{function}({self._stage!r}){suffix}"


# The names of the strategies without a stage.
CONSTANT_NAMES = {
    None: "NO_SKIP",
    SkipTo.NEXT_ROW: "SKIP_TO_NEXT",
    SkipTo.PAST_LAST_ROW: "SKIP_PAST_LAST_EVENT",
}
AfterMatch.NO_SKIP = AfterMatch()
AfterMatch.SKIP_TO_NEXT = AfterMatch(SkipTo.NEXT_ROW)
AfterMatch.SKIP_PAST_LAST_EVENT = AfterMatch(SkipTo.PAST_LAST_ROW)
