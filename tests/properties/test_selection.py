"""Event selection: the reference and the algorithms find the matches that are worked out by hand.

The algorithms also find what the reference finds, for random queries and for all small inputs.
Rows are written as in `tests.tasks.contiguous`: `A - AB` has a row that satisfies A, a row that
satisfies no variable, and a row that satisfies A and B. The match `A0 B2` maps row 0 to A and row 2
to B.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    ReadValue,
    Reduction,
    RunAggregate,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import Absence, AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.plan.pattern import show_pattern
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity
from tests.generators.selection import Shape, cases, general, sequences
from tests.quick.scale import examples, some_of
from tests.references.event_selection import Mapped, SelectionQuery
from tests.references.matcher import WordSearch
from tests.tasks.contiguous import Rows, read_rows
from tests.tasks.selection import (
    ANY,
    NEXT,
    STRICT,
    WindowedRows,
    build_task,
    is_deterministic,
    make_query,
    make_rows,
    run_algorithm,
    run_reference,
    write_matches,
)

EXAMPLES = examples(32)
ALGORITHMS: list[SearchAlgorithm] = [
    SearchAlgorithm("backtracking"),
    SearchAlgorithm("backtracking", Capacity(mapped_rows=3, matches=2, initial_rows=1)),
    SearchAlgorithm("breadth_first"),
    SearchAlgorithm("breadth_first", Capacity(mapped_rows=3, matches=2, initial_rows=1)),
]
ALL, NON_OVERLAPPING = MatchOutput.ALL, MatchOutput.NON_OVERLAPPING
PREFERRED = MatchOutput.PREFERRED
OUTPUTS = (PREFERRED, ALL, NON_OVERLAPPING)

random_examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def list_algorithms(query: SelectionQuery) -> list[SearchAlgorithm]:
    """Return the algorithms that can run a query, each with a large and a small capacity."""
    return [
        algorithm for algorithm in ALGORITHMS if algorithm.find_obstacle(build_task(query)) is None
    ]


def assert_agreement(query: SelectionQuery, rows: WindowedRows) -> None:
    """Assert that each algorithm has the outcome of the reference."""
    expected = run_reference(query, rows)
    for algorithm in list_algorithms(query):
        assert run_algorithm(algorithm, query, rows) == expected, (
            algorithm,
            show_pattern(query.pattern),
        )


def assert_matches(query: SelectionQuery, rows: WindowedRows, *expected: str) -> None:
    """Assert that the reference and each algorithm find some matches, such as "A0 B2"."""
    assert write_matches(run_reference(query, rows)) == list(expected)
    for algorithm in list_algorithms(query):
        assert write_matches(run_algorithm(algorithm, query, rows)) == list(expected), algorithm


# The strategies. Source: SASE+, "Event selection strategies".


@pytest.mark.parametrize(
    ("selection", "rows", "expected"),
    [
        (STRICT, "A B", ["A0 B1"]),
        (STRICT, "A - B", []),
        (NEXT, "A - B B", ["A0 B2"]),
        (ANY, "A - B B", ["A0 B2", "A0 B3"]),
    ],
)
def test_a_then_b(selection: EventSelection, rows: str, expected: list[str]) -> None:
    assert_matches(make_query("A B", selection), make_rows(rows), *expected)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("A B B", ["A0 B1", "A0 B2"]),  # B does not satisfy A, so the loop may skip it
        ("A A B", ["A0 A1 B2", "A1 B2"]),  # a row that the loop can take may not be skipped
        ("A AB B", ["A0 B1", "A0 A1 B2", "A1 B2"]),  # a row that is both may be mapped to either
        ("A AB - A B", ["A0 B1", "A0 A1 A3 B4", "A1 A3 B4", "A3 B4"]),
    ],
)
def test_a_loop_before_another_variable(rows: str, expected: list[str]) -> None:
    assert_matches(make_query("A+ B", NEXT), make_rows(rows), *expected)
    first_apart = make_query("A C* B", NEXT)
    with_c = make_rows(rows.replace("A", "AC"))
    renamed = [f"{text[0]}{text[1:].replace('A', 'C')}" for text in expected]
    assert_matches(first_apart, with_c, *renamed)


def test_every_prefix_of_a_loop_at_the_end_is_a_match() -> None:
    rows = make_rows("A A - A")
    assert_matches(make_query("A+", STRICT), rows, "A0", "A0 A1", "A1", "A3")
    next_matches = ["A0", "A0 A1", "A1", "A0 A1 A3", "A1 A3", "A3"]
    assert_matches(make_query("A+", NEXT), rows, *next_matches)
    any_matches = ["A0", "A0 A1", "A1", "A0 A1 A3", "A0 A3", "A1 A3", "A3"]
    assert_matches(make_query("A+", ANY), rows, *any_matches)


def test_rows_that_the_next_variables_accept_are_not_skipped() -> None:
    assert_matches(make_query("A B? C", NEXT), make_rows("A B C"), "A0 B1 C2")
    assert_matches(make_query("A (B | C D) D", NEXT), make_rows("A C D D"), "A0 C1 D2 D3")
    assert_matches(make_query("A (B C)* D", NEXT), make_rows("A D B C D"), "A0 D1")
    assert_matches(
        make_query("PERMUTE(A, B, C)", NEXT), make_rows("A A C B C"), "A0 C2 B3", "A1 C2 B3"
    )


def test_equal_matches_are_one() -> None:
    assert_matches(make_query("A | A", ANY), make_rows("A"), "A0")
    assert_matches(make_query("A | B", ANY), make_rows("AB"), "A0", "B0")
    assert_matches(
        make_query("A+ A+", ANY), make_rows("A A A"), "A0 A1", "A0 A1 A2", "A0 A2", "A1 A2"
    )


def test_a_window_ends_before_its_end() -> None:
    rows = make_rows("A A B B", 2, 3, 3, 4)
    assert_matches(make_query("A B", ANY), rows, "A1 B2")
    no_start = make_rows("A B", 0, 2)  # its order value is NULL
    assert_matches(make_query("A", ANY), no_start)


# The example of "NFA^b": e1 to e8 are rows 0 to 7; A and C are a[1] and a[i], U is a[].

PRICES = (100.0, 120.0, 120.0, 121.0, 120.0, 125.0, 120.0, 120.0)
VOLUMES = (1010.0, 990.0, 1005.0, 999.0, 999.0, 750.0, 950.0, 700.0)
STOCK = WindowedRows(
    Rows(
        (tuple(frozenset("ABC" if volume > 1000 else "BC") for volume in VOLUMES),),
        {Kind.INTEGER: (), Kind.FLOATING: (PRICES, VOLUMES)},
    )
)


def make_rising_query(function: Reduction) -> SelectionQuery:
    """Return the query of the example in the paper.

    Prices rise above an aggregate of the prices so far, then a volume falls below 80 % of the last.
    """
    so_far = RunAggregate(function, "U", 0, Kind.FLOATING, excludes_current_row=True)
    last_volume = ReadValue(1, Kind.FLOATING, Navigation("U"))
    factors = Constant(0.8, Kind.FLOATING), last_volume
    threshold = Arithmetic(ArithmeticOperator.MULTIPLY, factors, Kind.FLOATING)
    return replace(
        make_query("A C* B", NEXT),
        subsets={"U": frozenset("AC")},
        run_conditions={
            "C": build_operation(Comparison.GREATER, ReadValue(0, Kind.FLOATING), so_far),
            "B": build_operation(Comparison.LESS, ReadValue(1, Kind.FLOATING), threshold),
        },
    )


def test_the_example_of_the_paper_has_its_three_matches() -> None:
    r1 = "A0 C1 C2 C3 C4 B5"
    r2 = "A2 C3 B5"
    r3 = "A0 C1 C2 C3 C4 C5 C6 B7"
    assert_matches(make_rising_query(Reduction.AVG), STOCK, r1, r2, r3)
    assert_matches(replace(make_rising_query(Reduction.AVG), output=NON_OVERLAPPING), STOCK, r1)


def test_runs_that_are_equivalent_from_e4_on_give_two_matches() -> None:
    assert_matches(make_rising_query(Reduction.MAX), STOCK, "A0 C1 C3 B5", "A2 C3 B5")


# Conditions


def make_rows_with_integers(text: str, *column: int | None) -> WindowedRows:
    """Return the rows of one partition with an integer column."""
    return WindowedRows(
        replace(read_rows(text), columns={Kind.INTEGER: (column,), Kind.FLOATING: ()})
    )


def test_aggregates_so_far_leave_out_the_current_row() -> None:
    so_far = RunAggregate(Reduction.SUM, "A", 0, Kind.INTEGER, excludes_current_row=True)
    current = ReadValue(0, Kind.INTEGER)
    more = {"A": build_operation(Comparison.GREATER, current, so_far)}  # unknown for the first row
    assert_matches(
        replace(make_query("A+", STRICT), run_conditions=more), make_rows_with_integers("A A", 1, 2)
    )
    either = {
        "A": RunOperation(
            BasicOperator.OR, (build_operation(BasicOperator.IS_NULL, so_far), more["A"])
        )
    }
    doubling = replace(make_query("A{3}", ANY), run_conditions=either)
    assert_matches(doubling, make_rows_with_integers("A A A A", 1, 2, 3, 4), "A0 A1 A3")


def test_closing_condition_is_about_each_match_as_a_whole() -> None:
    last = ReadValue(0, Kind.INTEGER, Navigation("A"))
    closing = build_operation(Comparison.GREATER, last, Constant(1, Kind.INTEGER))
    rows = make_rows_with_integers("A A A", 1, 5, 1)
    assert_matches(replace(make_query("A+", STRICT), closing=closing), rows, "A0 A1", "A1")


def test_navigation_counts_mapped_rows_and_steps_over_rows() -> None:
    current = ReadValue(0, Kind.INTEGER)
    first = ReadValue(0, Kind.INTEGER, Navigation("A", End.FIRST))
    same = {"B": build_operation(Comparison.EQUAL, current, first)}
    rows = make_rows_with_integers("AB AB AB AB", 1, 2, 1, 2)
    assert_matches(replace(make_query("A B", ANY), run_conditions=same), rows, "A0 B2", "A1 B3")
    before = ReadValue(0, Kind.INTEGER, Navigation("A", End.LAST, 0, -1))
    stepped = {"B": build_operation(Comparison.EQUAL, before, current)}
    rows = make_rows_with_integers("A - A B B", 1, 2, 1, 2, 1)
    assert_matches(replace(make_query("A A B", ANY), run_conditions=stepped), rows, "A0 A2 B3")


# Absences, decision D5


def add_absence(text: str, after: str | None, before: str | None) -> SelectionQuery:
    """Return a query in which no row of N may be between two variables."""
    bounds = (name and (name,) for name in (after, before))
    return replace(make_query(text, NEXT), absences=(Absence("N", *bounds),))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("A - B", ["A0 B2"]),
        ("A N B", []),
        ("N AN BN N", ["A1 B2"]),  # both ends are exclusive
        ("A N A B", ["A0 A2 B3", "A2 B3"]),  # after the last row of the loop
        ("A A N B B", []),
        ("A B N B", ["A0 B1"]),
    ],
)
def test_absence_in_the_middle(rows: str, expected: list[str]) -> None:
    assert_matches(add_absence("A+ B", "A", "B"), make_rows(rows), *expected)


def test_absence_at_the_beginning_looks_at_rows_whose_window_holds_the_match() -> None:
    beginning = add_absence("A B", None, "A")
    assert_matches(beginning, make_rows("N A B", 2, 3, 3), "A1 B2")
    assert_matches(beginning, make_rows("N A B", 3, 3, 3))
    assert_matches(beginning, make_rows("- AN BN", 3, 3, 3), "A1 B2")
    assert_matches(beginning, make_rows("N A B B", 3, 4, 4, 4))


def test_absence_at_the_end_looks_at_rows_in_the_window() -> None:
    end = add_absence("A+", "A", None)
    assert_matches(end, make_rows("A A N", 2, 3, 3), "A0", "A0 A1")
    assert_matches(end, make_rows("A A N", 3, 3, 3))
    assert_matches(end, make_rows("A AN -", 3, 3, 3), "A0 A1", "A1")


def test_absence_is_about_rows_that_go_with_the_match() -> None:
    current = ReadValue(0, Kind.INTEGER)
    last_a = ReadValue(0, Kind.INTEGER, Navigation("A"))
    same = {"N": build_operation(Comparison.EQUAL, current, last_a)}
    correlated = replace(add_absence("A B", "A", "B"), run_conditions=same)
    assert_matches(correlated, make_rows_with_integers("A N B", 1, 1, 1))
    assert_matches(correlated, make_rows_with_integers("A N B", 1, 2, 1), "A0 B2")
    assert_matches(correlated, make_rows_with_integers("A N B", 1, None, 1), "A0 B2")


def test_absences_are_independent() -> None:
    both = (Absence("N", ("A",), ("B",)), Absence("M", ("A",), ("B",)))
    two = replace(make_query("A B", NEXT), absences=both)
    for rows, expected in (("A - B", ["A0 B2"]), ("A N B", []), ("A M B", [])):
        assert_matches(two, make_rows(rows), *expected)


# Which matches are output


def test_non_overlapping_matches() -> None:
    rows = make_rows("A A B A B")
    assert_matches(make_query("A+ B", ANY, NON_OVERLAPPING), rows, "A0 A1 B2", "A3 B4")
    assert_matches(make_query("A B", ANY, NON_OVERLAPPING), make_rows("A A B B"), "A0 B2")
    assert_matches(make_query("A | B", ANY, NON_OVERLAPPING), make_rows("AB AB"), "A0", "A1")
    # Of two matches with the same rows, the preferred one is returned.
    equal_rows = make_query("A B | A A", ANY, NON_OVERLAPPING)
    assert_matches(equal_rows, make_rows("AB AB"), "A0 B1")
    # The match that ends first is returned, not the one that starts first.
    late = make_query("A B C | B", ANY, NON_OVERLAPPING)
    assert_matches(late, make_rows("A B C"), "B1")


def test_forbidden_and_unclosed_runs_are_not_earlier_matches() -> None:
    middle = replace(
        make_query("A B", ANY, NON_OVERLAPPING), absences=(Absence("N", ("A",), ("B",)),)
    )
    assert_matches(middle, make_rows("A N A B B"), "A2 B3")


def test_preferred_matches_skip_last_of_all() -> None:
    assert_matches(make_query("A B", NEXT, PREFERRED), make_rows("A - B A B"), "A0 B2", "A3 B4")
    assert_matches(make_query("A+ B", ANY, PREFERRED), make_rows("A A - B"), "A0 A1 B3")
    assert_matches(make_query("A+", ANY, PREFERRED), make_rows("A - A"), "A0", "A2")
    assert_matches(make_query("A+? B", NEXT, PREFERRED), make_rows("A AB B"), "A0 B1")
    assert_matches(make_query("A+ B", NEXT, PREFERRED), make_rows("A AB B"), "A0 A1 B2")
    assert_matches(make_query("A*", NEXT, PREFERRED), make_rows("- A"), "", "A1")


def test_preferred_matches_survive_growing_memory() -> None:
    overlapping = replace(
        make_query("A+ B C", NEXT, PREFERRED), after_match=AfterMatchSkip(SkipTo.NEXT_ROW)
    )
    first = "A0 A1 A2 A3 B4 C5"
    second = "A1 A2 A3 B4 C5"
    rows = make_rows("A A A A B C")
    assert_matches(overlapping, rows, first, second, "A2 A3 B4 C5", "A3 B4 C5")


def test_a_preferred_word_that_does_not_close_gives_way() -> None:
    last = ReadValue(0, Kind.INTEGER, Navigation("A"))
    closing = build_operation(Comparison.EQUAL, last, Constant(2, Kind.INTEGER))
    reluctant = replace(make_query("A A??", NEXT, PREFERRED), closing=closing)
    assert_matches(reluctant, make_rows_with_integers("A A", 1, 2), "A0 A1")


def test_after_match_skip_goes_to_mapped_rows() -> None:
    rows = make_rows("A - AB - B")
    for skip, expected in (
        (AfterMatchSkip(SkipTo.PAST_LAST_ROW), ["A0 B2"]),
        (AfterMatchSkip(SkipTo.NEXT_ROW), ["A0 B2", "A2 B4"]),
        (AfterMatchSkip(SkipTo.FIRST, "B"), ["A0 B2", "A2 B4"]),
        (AfterMatchSkip(SkipTo.LAST, "B"), ["A0 B2", "A2 B4"]),
    ):
        assert_matches(
            replace(make_query("A B", NEXT, PREFERRED), after_match=skip), rows, *expected
        )


# The algorithms compared with the reference


SMALL = ["A", "A B", "A+", "A+ B", "A B+", "A B* A", "A+ B+", "A B? A", "A (A | B)+", "(A B)+ A?"]
SMALL_ROWS = "/".join(
    " ".join(rows)
    for length in (1, 2, 3, 4)
    for rows in itertools.product(("A", "B", "AB", "-"), repeat=length)
)


@pytest.mark.parametrize("selection", EventSelection)
@pytest.mark.parametrize("text", some_of(SMALL))
def test_all_small_inputs(text: str, selection: EventSelection) -> None:
    for output in OUTPUTS:
        assert_agreement(make_query(text, selection, output), make_rows(SMALL_ROWS))


@random_examples
@given(general(), st.lists(st.frozensets(st.sampled_from("ABC")), max_size=5))
def test_without_blocking_rows_a_match_is_a_word_of_some_rows(
    shape: Shape, rows: list[frozenset[str]]
) -> None:
    partition = WindowedRows(Rows((tuple(rows),)))
    for selection in (STRICT, ANY):
        expected: set[Mapped] = set()
        for count in range(1, len(rows) + 1):
            for chosen_rows in itertools.combinations(range(len(rows)), count):
                is_contiguous = chosen_rows[-1] - chosen_rows[0] < count
                if selection is ANY or is_contiguous:
                    expected.update(list_mappings(shape, rows, chosen_rows))
        outcome = run_reference(SelectionQuery(shape.pattern, selection), partition)
        assert isinstance(outcome, list)
        assert sorted(match.mapped for match in outcome) == sorted(expected)


def list_mappings(
    shape: Shape, rows: list[frozenset[str]], chosen_rows: tuple[int, ...]
) -> Iterator[Mapped]:
    """Yield the ways in which the words of a row pattern map chosen rows, and only these.

    Args:
        shape: has the row pattern.
        rows: for each row, the variables that it satisfies.
        chosen_rows: the indices of the chosen rows, in order.
    """

    def can_map(_: int, start: int, word: tuple[str, ...]) -> bool:
        """Return whether the last chosen row satisfies the last variable."""
        return word[-1] in rows[chosen_rows[len(word) - 1]]

    for word in WordSearch(len(chosen_rows), 0, can_map).list_words(shape.pattern):
        if len(word) == len(chosen_rows):
            names = (variable for variable, _ in word)
            yield tuple(zip(chosen_rows, names, strict=True))


@pytest.mark.parametrize("depends_on_run", [False, True])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("selection", EventSelection)
def test_random_sequences_find_the_matches_of_the_reference(
    selection: EventSelection, output: MatchOutput, depends_on_run: bool
) -> None:
    """Sequences of components, as in SASE+."""
    most_rows = 6 if selection is ANY else 7
    compare_random_cases(selection, output, depends_on_run, sequences(), most_rows)


@pytest.mark.parametrize("depends_on_run", [False, True])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("selection", EventSelection)
def test_random_patterns_find_the_matches_of_the_reference(
    selection: EventSelection, output: MatchOutput, depends_on_run: bool
) -> None:
    """Any pattern. Under skip till next match, the rows of a run determine its state."""
    shapes = general()
    if selection is NEXT:
        shapes = shapes.filter(lambda shape: is_deterministic(shape.pattern))
    compare_random_cases(selection, output, depends_on_run, shapes, most_rows=5)


def compare_random_cases(
    selection: EventSelection,
    output: MatchOutput,
    depends_on_run: bool,
    shapes: st.SearchStrategy[Shape],
    most_rows: int,
) -> None:
    """Compare the algorithms with the reference on random cases of one kind.

    There are many kinds, so each has few examples.

    Args:
        selection: the event selection strategy of the queries.
        output: which matches they return.
        depends_on_run: whether their conditions depend on the run.
        shapes: draws their row patterns.
        most_rows: the largest number of rows.
    """

    @settings(random_examples, max_examples=max(EXAMPLES // 8, 1))
    @given(
        cases(
            shapes=shapes,
            selection=selection,
            output=output,
            depends_on_run=depends_on_run,
            most_rows=most_rows,
        )
    )
    def compare(case: tuple[SelectionQuery, WindowedRows]) -> None:
        assert_agreement(*case)

    compare()
