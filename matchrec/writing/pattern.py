"""A plan as calls of a Pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.frontends.dialects.edits import Note
from matchrec.frontends.pattern.builder import AfterMatch, Pattern, calls_of_whole
from matchrec.frontends.pattern.lower import PatternQuery
from matchrec.frontends.pattern.tree import all_stages, calls, duration
from matchrec.plan.clauses import MatchOutput, RowExpression
from matchrec.plan.expression import Aggregate, ColumnReference, Reference, conjuncts, render
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import (
    Concatenation,
    Negation,
    Quantified,
    RowPattern,
    Variable,
    show_name,
    simplify,
    top,
)
from matchrec.plan.show import show_reference
from matchrec.plan.stages import Contiguity
from matchrec.plan.text import as_operand
from matchrec.source import Span
from matchrec.writing.forms import as_all_matches, shape_of, starts_one, with_named_rows
from matchrec.writing.names import is_path, unwrapped
from matchrec.writing.reading import (
    SOME_ORDER,
    ReadQuery,
    notes_on_nulls,
    refuse_directions,
    refuse_gaps,
    refuse_row_windows,
    refuse_sase_only,
)
from matchrec.writing.sase import bare
from matchrec.writing.stages import (
    CONTIGUITY,
    as_clause,
    between_primary,
    pattern_with_absences,
    with_near,
)

LANGUAGE = "a Pattern"
Append = Callable[[str | Pattern], Pattern]


def for_pattern(reading: ReadQuery) -> tuple[MatchPlan, tuple[Note, ...]]:
    """The plan that a Pattern can say, and notes on what it cannot."""
    refuse_sase_only(reading, LANGUAGE)
    refuse_row_windows(reading, LANGUAGE)
    first = reading.plan.first_matches
    if first is not None:  # a Pattern numbers matches in another order
        hint = "leave it out, and take the first rows of each partition of the result"
        raise errors.cannot_write(LANGUAGE, first.words, first.span, hint)
    refuse_gaps(reading, LANGUAGE)
    plan, places = with_named_rows(as_all_matches(reading.plan)), reading.places
    if plan.output is not MatchOutput.ALL and not overlap_only(plan):
        what = f"{plan.output.value} where a row can start several matches"
        hint = "write ALL MATCHES behind PATTERN"
        raise errors.cannot_write(LANGUAGE, what, places.output, hint)
    refuse_directions(plan.order_by, LANGUAGE)
    absences = tuple(between_primary(one, plan) for one in plan.absences)
    kept = replace(plan, measures=(), subsets=(), absences=absences)
    return kept, tuple(_notes(reading, plan))


def overlap_only(plan: MatchPlan) -> bool:
    """Whether what is left out is what skipping past the last event leaves out."""
    return plan.output is MatchOutput.NON_OVERLAPPING and starts_one(plan)


def _notes(reading: ReadQuery, plan: MatchPlan) -> Iterator[Note]:
    yield from notes_on_nulls(plan.order_by)
    if plan.measures:
        message = "detect has columns of its own: match_number, start_time, end_time, the events"
        yield Note(message, reading.places.measures)
    for key in plan.equal:
        if key.span is not None:
            yield Note(
                f"a Pattern has no equivalence tests: pass partition_by, with {key.text}", key.span
            )


def write_pattern(plan: MatchPlan) -> Pattern:
    """The pattern. The plan is one of `for_pattern`."""
    stages = Stages(plan, CONTIGUITY[plan.selection])
    pattern = stages.sequence(simplify(pattern_with_absences(plan)))
    if plan.output is MatchOutput.NON_OVERLAPPING:
        pattern = pattern.after_match(AfterMatch.SKIP_PAST_LAST_EVENT)
    for window in plan.intervals:
        pattern = with_window(pattern, window, plan)
    return pattern


def with_window(pattern: Pattern, window: RowExpression, plan: MatchPlan) -> Pattern:
    """The pattern with one of the plan's windows."""
    try:
        if plan.within is not None and window is plan.within.interval:
            return pattern.within(window.text)
        return with_near(pattern, duration(window.text, "within"))
    except MatchRecognizeError as error:
        what = f"this window: {error.message}"
        raise errors.cannot_write(LANGUAGE, what, window.span) from error


def as_code(pattern: Pattern) -> str:
    """The Python code that builds it; a Column has none."""
    for stage in all_stages(pattern.stages):
        for test in stage.tests:
            if not isinstance(test.expression, str):
                what = f"a Column as condition of {stage.label} as text"
                raise errors.cannot_write("Python code", what, None, "write it as SQL text")
    first, *later = (
        call
        for place, stage in enumerate(pattern.stages)
        for call in calls(stage, first=place == 0)
    )
    names = "Pattern" if pattern.skip == AfterMatch.NO_SKIP else "AfterMatch, Pattern"
    body = "\n    .".join((f"Pattern.{first}", *later, *calls_of_whole(pattern)))
    return f"from matchrec import {names}\n\npattern = (\n    {body}\n)"


def read_again(pattern: Pattern, plan: MatchPlan) -> MatchPlan:
    """The plan of the pattern that was written, with the output of `plan`."""
    order = tuple(item.expression.text for item in plan.order_by) or SOME_ORDER
    keys = tuple(key.text for key in plan.keys)
    read, _ = as_clause(PatternQuery(pattern, order, keys, ("*",)))
    return replace(read, output=plan.output, order_by=plan.order_by, measures=())


@dataclass(frozen=True)
class Stages:
    """Appends the parts of a row pattern as stages, all with one contiguity."""

    plan: MatchPlan
    contiguity: Contiguity

    def sequence(self, pattern: RowPattern) -> Pattern:
        """The parts that follow each other."""
        first, *others = top(pattern)
        found = self.stage(first, Pattern.begin)
        for part in others:
            if isinstance(part, Negation):
                found = self.forbidding(found, part)
            else:
                found = self.stage(part, getattr(found, self.contiguity.value))
        return found

    def forbidding(self, pattern: Pattern, negation: Negation) -> Pattern:
        """With NOTs."""
        strict = self.contiguity is Contiguity.STRICT
        for name in negation.names:
            appended = pattern.not_next(name) if strict else pattern.not_followed_by(name)
            pattern = self.single(appended, name)
        return pattern

    def stage(self, part: RowPattern, append: Append) -> Pattern:
        """One more stage."""
        match part:
            case Variable(name):
                return self.single(append(name), name)
            case Concatenation():
                return append(self.sequence(part))
            case Quantified() if self.contiguity is not Contiguity.RELAXED:
                return self.repeated(part, append)
        hint = "its parts are stages `A`, repeated ones `A+`, and groups `(A B)+`"
        if self.contiguity is Contiguity.RELAXED:
            hint = "under SKIP TILL NEXT MATCH its parts are single stages `A`"
        raise errors.cannot_write(LANGUAGE, f"`{bare(part)}`", part.span, hint)

    def single(self, pattern: Pattern, name: str) -> Pattern:
        """With the conditions of the last stage."""
        own = [one.condition for one in self.plan.definitions if one.variable == name]
        for one in (each for condition in own for each in conjuncts(condition)):
            if shape_of(one) != "TRUE":
                text = render(one, lambda each: self.reference(each, name))
                pattern = pattern.where(unwrapped(text))
        return pattern

    def repeated(self, part: Quantified, append: Append) -> Pattern:
        """With the quantifier of the last stage; all that loops allows to skip what all does."""
        pattern = self.stage(part.part, append)
        if (part.least, part.most) == (0, 1):
            return pattern.optional()
        least, most = part.least, part.most
        if most is None:
            pattern = pattern.times_or_more(max(least, 1)) if least > 1 else pattern.one_or_more()
        else:
            pattern = pattern.times(least, None if least == most else most)
        if most != 1:
            strict = self.contiguity is Contiguity.STRICT
            pattern = pattern.consecutive() if strict else pattern.allow_combinations()
        return pattern.optional() if most is None and least == 0 else pattern

    def reference(self, reference: Reference, own: str) -> str:
        """A column of the event, or of an event accepted before."""
        match reference:
            case ColumnReference(navigation, argument, span=span):
                if navigation.physical_offset:
                    raise errors.cannot_write(LANGUAGE, "PREV and NEXT in a condition", span)
                if navigation.is_last and navigation.variable == own:
                    return as_operand(argument)
                self.refuse_other(navigation.variable, own, span)
                if not is_path(argument):
                    raise errors.cannot_write(LANGUAGE, f"`{argument}` of another row", span)
                return show_reference(reference)
            case Aggregate(variable=name, span=span):
                self.refuse_other(name, own, span)
                counted = reference.function == "count" and not reference.arguments
                return f"count({show_name(str(name))})" if counted else show_reference(reference)
        what = "CLASSIFIER and MATCH_NUMBER in a condition"
        raise errors.cannot_write(LANGUAGE, what, reference.span)

    def refuse_other(self, name: str | None, own: str, span: Span | None) -> None:
        """Conditions read events of stages, and of their own stage only the one they are about."""
        if name == own:
            what = "other rows of the same variable: a stage's events are there without the row"
            raise errors.cannot_write(LANGUAGE, what, span)
        if name not in self.plan.ids:
            what = "rows of several variables at once: its conditions read one stage"
            raise errors.cannot_write(LANGUAGE, what, span)
