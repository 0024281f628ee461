"""Pattern → MatchPlan: stages become steps, each condition a test, each window a column or a test.

The conditions of a pattern stand one below the other in a text, so that errors can show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from matchrec.errors import stages as errors
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS
from matchrec.patterns.stages import checks, tree
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan import clauses
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchValue,
    Navigation,
    Operation,
    Piece,
    Reference,
    Scalar,
    Semantics,
    Term,
    column_term,
    comparison,
    complement,
    differs_by_less,
    inner_references,
    joined,
    literal,
    number_term,
    row_text,
    with_columns,
    with_terms,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import named
from matchrec.plan.rules import check
from matchrec.plan.stages import Skip, Staging, Timeouts, Until, words
from matchrec.plan.text import quoted, sum_or_null
from matchrec.source import Source, Span
from matchrec.syntax.durations import Duration
from matchrec.syntax.expressions.expression import key_expression, parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.tokens import SPARK, Dialect, read_tokens

# Conditions of stages as expressions: what reads the candidate, and what reads events before it.
#
# The candidate is not mapped yet when its condition is evaluated: a plain column is read through
# the test's own name, and a stage is the events accepted for it so far.

# Stands for the test's own name until that is known; no stage is called so with a colon.
_CANDIDATE = ":candidate"

NOWHERE = Span(0, 0)


def refuse_other_rows(scalar: Scalar, names: Mapping[str, str]) -> Scalar:
    """The expression over the candidate and stages, by their `names`; refuses what reads others."""
    if isinstance(scalar, Operation):
        return scalar.of_operands(lambda operand: refuse_other_rows(operand, names))
    term = replace(scalar, pieces=tuple(_read(one, names) for one in scalar.pieces))
    sums = [one for one in term.pieces if isinstance(one, Aggregate) and one.function == "sum"]
    bare = all(not piece.strip(" ()\t\r\n") for piece in term.pieces if isinstance(piece, str))
    if len(sums) != 1 or not bare:
        return term
    zero = number_term(0, term.span)  # of no events
    return Operation("COALESCE", ("coalesce(", term, ", ", zero, ")"), term.span)


def _read(piece: Piece, names: Mapping[str, str]) -> Piece:
    match piece:
        case str():
            return piece
        case ColumnReference(navigation=navigation):
            if navigation.physical_offset:
                raise errors.reads_neighbour(piece.span)
            if navigation.variable is not None:
                return _of_row(piece, names[navigation.variable])
            if navigation.end is End.FIRST or navigation.logical_offset:
                raise errors.of_no_stage(piece.span, function=navigation.end.value.lower())
            return _of_row(piece, _CANDIDATE)
        case Aggregate():
            return _aggregate(piece, names)
        case Classifier():
            raise errors.not_of_an_event(piece.span, function="CLASSIFIER")
        case MatchValue(function):
            raise errors.not_of_an_event(piece.span, function=function.value)


def _aggregate(aggregate: Aggregate, names: Mapping[str, str]) -> Aggregate:
    for reference in inner_references(aggregate):
        if reference == MATCH_NUMBER:
            raise errors.not_of_an_event(reference.span, function="MATCH_NUMBER")
    if aggregate.variable is not None:
        stage = names[aggregate.variable]
        own = replace(aggregate, variable=stage)
        return with_terms(own, lambda term: with_columns(term, lambda one: _of_row(one, stage)))
    read = [piece for argument in aggregate.arguments for piece in argument.pieces]
    is_column = len(read) == 1 and isinstance(read[0], ColumnReference)
    counted = row_text(aggregate.arguments[0]) if is_column else ""
    found = names.get(counted.replace("`", "")) or names.get(counted.upper())
    if aggregate.function != "count" or found is None:
        raise errors.of_no_stage(aggregate.span, function=aggregate.function)
    return replace(aggregate, variable=found, arguments=())


def _of_row(column: ColumnReference, name: str) -> ColumnReference:
    return replace(column, navigation=replace(column.navigation, variable=name))


def added(navigation: Navigation, text: str) -> Term:
    """A sum over one row, of the row that a navigation finds."""
    return Term((ColumnReference(navigation, text, None, named("+")),), NOWHERE)


def later(order: str, window: str) -> str:
    """The time `window` after that of a row, NULL where there is no such time."""
    return sum_or_null(order, f"{window}L" if window.isdigit() else window)


FINAL = Semantics.FINAL


def measures(query: PatternQuery) -> Iterator[clauses.Measure]:
    """Number, times, and the events of each stage; or of an event its match's number and stage."""
    yield measure("match_number", MATCH_NUMBER)
    if query.rows is not clauses.RowsPerMatch.ONE_ROW:
        yield measure("stage", Classifier(Navigation()))
        return
    order = query.order[0]
    for name, end in ("start_time", End.FIRST), ("end_time", End.LAST):
        navigation = Navigation(end=end, semantics=FINAL)
        yield clauses.Measure(name, column_term(navigation, order.text, names=order.names))
    event = f"struct({', '.join(map(quoted, query.columns)) or '*'})"
    for stage in query.stage_names:
        read = ColumnReference(Navigation(stage), event, fields=query.columns)
        yield measure(stage, Aggregate("collect_list", stage, (Term((read,), NOWHERE),), FINAL))


def measure(name: str, reference: Reference) -> clauses.Measure:
    return clauses.Measure(name, Term((reference,), NOWHERE))


@dataclass(frozen=True)
class PatternQuery:
    """A pattern, and what is to be done with its matches.

    order_by, partition_by: SQL over one row. columns: of an event, none for all. timeouts: whether
    partial matches come out as well. dialect: in which conditions are written.
    """

    pattern: Pattern
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    columns: tuple[str, ...]
    rows: clauses.RowsPerMatch = clauses.RowsPerMatch.ONE_ROW
    timeouts: bool = False
    dialect: Dialect = SPARK

    @cached_property
    def order(self) -> tuple[clauses.RowExpression, ...]:
        return tuple(map(key_expression, self.order_by))

    @cached_property
    def stage_names(self) -> tuple[str, ...]:
        """The stages that have events."""
        named = tree.named_stages(self.pattern.stages)
        return tuple(stage.name for stage in named if not stage.negated)


def lower_pattern(query: PatternQuery) -> tuple[MatchPlan, Source]:
    """The plan of a pattern, and the text of its conditions."""
    stages = query.pattern.stages
    checks.complete(stages)
    skip, most = query.pattern.skip, query.pattern.most_matches
    if skip.stage is not None:
        call = "skip_to_first" if skip.to is clauses.SkipTo.FIRST else "skip_to_last"
        known = query.stage_names
        if skip.stage not in known:
            raise errors.unknown_skip_target(call=call, name=skip.stage, known=known)
    source, places = conditions_as_text(stages)
    with shown_in(source, PATTERN_CALLS):
        tests = TestDefinitions(query, places)
        steps = tests.steps(stages)
        window = checks.whole_window(stages)
        left = None if skip.to is None else Skip(skip.to, skip.stage, skip.throws)
        ends = tests.timeouts(window) if query.timeouts else None
        named = tuple(tests.definitions)
        plan = MatchPlan(
            pattern=words(steps),
            partition_by=tuple(map(key_expression, query.partition_by)),
            order_by=tuple(map(clauses.SortItem, query.order)),
            measures=tuple(measures(query)),
            rows_per_match=query.rows,
            within=None if window is None else clauses.Within(window.interval()),
            definitions=tuple(tests.definitions.values()),
            output=clauses.MatchOutput.ALL,
            first_matches=None if most is None else clauses.FirstMatches(most),
            staging=Staging(steps, named, tests.windows, tests.ends, left, ends, tests.lengths),
        )
        check(plan)
        return plan, source


def conditions_as_text(stages: tuple[tree.Stage, ...]) -> tuple[Source, dict[int, int]]:
    """All conditions as one text, and where each of them, by its id, stands."""
    text, places = "", {}
    for label, condition in written_conditions(stages):
        places[id(condition)] = len(text) + len(label) + 2
        text += f"{label}: {condition.expression}\n"
    return Source(text), places


def written_conditions(stages: tuple[tree.Stage, ...]) -> Iterator[tuple[str, tree.Test]]:
    """Every condition of a pattern, with what to call it."""
    for stage in stages:
        yield from written_conditions(stage.stages)
        yield from ((f"{stage.name}, where", condition) for condition in stage.conditions)
        if stage.until is not None:
            yield f"{stage.name}, until", stage.until


@dataclass
class TestDefinitions(tree.Outline):
    """Stages → steps, and the definitions of all tests so far, by name.

    places: of conditions in their text, by id. near: windows between neighbours, by test.
    """

    query: PatternQuery
    places: dict[int, int]
    definitions: dict[str, clauses.Definition] = field(default_factory=dict)
    near: dict[str, Duration] = field(default_factory=dict)

    __test__ = False  # for pytest: no test

    def condition(self, stage: tree.Stage) -> str:
        return self.define(f"{stage.name} where", self.scalar(stage.conditions))

    def until(self, stage: tree.Stage) -> Until | None:
        if stage.until is None:
            return None
        ends = self.test(stage.until)
        test = self.define(f"{stage.name} until", ends)
        goes_on = self.define(f"{stage.name} not until", complement(ends))
        if stage.is_group:
            return Until(test, goes_on)
        take = joined("AND", (self.scalar(stage.conditions), complement(ends)))
        return Until(test, goes_on, self.define(f"{stage.name} where, not until", take))

    def distance(self, label: str, window: Duration | None) -> str | None:
        whole = checks.whole_window(self.query.pattern.stages)
        if window is None or (whole is not None and window >= whole):  # then it says nothing new
            return None
        order, here, before = self.query.order[0], Navigation(_CANDIDATE), Navigation()
        if window.sql.isdigit():
            wide = f"({order.text}) + (0L)"  # a difference of these overflows where it is too large
            length = number_term(int(window.sql), NOWHERE)
            lies_near = differs_by_less(added(here, wide), added(before, wide), length)
        else:
            end = added(before, f"({order.text}) + ({window.sql})")
            lies_near = comparison("<", column_term(here, order.text, names=order.names), end)
        test = self.define(label, complement(lies_near))
        self.near[test] = window
        return test

    @property
    def windows(self) -> tuple[str, ...]:
        """The tests of windows between neighbours, the smallest window first."""
        return tuple(sorted(self.near, key=lambda test: self.near[test]))

    @property
    def ends(self) -> tuple[str, ...]:
        """When each of them ends that begins with a row."""
        return tuple(later(self.query.order_by[0], self.near[one].sql) for one in self.windows)

    @property
    def lengths(self) -> tuple[clauses.RowExpression, ...]:
        return tuple(self.near[one].interval() for one in self.windows)

    def timeouts(self, whole: Duration | None) -> Timeouts:
        first, last = (Navigation(end=end, semantics=FINAL) for end in (End.FIRST, End.LAST))
        ends = tuple(column_term(last, end) for end in self.ends)
        if whole is None:
            return Timeouts(None, ends)
        return Timeouts(column_term(first, later(self.query.order_by[0], whole.sql)), ends)

    def define(self, label: str, scalar: Scalar) -> str:
        """The name of a new test, by which it reads the candidate; no stage has a colon in it."""
        name = f":{label}"
        while name in self.definitions:
            name += "'"

        def read(one: ColumnReference) -> ColumnReference:
            return _of_row(one, name) if one.navigation.variable == _CANDIDATE else one

        self.definitions[name] = clauses.Definition(name, with_columns(scalar, read))
        return name

    def scalar(self, tests: tree.Tests) -> Scalar:
        return tree.combined(tests, self.test, joined) if tests else literal("TRUE", NOWHERE)

    def test(self, test: tree.Test) -> Scalar:
        tokens = read_tokens(test.expression, self.query.dialect, self.places[id(test)])
        return refuse_other_rows(parse_scalar(tokens, self.scope), self.stage_names)

    @cached_property
    def scope(self) -> Scope:
        return Scope(ClausePart.DEFINE, tuple(self.stage_names))

    @cached_property
    def stage_names(self) -> dict[str, str]:
        """Each way to write a stage in a condition, and its name."""
        names = self.query.stage_names
        return {written: name for name in names for written in (name, name.upper())}
