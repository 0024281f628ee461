"""Pattern: each call returns a new pattern, with one more stage or with another last stage.

Source: Flink CEP, "The Pattern API".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from matchrec.frontends.pattern import checks
from matchrec.frontends.pattern.durations import Duration, duration
from matchrec.frontends.pattern.show import shown
from matchrec.frontends.pattern.tree import All, Condition, Contiguity, Either, Stage, Test


@dataclass(frozen=True, slots=True, repr=False)
class Pattern:
    """What events to look for, one stage after the other; calls change the last stage.

    A condition is SQL text over the columns of one event, or a Spark Column. SQL text may also read
    the events accepted so far, without the one it is about: sum, count, avg, min, max, first and
    last of `stage.column`, and `count(stage)`. Wrong calls raise MatchRecognizePlanError at once.

    >>> Pattern.begin("a").where("x > 1").followed_by("b").one_or_more().within("10 minutes")
    Pattern.begin('a').where('x > 1').followed_by('b').one_or_more().within('10 minute')
    """

    stages: tuple[Stage, ...]

    @staticmethod
    def begin(content: str | Pattern) -> Pattern:
        """A pattern of one stage, by its name, or of a group, a whole pattern."""
        return Pattern(()).appended(content, Contiguity.STRICT, "begin")

    def next(self, content: str | Pattern) -> Pattern:
        """Then this stage, at once: strict contiguity."""
        return self.appended(content, Contiguity.STRICT, "next")

    def followed_by(self, content: str | Pattern) -> Pattern:
        """Then this stage, events that do not satisfy it may be skipped: relaxed contiguity."""
        return self.appended(content, Contiguity.RELAXED, "followed_by")

    def followed_by_any(self, content: str | Pattern) -> Pattern:
        """Then this stage, any events may be skipped: non-deterministic relaxed contiguity."""
        return self.appended(content, Contiguity.ANY, "followed_by_any")

    def not_next(self, name: str) -> Pattern:
        """The event directly behind must not satisfy this stage."""
        return self.forbidding(name, Contiguity.STRICT, "not_next")

    def not_followed_by(self, name: str) -> Pattern:
        """No event up to the next accepted one may satisfy this stage; at the end, up to the end of
        the window.
        """
        return self.forbidding(name, Contiguity.RELAXED, "not_followed_by")

    def where(self, condition: Any) -> Pattern:
        """The stage's events satisfy this condition too."""
        stage, test = self.last, checks.condition(condition, self.last, "where")
        return self.with_last(
            condition=test if stage.condition is None else All(stage.condition, test)
        )

    def or_where(self, condition: Any) -> Pattern:
        """The stage's events satisfy this condition, or all that was said before."""
        stage, test = self.last, checks.condition(condition, self.last, "or_where")
        return self.with_last(
            condition=test if stage.condition is None else Either(stage.condition, test)
        )

    def until(self, condition: Any) -> Pattern:
        """An event that satisfies this condition ends the stage's loop and is not part of it."""
        checks.may_have_until(self.last)
        return self.with_last(until=Test(checks.given(condition, self.last, "until")))

    def one_or_more(self, gap: object = None) -> Pattern:
        """The stage's events are one or more. gap: less than this between two of them."""
        return self.repeated("one_or_more", 1, None, gap)

    def times(self, least: int, most: int | None = None, gap: object = None) -> Pattern:
        """The stage's events are exactly so many, or so many to so many."""
        checks.bounds(self.last, least, most)
        return self.repeated("times", least, least if most is None else most, gap)

    def times_or_more(self, least: int, gap: object = None) -> Pattern:
        """The stage's events are so many or more."""
        checks.bounds(self.last, least, None)
        return self.repeated("times_or_more", least, None, gap)

    def optional(self) -> Pattern:
        """The stage may be left out."""
        checks.may_be_optional(self.stages)
        return self.with_last(optional=True)

    def greedy(self) -> Pattern:
        """The stage takes as many events as it can before the next one."""
        checks.may_be_greedy(self.last)
        return self.with_last(greedy=True)

    def consecutive(self) -> Pattern:
        """No event may be skipped between the stage's events."""
        checks.may_have_inner(self.last, "consecutive")
        return self.with_last(inner=Contiguity.STRICT)

    def allow_combinations(self) -> Pattern:
        """Any events may be skipped between the stage's events."""
        checks.may_have_inner(self.last, "allow_combinations")
        return self.with_last(inner=Contiguity.ANY)

    def within(self, window: object, kind: str = "first_to_last") -> Pattern:
        """Less than this lies between events.

        kind "first_to_last": the first and the last of a match; of several windows the smallest
        counts. kind "previous_to_current": the event accepted before and each one of this stage.
        """
        checks.known_kind(kind)
        length = duration(window, "within")
        if kind == "first_to_last":
            found = self.with_last(within=smaller(self.last.within, length))
        else:
            checks.may_be_near(self.last)
            found = self.with_last(near=smaller(self.last.near, length))
        checks.windows(found.stages)
        return found

    def appended(self, content: str | Pattern, contiguity: Contiguity, call: str) -> Pattern:
        """The pattern with one more stage."""
        given = content.stages if isinstance(content, Pattern) else content
        checks.new_content(self.stages, given, call)
        found = Pattern((*self.stages, Stage(given, contiguity)))
        checks.windows(found.stages)
        return found

    def forbidding(self, name: str, contiguity: Contiguity, call: str) -> Pattern:
        """The pattern with a NOT behind it."""
        checks.may_be_forbidden(self.stages, name, call)
        return Pattern((*self.stages, Stage(name, contiguity, negated=True)))

    def repeated(self, call: str, least: int, most: int | None, gap: object) -> Pattern:
        """The pattern with the last stage repeated; from none on, it is optional."""
        checks.may_be_quantified(self.stages, call, optional=least == 0)
        found = self.with_last(quantified=True, least=max(least, 1), most=most)
        if gap is not None:
            found = found.with_last(gap=duration(gap, call))
        return found.with_last(optional=True) if least == 0 else found

    @property
    def last(self) -> Stage:
        """The stage that calls change."""
        return self.stages[-1]

    def with_last(self, **changes: Any) -> Pattern:
        """The pattern with another last stage."""
        return Pattern((*self.stages[:-1], replace(self.last, **changes)))

    def __repr__(self) -> str:
        return shown(self.stages)


def smaller(one: Duration | None, other: Duration) -> Duration:
    """The smaller of two windows of one kind."""
    checks.comparable(one, other)
    return other if one is None else min(one, other)


__all__ = ["Condition", "Pattern"]
