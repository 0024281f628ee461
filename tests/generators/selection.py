"""Hypothesis strategies for queries with event selection: patterns, conditions, rows, windows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    OnFailure,
    ReadClassifier,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    RunOperation,
    TriedMatchNumber,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import Absence, AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.plan.pattern import (
    Empty,
    Quantified,
    RowPattern,
    Variable,
    list_variable_names,
    make_alternation,
    make_concatenation,
    make_permutation,
)
from tests.references.event_selection import SelectionQuery, list_ways
from tests.tasks.contiguous import Rows
from tests.tasks.selection import WindowedRows

VARIABLES = ("A", "B", "C")
ABSENT = ("M", "N")


@dataclass(frozen=True)
class Shape:
    """A pattern and its union variables."""

    pattern: RowPattern
    subsets: dict[str, frozenset[str]]
    components: tuple[str, ...] = ()  # for a sequence: a variable for each component, in order


@st.composite
def sequences(draw: st.DrawFn) -> Shape:
    """Draw a sequence of components, as in SASE+.

    A component is `A`, `B+`, `C D*` (a Kleene plus whose first row has another condition), or
    `PERMUTE(C, D*)`. A component of two variables has a union variable.
    """
    parts: list[RowPattern] = []
    subsets = {}
    components = []
    names = iter("ABCDEF")
    kinds = st.sampled_from(["one", "plus", "pair", "permuted"])
    for kind in draw(st.lists(kinds, min_size=1, max_size=3)):
        first = Variable(next(names))
        if kind == "one":
            parts.append(first)
        elif kind == "plus":
            parts.append(Quantified(first, 1, None))
        else:
            later = Variable(next(names))
            pair = [first, Quantified(later, 0, None)]
            parts += pair if kind == "pair" else [make_permutation([first, later])]
            subsets[f"U{first.name}"] = frozenset([first.name, later.name])
        components.append(f"U{first.name}" if f"U{first.name}" in subsets else first.name)
    return Shape(make_concatenation(parts), subsets, tuple(components))


def trees() -> st.SearchStrategy[RowPattern]:
    """Draw row patterns of any shape, with at least one variable and without anchors."""

    def grow(parts: st.SearchStrategy[RowPattern]) -> st.SearchStrategy[RowPattern]:
        """Combine or quantify patterns."""
        several = st.lists(parts, min_size=2, max_size=3)
        bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (2, None), (0, 2), (1, 3)])
        return st.one_of(
            several.map(make_concatenation),
            several.map(make_alternation),
            several.map(make_permutation),
            st.builds(lambda p, b, g: Quantified(p, *b, g), parts, bounds, st.booleans()),
        )

    variables = st.sampled_from([Variable(name) for name in VARIABLES])
    atoms = st.one_of(variables, variables, variables, st.just(Empty()))
    return st.recursive(atoms, grow, max_leaves=5).filter(list_variable_names)


@st.composite
def general(draw: st.DrawFn) -> Shape:
    """Draw a row pattern of any shape with one union variable."""
    pattern = draw(trees())
    names = list_variable_names(pattern)
    return Shape(pattern, {"U": draw(st.frozensets(st.sampled_from(names), min_size=1))})


@st.composite
def after_match_skips(draw: st.DrawFn, names: tuple[str, ...]) -> AfterMatchSkip:
    """Draw AFTER MATCH SKIP, which may go to a row of some variables."""
    to = draw(st.sampled_from(SkipTo))
    if to in (SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW):
        return AfterMatchSkip(to)
    return AfterMatchSkip(to, draw(st.sampled_from(names)))


@dataclass(frozen=True)
class Reads:
    """What a random condition may read."""

    names: tuple[str | None, ...]  # rows of these variables
    current: bool = True  # whether also the current row
    # Variables to which the current row would be mapped. Aggregates may leave it out for these.
    so_far: frozenset[str | None] = frozenset()
    steps: tuple[int, ...] = (0, 1, -1)  # physical offsets of navigation
    number: bool = False  # whether also the number of the match


@st.composite
def navigations(draw: st.DrawFn, reads: Reads) -> Navigation:
    """Draw a navigation."""
    name = draw(st.sampled_from(reads.names))
    end = draw(st.sampled_from(End))
    step = draw(st.sampled_from(reads.steps))
    return Navigation(name, end, draw(st.sampled_from([0, 0, 1])), step)


@st.composite
def values(draw: st.DrawFn, reads: Reads, kind: Kind, depth: int = 1) -> RunExpression:
    """Draw an expression of a kind; arithmetic is nested at most `depth` times."""
    choice = draw(st.integers(0, 5 if depth else 3))
    if choice == 0 and reads.current:
        return ReadValue(0, kind)
    if choice <= 1:
        return ReadValue(draw(st.integers(0, 1)), kind, draw(navigations(reads)))
    if choice == 2:
        functions = [Reduction.SUM, Reduction.MIN, Reduction.MAX]
        functions += [Reduction.AVG] if kind is Kind.FLOATING else [Reduction.COUNT]
        name = draw(st.sampled_from(reads.names))
        column = draw(st.integers(0, 1))
        so_far = name in reads.so_far and draw(st.booleans())
        return RunAggregate(draw(st.sampled_from(functions)), name, column, kind, so_far)
    if choice == 3:
        if reads.number and kind is Kind.INTEGER and draw(st.booleans()):
            return TriedMatchNumber()
        number = draw(st.sampled_from([None, 0, 1, 2]))
        return Constant(number if number is None or kind is Kind.INTEGER else float(number), kind)
    if choice == 4:
        operators = [ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT]
        left, right = draw(values(reads, kind, 0)), draw(values(reads, kind, 0))
        return Arithmetic(draw(st.sampled_from(operators)), (left, right), kind, 64, OnFailure.WRAP)
    if kind is Kind.FLOATING:
        return build_operation(BasicOperator.WIDEN, draw(values(reads, Kind.INTEGER, 0)))
    steps = tuple(step for step in reads.steps if step >= 0)
    return ReadClassifier(draw(navigations(replace(reads, steps=steps))))


@st.composite
def conditions(draw: st.DrawFn, reads: Reads, depth: int = 1) -> RunExpression:
    """Draw a condition; AND, OR, NOT and IS NULL are nested at most `depth` times."""
    choice = draw(st.integers(0, 5 if depth else 1))
    if choice <= 1:
        kind = draw(st.sampled_from(Kind))
        left, right = draw(values(reads, kind)), draw(values(reads, kind))
        return build_operation(draw(st.sampled_from(Comparison)), left, right)
    parts = tuple(draw(st.lists(conditions(reads, depth - 1), min_size=1, max_size=2)))
    if choice == 2:
        return RunOperation(BasicOperator.AND, parts)
    if choice == 3:
        return RunOperation(BasicOperator.OR, parts)
    return (
        build_operation(BasicOperator.NOT, parts[0])
        if choice == 4
        else build_operation(BasicOperator.IS_NULL, parts[0])
    )


@st.composite
def absences(draw: st.DrawFn, shape: Shape, windowed: bool) -> Absence:
    """Draw an absence between two components; with windows also at the beginning or the end."""
    variable = draw(st.sampled_from(ABSENT))
    bounds: list[tuple[str | None, str | None]] = []
    bounds += itertools.combinations(shape.components, 2)
    if windowed:
        # Any variable will do, because the absence is before or after the match as a whole.
        name = list_variable_names(shape.pattern)[0]
        bounds += [(None, name), (name, None)]
    after, before = draw(st.sampled_from(bounds))
    return Absence(variable, after and (after,), before and (before,))


@st.composite
def row_lists(draw: st.DrawFn, names: tuple[str, ...], most: int) -> Rows:
    """Draw partitions of up to `most` rows, with small numbers in two columns of each kind."""
    row = st.one_of(st.frozensets(st.sampled_from(names)), st.just(frozenset(names)))
    partition = st.lists(row, max_size=most).map(tuple)
    partitions = tuple(draw(st.lists(partition, min_size=1, max_size=2)))
    count = sum(map(len, partitions))
    numbers = st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=count, max_size=count)
    integers = [tuple(draw(numbers)) for _ in range(2)]
    floats = [tuple(None if v is None else v / 2 for v in draw(numbers)) for _ in range(2)]
    columns = {Kind.INTEGER: tuple(integers), Kind.FLOATING: tuple(floats)}
    return Rows(partitions, columns)


@st.composite
def windows(draw: st.DrawFn, rows: Rows) -> tuple[tuple[int, ...], ...] | None:
    """Draw the end of the window of each row of each partition, or None for no windows."""
    if draw(st.booleans()):
        return None
    return tuple(draw(window_ends(len(partition))) for partition in rows.words)


@st.composite
def window_ends(draw: st.DrawFn, rows: int) -> tuple[int, ...]:
    """Draw the end of the window of each row of a partition.

    The end is the row itself or a later row, and not before the end of an earlier row.

    Args:
        rows: the number of rows of the partition.
    """
    ends: list[int] = []
    for row in range(rows):
        ends.append(draw(st.integers(max(ends[-1] if ends else 0, row), rows)))
    return tuple(ends)


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    shapes: st.SearchStrategy[Shape],
    selection: EventSelection,
    output: MatchOutput,
    depends_on_run: bool,
    most_rows: int,
    steps: tuple[int, ...] = (0, 1, -1),
) -> tuple[SelectionQuery, WindowedRows]:
    """Draw a query of a kind, with rows and windows.

    Only queries that some front end produces are drawn:

    - If the preferred match may be empty, there are no absences and no closing condition.
    - If the rows of preferred matches are contiguous, there are no windows, because then WITHIN is
      part of the conditions.

    Args:
        depends_on_run: whether conditions read other rows of the run.
        steps: the physical offsets of navigation.
    """
    shape = draw(shapes)
    names = list_variable_names(shape.pattern)
    targets = (*names, *shape.subsets)
    query = SelectionQuery(shape.pattern, selection, output, subsets=shape.subsets)
    rows = draw(row_lists((*names, *ABSENT), most_rows))
    window_end = None
    if output is MatchOutput.PREFERRED:
        query = replace(query, after_match=draw(after_match_skips(targets)))
    if output is not MatchOutput.PREFERRED or selection is not EventSelection.STRICT_CONTIGUITY:
        window_end = draw(windows(rows))
    is_never_empty = output is not MatchOutput.PREFERRED or None not in list_ways((shape.pattern,))
    if is_never_empty and (window_end is not None or len(shape.components) > 1):
        absence = absences(shape, window_end is not None)
        query = replace(query, absences=tuple(draw(st.lists(absence, max_size=2))))
    if not depends_on_run:
        return query, WindowedRows(rows, window_end)
    is_numbered = output is not MatchOutput.ALL
    reads = Reads((None, *targets), steps=steps, number=is_numbered)
    run_conditions = {}
    for name in names:
        if draw(st.integers(0, 3)):
            mapped = (target for target in targets if name in query.primary_variables[target])
            so_far = frozenset([None, *mapped])
            run_conditions[name] = draw(conditions(replace(reads, so_far=so_far)))
    for absence in query.absences:
        if draw(st.booleans()):
            run_conditions[absence.variable] = draw(conditions(reads))
    if is_never_empty and draw(st.booleans()):
        closing = draw(conditions(replace(reads, current=False)))
        query = replace(query, closing=closing)
    return replace(query, run_conditions=run_conditions), WindowedRows(rows, window_end)
