"""Random tasks with event selection, for Hypothesis: patterns, conditions, absences, windows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from matchrec.plan.clauses import Absence, AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.plan.glue import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Compare,
    Comparison,
    Constant,
    Glue,
    IsNull,
    Kind,
    Not,
    Or,
    Read,
    ReadClassifier,
    Reduce,
    Reduction,
    Widen,
)
from matchrec.plan.pattern import (
    Empty,
    Quantified,
    RowPattern,
    Variable,
    alternation,
    concatenation,
    permutation,
    variable_names,
)
from tests.engine_tasks import Rows
from tests.selection_reference import SelectionQuery
from tests.selection_tasks import WindowedRows, is_nullable

VARIABLES = ("A", "B", "C")
ABSENT = ("M", "N")


@st.composite
def sequences(draw: st.DrawFn) -> tuple[RowPattern, dict[str, frozenset[str]]]:
    """Components in a row, as in SASE+: `A`, `B+`, or `C D*` whose first row is apart.

    With union variables, of the components in two parts.
    """
    parts: list[RowPattern] = []
    subsets = {}
    names = iter("ABCDEF")
    for kind in draw(st.lists(st.sampled_from(["one", "plus", "pair"]), min_size=1, max_size=3)):
        first = Variable(next(names))
        if kind == "one":
            parts.append(first)
        elif kind == "plus":
            parts.append(Quantified(first, 1, None))
        else:
            later = Variable(next(names))
            parts += [first, Quantified(later, 0, None)]
            subsets[f"U{first.name}"] = frozenset([first.name, later.name])
    return concatenation(parts), subsets


def trees() -> st.SearchStrategy[RowPattern]:
    """Row patterns of any shape, with at least one variable and without anchors."""

    def grow(parts: st.SearchStrategy[RowPattern]) -> st.SearchStrategy[RowPattern]:
        several = st.lists(parts, min_size=2, max_size=3)
        bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (2, None), (0, 2), (1, 3)])
        return st.one_of(
            several.map(concatenation),
            several.map(alternation),
            several.map(permutation),
            st.builds(lambda p, b, g: Quantified(p, *b, g), parts, bounds, st.booleans()),
        )

    variables = st.sampled_from([Variable(name) for name in VARIABLES])
    atoms = st.one_of(variables, variables, variables, st.just(Empty()))
    return st.recursive(atoms, grow, max_leaves=5).filter(variable_names)


@st.composite
def general(draw: st.DrawFn) -> tuple[RowPattern, dict[str, frozenset[str]]]:
    pattern = draw(trees())
    names = variable_names(pattern)
    return pattern, {"U": draw(st.frozensets(st.sampled_from(names), min_size=1))}


@st.composite
def after_match_skips(draw: st.DrawFn, names: tuple[str, ...]) -> AfterMatchSkip:
    to = draw(st.sampled_from(SkipTo))
    if to in (SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW):
        return AfterMatchSkip(to)
    return AfterMatchSkip(to, draw(st.sampled_from(names)))


@dataclass(frozen=True)
class Reads:
    """What a random condition may read: rows of `names`; `current` row, and what is so far."""

    names: tuple[str | None, ...]
    current: bool = True
    so_far: bool = True


@st.composite
def navigations(draw: st.DrawFn, reads: Reads) -> Navigation:
    name = draw(st.sampled_from(reads.names))
    end = draw(st.sampled_from(End))
    physical = draw(st.sampled_from([0, 0, 0, -1, 1]))
    return Navigation(name, end, draw(st.sampled_from([0, 0, 1])), physical)


@st.composite
def values(draw: st.DrawFn, reads: Reads, kind: Kind, depth: int = 1) -> Glue:
    choice = draw(st.integers(0, 5 if depth else 3))
    if choice == 0 and reads.current:
        return Read(0, kind)
    if choice <= 1:
        return Read(draw(st.integers(0, 1)), kind, draw(navigations(reads)))
    if choice == 2:
        functions = [Reduction.SUM, Reduction.MIN, Reduction.MAX]
        functions += [Reduction.AVG] if kind is Kind.FLOATING else [Reduction.COUNT]
        so_far = reads.so_far and draw(st.booleans())
        name, column = draw(st.sampled_from(reads.names)), draw(st.integers(0, 1))
        return Reduce(draw(st.sampled_from(functions)), name, column, kind, so_far)
    if choice == 3:
        number = draw(st.sampled_from([None, 0, 1, 2]))
        return Constant(number if number is None or kind is Kind.INTEGER else float(number), kind)
    if choice == 4:
        operators = [ArithmeticOperator.ADD, ArithmeticOperator.SUBTRACT]
        left, right = draw(values(reads, kind, 0)), draw(values(reads, kind, 0))
        return Arithmetic(draw(st.sampled_from(operators)), left, right, kind, 64, False)
    if kind is Kind.FLOATING:
        return Widen(draw(values(reads, Kind.INTEGER, 0)))
    return ReadClassifier(draw(navigations(reads)))


@st.composite
def conditions(draw: st.DrawFn, reads: Reads, depth: int = 1) -> Glue:
    choice = draw(st.integers(0, 5 if depth else 1))
    if choice <= 1:
        kind = draw(st.sampled_from(Kind))
        left, right = draw(values(reads, kind)), draw(values(reads, kind))
        return Compare(draw(st.sampled_from(Comparison)), left, right)
    parts = tuple(draw(st.lists(conditions(reads, depth - 1), min_size=1, max_size=2)))
    if choice == 2:
        return And(parts)
    if choice == 3:
        return Or(parts)
    return Not(parts[0]) if choice == 4 else IsNull(parts[0])


@st.composite
def absences(draw: st.DrawFn, names: tuple[str, ...], windowed: bool) -> Absence:
    """In the middle, and where there is a window at the beginning or the end."""
    variable = draw(st.sampled_from(ABSENT))
    after, before = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    place = draw(st.sampled_from(["middle", "beginning", "end"] if windowed else ["middle"]))
    return Absence(
        variable,
        None if place == "beginning" else after,
        None if place == "end" else before,
    )


@st.composite
def row_lists(draw: st.DrawFn, names: tuple[str, ...], most: int) -> WindowedRows:
    """Partitions of up to `most` rows, with small numbers in two columns of each kind."""
    row = st.one_of(st.frozensets(st.sampled_from(names)), st.just(frozenset(names)))
    partition = st.lists(row, max_size=most).map(tuple)
    partitions = tuple(draw(st.lists(partition, min_size=1, max_size=2)))
    count = sum(map(len, partitions))
    numbers = st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=count, max_size=count)
    integers = [tuple(draw(numbers)) for _ in range(2)]
    floats = [tuple(None if v is None else v / 2 for v in draw(numbers)) for _ in range(2)]
    columns = {Kind.INTEGER: tuple(integers), Kind.FLOATING: tuple(floats)}
    rows = Rows(partitions, columns)
    if draw(st.booleans()):
        return WindowedRows(rows)
    return WindowedRows(rows, tuple(draw(window_ends(len(partition))) for partition in partitions))


@st.composite
def window_ends(draw: st.DrawFn, rows: int) -> tuple[int, ...]:
    """For each row itself or a later row or the end; never less than for the row before."""
    ends: list[int] = []
    for row in range(rows):
        ends.append(draw(st.integers(max(ends[-1] if ends else 0, row), rows)))
    return tuple(ends)


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    shapes: st.SearchStrategy[tuple[RowPattern, dict[str, frozenset[str]]]],
    selection: EventSelection,
    output: MatchOutput,
    depends_on_run: bool,
    most_rows: int,
) -> tuple[SelectionQuery, WindowedRows]:
    pattern, subsets = draw(shapes)
    names = variable_names(pattern)
    targets = (*names, *subsets)
    query = SelectionQuery(pattern, selection, output, subsets=subsets)
    if output is MatchOutput.PREFERRED:
        query = replace(query, after_match=draw(after_match_skips(targets)))
    rows = draw(row_lists((*names, *ABSENT), most_rows))
    if not is_nullable(pattern) or output is not MatchOutput.PREFERRED:
        absence = absences(targets, rows.window_end is not None)
        query = replace(query, absences=tuple(draw(st.lists(absence, max_size=2))))
    if not depends_on_run:
        return query, rows
    reads: tuple[str | None, ...] = (None, *targets)
    glue = {name: draw(conditions(Reads(reads))) for name in names if draw(st.integers(0, 3))}
    for absence in query.absences:
        if draw(st.booleans()):
            glue[absence.variable] = draw(conditions(Reads(reads, so_far=False)))
    closing = None
    if not is_nullable(pattern) and draw(st.booleans()):
        closing = draw(conditions(Reads(reads, current=False, so_far=False)))
    return replace(query, glue=glue, closing=closing), rows
