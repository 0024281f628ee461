"""`Pattern`: a pattern of stages that users build by calls.

Each call returns a new pattern. Most calls add a stage or change the last stage; `after_match` and
`first_matches` are about the matches of the whole pattern. The calls check their arguments with
`arguments.check_arguments`, and whether the stages allow the call with `checks`.

Source: Flink CEP, "The Pattern API".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from matchrec import arguments
from matchrec.arguments import (
    ArgumentKind,
    Condition,
    DurationLike,
    WindowKind,
    check_arguments,
    make_class_test,
)
from matchrec.errors import stages as errors
from matchrec.errors.arguments import no_attribute
from matchrec.errors.lengths import WITHIN_CALL, LengthLocation, LengthSource
from matchrec.errors.misspellings import find_nearest
from matchrec.patterns.stages import checks
from matchrec.patterns.stages.after_match import CONSTANT_NAMES, AfterMatch
from matchrec.patterns.stages.calls import show_pattern
from matchrec.patterns.stages.public_class import PublicClass
from matchrec.patterns.stages.steps import PictureStepBuilder
from matchrec.patterns.stages.tree import Stage, list_single_stages
from matchrec.plan.stages import Contiguity
from matchrec.public_names import public
from matchrec.syntax.durations import DURATION_ARGUMENT, Duration, read_positive_duration


def find_strategy_hint(value: object) -> str | None:
    """Return the advice for a string that names a strategy of `AfterMatch`; None for other values.

    >>> find_strategy_hint("no_skip")
    'write after_match(AfterMatch.NO_SKIP)'
    """
    name = find_nearest(value, CONSTANT_NAMES.values()) if isinstance(value, str) else None
    return None if name is None else f"write after_match(AfterMatch.{name})"


# The kinds of the arguments of `Pattern`.

STAGE = ArgumentKind(
    "the name of a stage, or a Pattern as a group",
    lambda value: isinstance(value, str | Pattern),
    'write "name", or for a group a Pattern such as Pattern.begin("a").next("b")',
)
CONDITION = ArgumentKind(
    "a string of SQL, or a Column",
    lambda value: isinstance(value, str) or arguments.is_column(value),
    'write "price > 10", or F.col("price") > 10 after from pyspark.sql import functions as F',
)
TIMES = ArgumentKind(
    f"a whole number up to {arguments.MAX_COUNT}",
    lambda value: arguments.is_whole(value) and value <= arguments.MAX_COUNT,
    "write times(2), times(2, 4) or times_or_more(2)",
    right_types=(int,),
)
MATCH_COUNT = replace(arguments.COUNT, hint="write first_matches(1)")
SKIP = ArgumentKind(
    "an AfterMatch",
    make_class_test(AfterMatch),
    "write after_match(AfterMatch.SKIP_TO_NEXT)",
    find_hint=find_strategy_hint,
)
STAGES = ArgumentKind(
    "stages that calls have built",
    lambda value: isinstance(value, tuple) and all(isinstance(part, Stage) for part in value),
    'write Pattern.begin("name")',
)


# No public class has slots: `help` would show the methods that dataclasses add for pickling them.
@public
@dataclass(frozen=True, repr=False, match_args=False)
class Pattern(metaclass=PublicClass):
    """A pattern of events: stages, one after the other.

    `Pattern.begin` starts a pattern, and each call returns a new one.

    A condition is SQL text over the columns of one event, or a Spark Column. SQL text may also read
    the events accepted so far, without the event that it tests: sum, count, avg, min, max, first
    and last of `stage.column`, and `count(stage)`. A wrong call raises MatchRecognizeError.

    >>> Pattern.begin("a").where("x > 1").followed_by("b").one_or_more().within("10 minutes")
    Pattern.begin('a').where('x > 1').followed_by('b').one_or_more().within('10 minutes')
    """

    # Private to users. The modules that lower and write a Pattern read these fields.
    # The stages, in order. The default is not accepted: without it, the error of Python would show
    # the name of the field.
    _stages: tuple[Stage, ...] = None  # type: ignore[assignment]
    # Where the search resumes after a match.
    _skip_strategy: AfterMatch = AfterMatch.NO_SKIP
    # The largest number of matches in each partition; None if there is no limit.
    _most_matches: int | None = None

    def __post_init__(self) -> None:
        """Check the types of the fields."""
        STAGES.check("`Pattern`", "stages", self._stages)
        SKIP.check("`Pattern`", "strategy", self._skip_strategy)
        arguments.COUNT.allow_none().check("`Pattern`", "most_matches", self._most_matches)

    @staticmethod
    @check_arguments(stage=STAGE)
    def begin(stage: str | Pattern) -> Pattern:
        """Start a pattern with its first stage.

        Args:
            stage: the name of the stage, or a whole Pattern, which becomes a group.

        >>> Pattern.begin(Pattern.begin("a").followed_by("b")).times(2)
        Pattern.begin(Pattern.begin('a').followed_by('b')).times(2)
        """
        return Pattern(())._append(stage, Contiguity.STRICT, "begin")

    @check_arguments(stage=STAGE)
    def next(self, stage: str | Pattern) -> Pattern:
        """Add a stage that must match the very next event (strict contiguity).

        >>> Pattern.begin("a").next("b")
        Pattern.begin('a').next('b')
        """
        return self._append(stage, Contiguity.STRICT, "next")

    @check_arguments(stage=STAGE)
    def followed_by(self, stage: str | Pattern) -> Pattern:
        """Add a stage; a match may skip events that do not satisfy it (relaxed contiguity).

        >>> Pattern.begin("a").followed_by("b")
        Pattern.begin('a').followed_by('b')
        """
        return self._append(stage, Contiguity.RELAXED, "followed_by")

    @check_arguments(stage=STAGE)
    def followed_by_any(self, stage: str | Pattern) -> Pattern:
        """Add a stage; a match may skip any events before it.

        Flink CEP calls this non-deterministic relaxed contiguity.

        >>> Pattern.begin("a").followed_by_any("b")
        Pattern.begin('a').followed_by_any('b')
        """
        return self._append(stage, Contiguity.ANY, "followed_by_any")

    @check_arguments(name=STAGE)
    def not_next(self, name: str) -> Pattern:
        """Add a stage that the very next event must not satisfy.

        >>> Pattern.begin("a").not_next("b").followed_by("c")
        Pattern.begin('a').not_next('b').followed_by('c')
        """
        return self._append_not(name, Contiguity.STRICT, "not_next")

    @check_arguments(name=STAGE)
    def not_followed_by(self, name: str) -> Pattern:
        """Add a negated stage: no event may satisfy it until the next stage accepts an event.

        If it is the last stage, no event in the rest of the window may satisfy it.

        >>> Pattern.begin("a").not_followed_by("b").followed_by("c")
        Pattern.begin('a').not_followed_by('b').followed_by('c')
        """
        return self._append_not(name, Contiguity.RELAXED, "not_followed_by")

    @check_arguments(condition=CONDITION)
    def where(self, condition: Condition) -> Pattern:
        """Add a condition that the events of the last stage must also satisfy.

        >>> Pattern.begin("a").where("price > 10").where("volume > 100")
        Pattern.begin('a').where('price > 10').where('volume > 100')
        """
        new_condition = checks.make_condition(condition, self._last, "where")
        return self._change_last(conditions=(*self._last.conditions, new_condition))

    @check_arguments(condition=CONDITION)
    def or_where(self, condition: Condition) -> Pattern:
        """Add a condition to the last stage, as an alternative to all conditions before it.

        If the stage has no condition yet, this is the same as `where`.

        >>> Pattern.begin("a").where("price > 10").or_where("volume > 100")
        Pattern.begin('a').where('price > 10').or_where('volume > 100')
        """
        conditions = self._last.conditions
        new_condition = checks.make_condition(condition, self._last, "or_where")
        if conditions:
            new_condition = replace(new_condition, is_alternative=True)
        return self._change_last(conditions=(*conditions, new_condition))

    @check_arguments(condition=CONDITION)
    def until(self, condition: Condition) -> Pattern:
        """End the loop of the last stage at an event that satisfies the condition.

        That event is not part of the loop.

        >>> Pattern.begin("a").one_or_more().until("price < 5")
        Pattern.begin('a').one_or_more().until('price < 5')
        """
        checks.check_can_have_until(self._last)
        return self._change_last(until=checks.make_until_condition(condition, self._last))

    @check_arguments(gap=DURATION_ARGUMENT.allow_none())
    def one_or_more(self, gap: DurationLike | None = None) -> Pattern:
        """Repeat the last stage one or more times.

        Each repetition takes one event, or the events of a whole group.

        Args:
            gap: the time from each repetition to the next must be less than this: a string
                such as `"10 minutes"`, a timedelta, or a number in the unit of the `order_by`
                column. None means no limit.

        >>> Pattern.begin("a").followed_by("b").one_or_more("10 minutes")
        Pattern.begin('a').followed_by('b').one_or_more(gap='10 minutes')
        """
        return self._repeat("one_or_more", 1, None, gap)

    @check_arguments(least=TIMES, most=TIMES.allow_none(), gap=DURATION_ARGUMENT.allow_none())
    def times(
        self, least: int, most: int | None = None, gap: DurationLike | None = None
    ) -> Pattern:
        """Repeat the last stage exactly `least` times, or `least` to `most` times.

        Each repetition takes one event, or the events of a whole group.

        Args:
            least: the smallest number of repetitions. `times(0, n)` also makes the stage optional.
            most: the largest number of repetitions. None means `least`.
            gap: the time from each repetition to the next must be less than this: a string
                such as `"10 minutes"`, a timedelta, or a number in the unit of the `order_by`
                column. None means no limit.

        >>> Pattern.begin("a").times(2, 4)
        Pattern.begin('a').times(2, 4)
        """
        checks.check_repetitions(self._last, least, most)
        return self._repeat("times", least, least if most is None else most, gap)

    @check_arguments(least=TIMES, gap=DURATION_ARGUMENT.allow_none())
    def times_or_more(self, least: int, gap: DurationLike | None = None) -> Pattern:
        """Repeat the last stage `least` or more times.

        Each repetition takes one event, or the events of a whole group.

        Args:
            least: the smallest number of repetitions, at least 1.
            gap: the time from each repetition to the next must be less than this: a string
                such as `"10 minutes"`, a timedelta, or a number in the unit of the `order_by`
                column. None means no limit.

        >>> Pattern.begin("a").times_or_more(2)
        Pattern.begin('a').times_or_more(2)
        """
        checks.check_repetitions(self._last, least, None)
        return self._repeat("times_or_more", least, None, gap)

    def optional(self) -> Pattern:
        """Make the last stage optional: a match may have no event for it.

        >>> Pattern.begin("a").followed_by("b").optional().next("c")
        Pattern.begin('a').followed_by('b').optional().next('c')
        """
        checks.check_can_be_optional(self._stages)
        return self._change_last(is_optional=True)

    def greedy(self) -> Pattern:
        """Let the last stage take as many events as it can before the next stage.

        Call it on a stage that is repeated, not on a group or a negated stage.

        >>> Pattern.begin("a").one_or_more().greedy().followed_by("b")
        Pattern.begin('a').one_or_more().greedy().followed_by('b')
        """
        checks.check_can_be_greedy(self._last)
        return self._change_last(is_greedy=True)

    def consecutive(self) -> Pattern:
        """Do not let a match skip events between the events of the last stage.

        >>> Pattern.begin("a").times(3).consecutive()
        Pattern.begin('a').times(3).consecutive()
        """
        checks.check_can_have_inner_contiguity(self._last, "consecutive")
        return self._change_last(inner_contiguity=Contiguity.STRICT)

    def allow_combinations(self) -> Pattern:
        """Let a match skip any events between the events of the last stage.

        >>> Pattern.begin("a").times(3).allow_combinations()
        Pattern.begin('a').times(3).allow_combinations()
        """
        checks.check_can_have_inner_contiguity(self._last, "allow_combinations")
        return self._change_last(inner_contiguity=Contiguity.ANY)

    @check_arguments(window=DURATION_ARGUMENT, kind=arguments.make_word_kind(checks.WINDOW_KINDS))
    def within(self, window: DurationLike, kind: WindowKind = "first_to_last") -> Pattern:
        """Limit the time between events: it must be less than the window.

        Args:
            window: the limit: a string such as `"10 minutes"`, a timedelta, or a number in the
                unit of the `order_by` column.
            kind: "first_to_last" limits the time between the first and the last event of a match.
                If a pattern has several such windows, the smallest counts. "previous_to_current"
                limits the time between each event of the last stage and the event accepted before
                it.

        >>> Pattern.begin("a").followed_by("b").within("10 minutes", "previous_to_current")
        Pattern.begin('a').followed_by('b').within('10 minutes', 'previous_to_current')
        """
        length = read_positive_duration(window, WITHIN_CALL)
        stage = self._last
        if kind == "first_to_last":
            match_window = choose_smaller_window(stage.match_window, length)
            pattern = self._change_last(match_window=match_window)
        else:
            checks.check_can_have_neighbour_window(stage)
            neighbour_window = choose_smaller_window(stage.neighbour_window, length)
            pattern = self._change_last(neighbour_window=neighbour_window)
        checks.check_neighbour_windows(pattern._stages)
        return pattern

    @check_arguments(strategy=SKIP)
    def after_match(self, strategy: AfterMatch) -> Pattern:
        """Set where the search resumes after a match, which decides which matches are dropped.

        Call it on the whole pattern, not on a group.

        >>> Pattern.begin("a").next("b").after_match(AfterMatch.SKIP_TO_NEXT)
        Pattern.begin('a').next('b').after_match(AfterMatch.SKIP_TO_NEXT)
        """
        return replace(self, _skip_strategy=strategy)

    @check_arguments(count=MATCH_COUNT)
    def first_matches(self, count: int) -> Pattern:
        """Keep only the first `count` matches of each partition. The search ends at match `count`.

        Call it on the whole pattern, not on a group.

        >>> Pattern.begin("a").next("b").first_matches(10)
        Pattern.begin('a').next('b').first_matches(10)
        """
        return replace(self, _most_matches=count)

    def _append(self, stage: str | Pattern, contiguity: Contiguity, call: str) -> Pattern:
        """Return the pattern with one more stage.

        Args:
            stage: the name of the stage, or the pattern that becomes a group.
            contiguity: which events may be skipped before the stage.
            call: the name of the method that the user called.

        Raises:
            MatchRecognizeError: a name is not allowed or not new, the group has no stages or has
                calls that only a whole pattern may have, or the windows do not fit together.
        """
        if isinstance(stage, str):
            new_stage = Stage(stage, contiguity)
        else:
            calls = list_whole_pattern_calls(stage)
            if calls:
                raise errors.group_with_pattern_calls(call=call, calls=", ".join(calls))
            if not stage._stages:
                raise errors.empty_group(call=call)
            new_stage = Stage("group", contiguity, stage._stages)
        for single_stage in list_single_stages((new_stage,)):
            checks.check_new_name(self._stages, single_stage.name, call)
        pattern = replace(self, _stages=(*self._stages, new_stage))
        checks.check_neighbour_windows(pattern._stages)
        return pattern

    def _append_not(self, name: str, contiguity: Contiguity, call: str) -> Pattern:
        """Return the pattern with a negated stage after it.

        Args:
            name: the name of the stage that no event may satisfy.
            contiguity: STRICT for the next event only, RELAXED for all events up to the next stage.
            call: the name of the method that the user called.

        Raises:
            MatchRecognizeError: the name is not allowed or not new, a group was passed instead of a
                name, or the stage before the negated one may be missing.
        """
        previous_stage = self._last
        # STAGE also allows a group here, so that the error can say that a group cannot be negated.
        if not isinstance(name, str):
            raise errors.negated_group(call=call)
        checks.check_new_name(self._stages, name, call)
        if previous_stage.may_be_missing:
            raise errors.negation_after_optional(
                call=call, name=name, optional_stage=previous_stage.label
            )
        return replace(self, _stages=(*self._stages, Stage(name, contiguity, is_negated=True)))

    def _repeat(self, call: str, least: int, most: int | None, gap: DurationLike | None) -> Pattern:
        """Return the pattern with the last stage repeated.

        Args:
            call: the name of the method that the user called.
            least: the smallest number of repetitions. 0 means one or more, and makes the stage
                optional.
            most: the largest number of repetitions; None if there is no limit.
            gap: the time from one repetition to the next must be less than this; None if the time
                is not limited.

        Raises:
            MatchRecognizeError: the stage is negated or has a quantifier, or cannot be optional, or
                the gap is not a positive length or does not fit the other windows.
        """
        stage = self._last
        checks.check_can_be_repeated(stage, call)
        if least == 0:
            checks.check_can_be_optional(self._stages)
        repetition_window = None
        if gap is not None:
            repetition_window = read_positive_duration(
                gap, LengthLocation(LengthSource.ARGUMENT, f"`gap` of {call}()")
            )
        pattern = self._change_last(
            is_quantified=True,
            least=max(least, 1),
            most=most,
            repetition_window=repetition_window,
            is_optional=stage.is_optional or least == 0,
        )
        checks.check_neighbour_windows(pattern._stages)
        return pattern

    def _find_error_context(self, function_name: str) -> str:
        """Return the label of the stage that a call changes; "" for calls of the whole pattern.

        See `arguments.check_arguments`.
        """
        is_for_whole_pattern = function_name in ("Pattern.after_match", "Pattern.first_matches")
        return self._stages[-1].label if self._stages and not is_for_whole_pattern else ""

    @property
    def _last(self) -> Stage:
        """Return the last stage, the one that calls change.

        Raises:
            MatchRecognizePlanError: there are no stages.
        """
        return checks.find_last_stage(self._stages)

    def _change_last(self, **changes: Any) -> Pattern:
        """Return the pattern with changed fields of its last stage.

        Raises:
            MatchRecognizePlanError: there are no stages.
        """
        return replace(self, _stages=(*self._stages[:-1], replace(self._last, **changes)))

    # A type checker knows the attributes itself, and must not see that every name is allowed.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise the error for an unknown attribute, which suggests a similar one."""
            raise no_attribute(self, name)

    def __repr__(self) -> str:
        """Return the calls that build the pattern."""
        return ".".join((show_pattern(self._stages), *list_whole_pattern_calls(self)))

    def _repr_html_(self) -> str:
        """Return a diagram of the stages, and the calls below it."""
        # Only notebooks call this, so the import is not done earlier.
        from matchrec.explain.pictures.diagrams import draw_stages
        from matchrec.explain.pictures.html import wrap_in_scroll_block, write_preformatted

        calls = write_preformatted(repr(self))
        if not self._stages:
            return calls
        steps = PictureStepBuilder().build_steps(self._stages)
        return wrap_in_scroll_block(draw_stages(steps, {})) + calls


def list_whole_pattern_calls(pattern: Pattern) -> list[str]:
    """Return the calls that belong to a whole pattern, so that a group may not have them."""
    calls = []
    if pattern._skip_strategy != AfterMatch.NO_SKIP:
        calls.append(f"after_match({pattern._skip_strategy!r})")
    if pattern._most_matches is not None:
        calls.append(f"first_matches({pattern._most_matches})")
    return calls


def choose_smaller_window(window: Duration | None, new_window: Duration) -> Duration:
    """Return the smaller one of two windows; `new_window` if the other one is None.

    Raises:
        MatchRecognizePlanError: one is a time and the other one a number.
    """
    checks.check_comparable(window, new_window)
    return new_window if window is None else min(window, new_window)
