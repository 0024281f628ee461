"""Loops over parts that can be empty: words derived by hand, not by the reference.

An empty iteration counts towards the least number of iterations. If more iterations are required,
they still run. Otherwise an empty iteration ends the loop, and keeps its place in the preferment
order. Source: ISO/IEC 19075-5, 7.2.8. A live Trino 435 agrees where it follows the standard.
"""

import pytest

from matchrec.search.strategies import ALGORITHMS, SearchAlgorithm
from tests.tasks.contiguous import make_query, read_rows, run_algorithm, run_reference

# pattern, rows, the words of the matches in order ("" is an empty match)
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
    # below the least number the next iteration runs after an empty one ...
    ("(A | () | B){2} C", "B AC C", ["B C", "C"]),
    ("(A | () | B){2}? C", "B AC C", ["B C", "C"]),
    # ... above it, no iteration follows an empty one
    ("(A | () | B){0,2} C", "B AC C", ["B A C"]),
    ("(A | () | B){1,3} C", "B AC C", ["B A C"]),
    ("(A | () | B)* C", "B AC C", ["B A C"]),
    ("(A | () | B)*? C", "B AC C", ["B C", "C"]),
    # leaving after an empty iteration is preferred to the alternatives after it
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
    assert [word for *_, word in outcome] == expected


@pytest.mark.parametrize(("pattern", "rows", "expected"), CASES)
def test_the_reference_agrees(pattern: str, rows: str, expected: list[str]) -> None:
    assert [word for *_, word in run_reference(make_query(pattern), read_rows(rows))] == expected
