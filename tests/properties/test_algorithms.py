"""Contiguous searches: each algorithm finds what the reference matcher finds.

First all small patterns over all small inputs, then random patterns, conditions and windows.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.conditions.run_condition import (
    BasicOperator,
    Comparison,
    Constant,
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
from matchrec.plan.clauses import AfterMatchSkip, MatchOutput, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.plan.pattern import (
    Empty,
    Exclusion,
    PartitionEnd,
    PartitionStart,
    Quantified,
    RowPattern,
    Variable,
    make_alternation,
    make_concatenation,
    make_permutation,
    show_pattern,
)
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity
from tests.generators.arithmetic import arithmetic
from tests.generators.selection import after_match_skips
from tests.quick.scale import LARGE, examples, some_of
from tests.tasks.contiguous import (
    Outcome,
    Query,
    Rows,
    SearchFailure,
    make_query,
    read_rows,
    run_algorithm,
    run_algorithm_in_pieces,
    run_reference,
)

EXAMPLES = examples(32)
ALGORITHMS: list[SearchAlgorithm] = [
    SearchAlgorithm("backtracking"),
    SearchAlgorithm("backtracking", Capacity(mapped_rows=3, matches=2, initial_rows=1)),
    SearchAlgorithm("breadth_first"),
    SearchAlgorithm("breadth_first", Capacity(mapped_rows=3, matches=2, initial_rows=1)),
]
VARIABLES = ("A", "B", "C")

random_examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def assert_agreement(query: Query, rows: Rows) -> None:
    """Assert that each algorithm has the outcome of the reference."""
    expected = run_reference(query, rows)
    for algorithm in ALGORITHMS:
        assert run_algorithm(algorithm, query, rows) == expected, (
            algorithm,
            show_pattern(query.pattern),
        )


def assert_agreement_in_pieces(query: Query, rows: Rows, step: int) -> None:
    """Assert that each algorithm has the same outcome if rows arrive `step` at a time."""
    expected = run_reference(query, rows)
    for algorithm in ALGORITHMS:
        outcome = run_algorithm_in_pieces(algorithm, query, rows, step)
        assert outcome == expected, (algorithm, show_pattern(query.pattern))


def list_small_patterns() -> list[RowPattern]:
    """Return patterns of one operator over two atoms, quantified or not, alone or before a B."""
    atoms = [Variable("A"), Variable("B"), Empty(), PartitionStart(), PartitionEnd()]
    bounds = [(0, None), (1, None), (0, 1), (2, None), (1, 2), (2, 3)]
    pairs = [
        combine(pair)
        for pair in itertools.product(atoms, repeat=2)
        for combine in (make_concatenation, make_alternation, make_permutation)
    ]
    loops = [
        Quantified(part, least, most, greedy)
        for part in [*atoms, *pairs]
        for least, most in bounds
        for greedy in (True, False)
    ]
    return [
        pattern
        for part in (*pairs, *loops)
        for pattern in (part, make_concatenation([part, Variable("B")]))
    ]


def test_all_small_patterns_on_all_small_inputs() -> None:
    texts = [
        " ".join(rows)
        for kinds, length in (("A B AB -", 1), ("A B AB -", 2), ("A B AB", 3))
        for rows in itertools.product(kinds.split(), repeat=length)
    ]
    every_input = read_rows("/".join(texts))
    for pattern in some_of(list_small_patterns()):
        assert_agreement(Query(pattern), every_input)


INNER = ["A*", "A?", "A*?", "A??", "()", "^", "A | ()", "() | A", "A*|B"]
OUTER = ["*", "+", "?", "{2}", "{2,}", "{1,3}", "{,2}"]
LOOPS = [*itertools.product(INNER, OUTER, [True, False])]


@pytest.mark.parametrize(("inner", "outer", "greedy"), some_of(LOOPS))
def test_loops_over_parts_that_can_be_empty(inner: str, outer: str, greedy: bool) -> None:
    loop = f"({inner}){outer}{'' if greedy else '?'}"
    rows = read_rows("A B/A A B/B A/AB AB B/- A/A A A A/A B A/A")
    for text in (loop, f"{loop} B", f"({loop})* B", f"({loop} B?)+", f"({loop}){{2}}"):
        assert_agreement(make_query(text), rows)


def patterns() -> st.SearchStrategy[RowPattern]:
    """Draw row patterns of variables, empty patterns and anchors."""
    atoms = st.one_of(
        st.sampled_from([Variable(name) for name in VARIABLES]),
        st.sampled_from([Variable(name) for name in VARIABLES]),
        st.sampled_from([Empty(), PartitionStart(), PartitionEnd()]),
    )
    return trees(atoms)


def trees(atoms: st.SearchStrategy[RowPattern]) -> st.SearchStrategy[RowPattern]:
    """Draw row patterns whose leaves are some atoms."""

    def grow(parts: st.SearchStrategy[RowPattern]) -> st.SearchStrategy[RowPattern]:
        """Combine or quantify patterns."""
        several = st.lists(parts, min_size=2, max_size=3)
        bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (2, None), (0, 2), (1, 3)])
        return st.one_of(
            several.map(make_concatenation),
            several.map(make_alternation),
            several.map(make_permutation),
            st.builds(
                lambda part, limits, is_greedy: Quantified(part, limits[0], limits[1], is_greedy),
                parts,
                bounds,
                st.booleans(),
            ),
            parts.map(Exclusion),
        )

    return st.recursive(atoms, grow, max_leaves=6)


# Draws a partition of 4 to 12 rows, each as the variables whose row conditions it satisfies.
LONG_PARTITION = st.lists(
    st.sets(st.sampled_from(VARIABLES), min_size=1).map(frozenset), min_size=4, max_size=12
).map(tuple)
# Draws up to three partitions of up to 6 rows.
PARTITIONS = st.lists(
    st.lists(st.sets(st.sampled_from(VARIABLES)).map(frozenset), min_size=0, max_size=6).map(tuple),
    min_size=1,
    max_size=3,
).map(tuple)


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Draw a query with a union variable and AFTER MATCH SKIP."""
    pattern = draw(patterns())
    names = Query(pattern).variables
    subsets = {}
    if names:
        subsets["U"] = draw(st.frozensets(st.sampled_from(names), min_size=1))
    targets = (*names, *subsets)
    skip = draw(after_match_skips(targets)) if targets else AfterMatchSkip()
    return Query(pattern, skip, subsets)


@settings(random_examples, max_examples=max(EXAMPLES // 2, 1))
@given(st.data(), st.integers(1, 5))
def test_random_partitions_in_pieces(data: st.DataObject, step: int) -> None:
    query = data.draw(queries())
    rows = Rows(data.draw(st.lists(LONG_PARTITION, max_size=2).map(tuple)))
    if data.draw(st.booleans()):
        query, rows = data.draw(cases_with_run_conditions())
    if data.draw(st.booleans()):
        rows = data.draw(add_windows(rows))
    assert_agreement_in_pieces(query, rows, step)


@st.composite
def windows(draw: st.DrawFn, length: int) -> tuple[int, ...]:
    """Draw the ends of the windows of a number of rows: in order, and none before its row."""
    ends: list[int] = []
    for row in range(length):
        ends.append(draw(st.integers(max([row, *ends[-1:]]), length)))
    return tuple(ends)


@st.composite
def add_windows(draw: st.DrawFn, rows: Rows) -> Rows:
    """Draw windows, and return the rows with them."""
    return replace(rows, window_end=tuple(draw(windows(len(words))) for words in rows.words))


@random_examples
@given(st.data())
def test_random_patterns_in_windows(data: st.DataObject) -> None:
    rows = Rows(data.draw(st.lists(LONG_PARTITION, min_size=1, max_size=2).map(tuple)))
    assert_agreement(data.draw(queries()), data.draw(add_windows(rows)))


@random_examples
@given(st.data())
def test_random_conditions_that_depend_on_the_run_in_windows(data: st.DataObject) -> None:
    query, rows = data.draw(cases_with_run_conditions())
    assert_agreement(query, data.draw(add_windows(rows)))


@random_examples
@given(queries(), PARTITIONS)
def test_random_patterns_find_the_matches_of_the_reference(
    query: Query, rows: tuple[tuple[frozenset[str], ...], ...]
) -> None:
    assert_agreement(query, Rows(rows))


@settings(random_examples, max_examples=max(EXAMPLES // 2, 1))
@given(queries(), PARTITIONS)
def test_random_patterns_after_thousands_of_rows(
    query: Query, partitions: tuple[tuple[frozenset[str], ...], ...]
) -> None:
    """A loop takes all rows before the example, so the match has more rows by their number."""
    pattern = make_concatenation([Quantified(Variable("X"), 1, None), query.pattern])
    looping = replace(query, pattern=pattern, after_match=AfterMatchSkip())

    def prepend(count: int) -> Rows:
        """Return the partitions of the example, each after `count` rows of the loop."""
        return Rows(tuple((frozenset("X"),) * count + rows for rows in partitions))

    short = prepend(2)
    long = prepend(LARGE)
    outcome = run_reference(looping, short)
    assert isinstance(outcome, list)
    more = "X " * (LARGE - 2)
    expected = [
        match._replace(start=long.offsets[match.partition], word=more + match.word)
        for match in outcome
    ]
    for algorithm in ALGORITHMS:
        assert run_algorithm(algorithm, looping, long) == expected, (
            algorithm,
            show_pattern(looping.pattern),
        )


def navigations(names: list[str | None]) -> st.SearchStrategy[Navigation]:
    """Draw navigations to rows of some variables."""
    return st.builds(
        Navigation,
        st.sampled_from(names),
        st.sampled_from(End),
        st.integers(0, 2),
        st.sampled_from([0, 0, 0, -1, 1, 2, -2]),
    )


CONSTANTS: dict[Kind, tuple[int | float | None, ...]] = {
    Kind.INTEGER: (None, 0, 1, 2, -3, 2**62),
    Kind.FLOATING: (None, 0.0, 1.5, -2.0, float("nan"), float("inf")),
}


def values(names: list[str | None], kind: Kind, depth: int) -> st.SearchStrategy[RunExpression]:
    """Draw an expression over two integer and two floating columns.

    Args:
        names: the variables whose rows it may read; None for all rows of the match.
        kind: the kind of its value.
        depth: how deeply arithmetic is nested at most.
    """
    functions = [Reduction.SUM, Reduction.MIN, Reduction.MAX]
    functions.append(Reduction.AVG if kind is Kind.FLOATING else Reduction.COUNT)
    columns = st.integers(0, 1)
    leaves = st.one_of(
        st.builds(Constant, st.sampled_from(CONSTANTS[kind]), st.just(kind)),
        st.builds(ReadValue, columns, st.just(kind), st.none() | navigations(names)),
        st.builds(
            RunAggregate, st.sampled_from(functions), st.sampled_from(names), columns, st.just(kind)
        ),
        facts_about_match(names) if kind is Kind.INTEGER else conversions(names),
    )
    if depth == 0:
        return leaves
    operands = st.deferred(lambda: values(names, kind, depth - 1))
    operations = st.tuples(operands, operands).flatmap(lambda pair: arithmetic(kind, *pair))
    return leaves | operations


def facts_about_match(names: list[str | None]) -> st.SearchStrategy[RunExpression]:
    """Draw the number of the match, the variable of one of its rows, or a number of its rows."""
    counts = st.sampled_from(names).map(
        lambda name: RunAggregate(Reduction.COUNT, name, None, Kind.INTEGER)
    )
    classifiers = navigations(names).map(ReadClassifier)
    return st.one_of(st.just(TriedMatchNumber()), classifiers, counts)


def conversions(names: list[str | None]) -> st.SearchStrategy[RunExpression]:
    """Draw a number of 32 bits, or an integer as a floating number."""
    narrowed = st.sampled_from(Kind).flatmap(lambda kind: leaf_values(names, kind))
    widened = leaf_values(names, Kind.INTEGER)
    return st.one_of(
        narrowed.map(lambda value: build_operation(BasicOperator.NARROW, value)),
        widened.map(lambda value: build_operation(BasicOperator.WIDEN, value)),
    )


def leaf_values(names: list[str | None], kind: Kind) -> st.SearchStrategy[RunExpression]:
    """Draw an expression without arithmetic. It is deferred, because it may draw a conversion."""
    return st.deferred(lambda: values(names, kind, 0))


def conditions(names: list[str | None], depth: int = 1) -> st.SearchStrategy[RunExpression]:
    """Draw a condition; AND, OR, NOT and IS NULL are nested at most `depth` times."""
    comparisons = st.sampled_from(Kind).flatmap(
        lambda kind: st.builds(
            build_operation,
            st.sampled_from(Comparison),
            values(names, kind, 1),
            values(names, kind, 1),
        )
    )
    if depth == 0:
        return comparisons
    parts = st.deferred(lambda: conditions(names, depth - 1))
    connected_parts = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        comparisons,
        connected_parts.map(lambda operands: RunOperation(BasicOperator.AND, operands)),
        connected_parts.map(lambda operands: RunOperation(BasicOperator.OR, operands)),
        parts.map(lambda part: build_operation(BasicOperator.NOT, part)),
        parts.map(lambda part: build_operation(BasicOperator.IS_NULL, part)),
    )


def cases_with_run_conditions() -> st.SearchStrategy[tuple[Query, Rows]]:
    """Draw a query with conditions on the run, and rows."""
    return queries().flatmap(add_run_conditions)


@st.composite
def add_run_conditions(draw: st.DrawFn, plain: Query) -> tuple[Query, Rows]:
    """Add random conditions on the run to a query, and draw rows."""
    names: list[str | None] = [None, *plain.variables, *plain.subsets]
    run_conditions = {
        name: draw(conditions(names)) for name in plain.variables if draw(st.integers(0, 3)) > 0
    }
    partitions = draw(PARTITIONS)
    likely = tuple(
        tuple(row | (frozenset(VARIABLES) if draw(st.booleans()) else frozenset()) for row in rows)
        for rows in partitions
    )
    count = sum(map(len, likely))
    integers = st.sampled_from([None, 0, 1, 2, 3, -5, 100, 2**62])
    floats = st.sampled_from([None, 0.0, 0.5, 1.0, 2.0, -3.0, float("nan"), float("inf")])
    columns = {
        kind: tuple(tuple(draw(st.lists(value, min_size=count, max_size=count))) for _ in range(2))
        for kind, value in ((Kind.INTEGER, integers), (Kind.FLOATING, floats))
    }
    return Query(plain.pattern, plain.after_match, plain.subsets, run_conditions), Rows(
        likely, columns
    )


@random_examples
@given(cases_with_run_conditions())
def test_random_conditions_that_depend_on_the_run(case: tuple[Query, Rows]) -> None:
    assert_agreement(*case)


def test_a_condition_may_be_true_only_from_the_second_match_on() -> None:
    """B is false in match 1, so match 1 is C alone. In later matches the loop A+ B matches."""
    later = build_operation(Comparison.GREATER, TriedMatchNumber(), Constant(1, Kind.INTEGER))
    overlapping = replace(
        make_query("A+ B | C"),
        after_match=AfterMatchSkip(SkipTo.NEXT_ROW),
        run_conditions={"B": later},
    )
    rows = read_rows("AC A A B/A B AC A B")
    first = [(0, 1, 0, "C"), (0, 2, 1, "A A B"), (0, 3, 2, "A B")]
    second = [(1, 1, 6, "C"), (1, 2, 7, "A B")]
    assert run_reference(overlapping, rows) == [*first, *second]
    assert_agreement(overlapping, rows)


@pytest.mark.parametrize(
    "text",
    [
        "PERMUTE(A, () | B, A | B)",
        "PERMUTE(A?, B?, C?)",
        "PERMUTE(A+, B, C*?)",
        "PERMUTE(A | B, PERMUTE(A?, B??), C)",
        "PERMUTE(A, B, C | (), A+) B",
    ],
)
def test_permutations_of_parts_with_several_words(text: str) -> None:
    rows = itertools.product(("A", "B", "AB", "ABC"), repeat=4)
    assert_agreement(make_query(text), read_rows("/".join(" ".join(row) for row in rows)))


# LONGEST MATCH. The reference lists all words of a starting row.


def keep_longest(query: Query) -> Query:
    """Return the query with LONGEST MATCH."""
    return replace(query, output=MatchOutput.LONGEST)


def assert_longest(query: Query, rows: Rows, step: int = 0) -> None:
    """Assert that each algorithm finds the longest matches of the reference.

    All words of a starting row are tried, in any order. So if several conditions raise an error,
    any of these errors may be the first.

    Args:
        query: the query, without LONGEST MATCH.
        rows: the rows.
        step: the number of rows that arrive at a time; 0 for whole partitions.
    """

    def comparable(outcome: Outcome) -> object:
        """Return the outcome, or for an error of a condition its partition."""
        is_failure = isinstance(outcome, SearchFailure) and outcome.kind in (
            "overflow_in_condition",
            "division_by_zero",
        )
        return ("failed", outcome[1]) if is_failure else outcome

    expected = comparable(run_reference(keep_longest(query), rows))
    task = keep_longest(query).task()
    algorithms = [algorithm for algorithm in ALGORITHMS if algorithm.find_obstacle(task) is None]
    assert any(algorithm.name == "breadth_first" for algorithm in algorithms)
    for algorithm in algorithms:
        if step:
            outcome = run_algorithm_in_pieces(algorithm, keep_longest(query), rows, step)
        else:
            outcome = run_algorithm(algorithm, keep_longest(query), rows)
        assert comparable(outcome) == expected, (algorithm, show_pattern(query.pattern))


@pytest.mark.parametrize(
    ("text", "rows", "expected"),
    [
        ("A | A B", "A B A", [(0, "A B"), (2, "A")]),
        ("A*?", "A A -", [(0, "A A"), (2, "")]),
        ("A B? | A B? C", "A B C", [(0, "A B C")]),
        ("(A | B) (A B | C)?", "AB A C B", [(0, "A"), (1, "A C"), (3, "B")]),
        ("A A | B B | B A", "AB AB", [(0, "A A")]),  # equally long words: the preferred one
        ("^ A | A A", "A A A", [(0, "A A")]),
        ("A+ | A+ $", "A B A", [(0, "A"), (2, "A")]),
        ("A {- B -}*?", "A B B", [(0, "A [B] [B]")]),
        ("A B | B A B C", "AB AB B C", [(0, "B A B C")]),
    ],
)
def test_longest_matches_are_those_found_by_hand(
    text: str, rows: str, expected: list[tuple[int, str]]
) -> None:
    """The expected matches are worked out by hand, from all words of each starting row."""
    query = make_query(text)
    partition = read_rows(rows)
    outcome = run_reference(keep_longest(query), partition)
    assert [(start, word) for _, _, start, word in outcome] == expected
    assert_longest(query, partition)


def test_longest_matches_of_small_patterns() -> None:
    """Every fifth pattern is tested. A loop has 24 patterns, so each of its bounds occurs."""
    texts = [
        " ".join(rows)
        for kinds, length in (("A B AB -", 1), ("A B AB -", 2), ("A B AB", 3))
        for rows in itertools.product(kinds.split(), repeat=length)
    ]
    every_input = read_rows("/".join(texts))
    for pattern in some_of(list_small_patterns()[::5]):
        assert_longest(Query(pattern), every_input)


@random_examples
@given(st.data(), st.integers(0, 4))
def test_random_longest_matches(data: st.DataObject, step: int) -> None:
    rows = Rows(data.draw(st.lists(LONG_PARTITION, min_size=1, max_size=2).map(tuple)))
    if data.draw(st.booleans()):
        rows = data.draw(add_windows(rows))
    assert_longest(data.draw(queries()), rows, step)


@random_examples
@given(st.data(), st.integers(0, 4))
def test_random_longest_matches_under_conditions_on_the_run(data: st.DataObject, step: int) -> None:
    query, rows = data.draw(cases_with_run_conditions())
    if data.draw(st.booleans()):
        rows = data.draw(add_windows(rows))
    assert_longest(query, rows, step)
