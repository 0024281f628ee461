"""Test loops over parts that can be empty.

The word of a match is the variables of its rows. The expected words were derived by hand, not by
the reference matcher.

An empty iteration counts towards the least number of iterations. If more iterations are required,
the loop goes on. Otherwise, the empty iteration ends the loop. It keeps its place in the preferment
order: in `(A??)*`, the empty iteration is preferred to A, and in `(A?)*`, A is preferred to it.

Source: ISO/IEC 19075-5, 7.2.8. Trino 435 gives the same matches, except where it deviates from the
standard.
"""

import pytest

from matchrec.search.strategies import ALGORITHMS, SearchAlgorithm
from tests.tasks.contiguous import (
    Outcome,
    SearchFailure,
    make_query,
    read_rows,
    run_algorithm,
    run_reference,
)

# The pattern, the rows, and the words of the matches in order; "" is an empty match.
# A row is written as the variables whose conditions it satisfies: `A AB -` is three rows. The
# second one satisfies two conditions, and the last one satisfies none.
CASES = [
    ("(A?)*", "A A -", ["A A", ""]),
    ("(A*)*", "A - A", ["A", "", "A"]),
    ("(A*)+ B", "A A B", ["A A B"]),
    ("(A??)* B", "AB B", ["B", "B"]),  # the empty iteration is preferred and ends the loop
    ("(A??)* B", "A A B", ["A A B"]),
    ("(A?){2,} B", "A B - B", ["A B", "B"]),
    ("(A?){2,} B", "A A A B", ["A A A B"]),
    ("(A??){2,} B", "AB AB B", ["B", "B", "B"]),
    ("(A?){2,3}", "A A - A A A A", ["A A", "", "A A A", "A"]),
    ("(B*?)*", "B B", ["", ""]),
    ("(B*?)* C", "B B C", ["B B C"]),
    ("(^)* A", "A A", ["A", "A"]),
    ("(^)+ A", "A A", ["A"]),
    ("(^ | A)* B", "A B", ["A B"]),
    ("(A | ^){2} B", "AB B", ["A B"]),
    ("(A* B*)*", "A B A", ["A B A"]),
    ("(A*? B*?)*", "A B A", ["", "", ""]),
    # Below the least number of iterations, an iteration follows an empty one.
    ("(A | () | B){2} C", "B AC C", ["B C", "C"]),
    ("(A | () | B){2}? C", "B AC C", ["B C", "C"]),
    # Above the least number, no iteration follows an empty one.
    ("(A | () | B){0,2} C", "B AC C", ["B A C"]),
    ("(A | () | B){1,3} C", "B AC C", ["B A C"]),
    ("(A | () | B)* C", "B AC C", ["B A C"]),
    ("(A | () | B)*? C", "B AC C", ["B C", "C"]),
    # Leaving the loop after an empty iteration is preferred to later alternatives.
    ("(A* | B)*", "A B A", ["A", "", "A"]),
    ("((() | A)*)* B", "A AB B", ["A B", "B"]),
    ("((A | ())*)*", "A A -", ["A A", ""]),
    ("((() | A)*)*", "A A -", ["", "", ""]),
    ("((A??){2,3}){1,2} B", "A A B", ["A A B"]),
    ("((A??){2,3}){1,2}", "A A", ["", ""]),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
@pytest.mark.parametrize(("pattern", "rows", "expected"), CASES)
def test_each_algorithm_finds_the_words_derived_by_hand(
    pattern: str, rows: str, expected: list[str], algorithm: SearchAlgorithm
) -> None:
    outcome = run_algorithm(algorithm, make_query(pattern), read_rows(rows))
    assert list_words(outcome) == expected


@pytest.mark.parametrize(("pattern", "rows", "expected"), CASES)
def test_the_reference_finds_the_words_derived_by_hand(
    pattern: str, rows: str, expected: list[str]
) -> None:
    outcome = run_reference(make_query(pattern), read_rows(rows))
    assert list_words(outcome) == expected


def list_words(outcome: Outcome) -> list[str]:
    """Return the words of the matches. The search must not have failed."""
    assert not isinstance(outcome, SearchFailure)
    return [match.word for match in outcome]
