"""Greedy loops of Flink become conditions of the variables after them."""

import pytest

from matchrec.dialects.products import PRODUCTS
from matchrec.dialects.translate import translate_clause

CLAUSES = [
    (
        "PATTERN (A+ C) DEFINE A AS A.x > LAST(A.x, 1), C AS C.x = 1",
        (
            "PATTERN (A+ C) SUBSET LOOP_A_C = (A, C) DEFINE A AS A.x > LAST(A.x, 1), "
            "C AS (C.x = 1) AND NOT COALESCE((LOOP_A_C.x > LAST(LOOP_A_C.x, 1)), FALSE)"
        ),
    ),
    (
        "PATTERN (A{1,3} `b`* C+) DEFINE A AS x = 1",
        (
            "PATTERN (A{1,3} `b`* C+) "
            "SUBSET LOOP_A_b = (A, b), LOOP_A_C = (A, C), LOOP_b_C = (b, C) "
            "DEFINE A AS x = 1, "
            "b AS NOT COALESCE(COUNT(b.*) = 1 AND (x = 1), FALSE), "
            "C AS NOT COALESCE(COUNT(b.*) = 0 AND COUNT(C.*) = 1 AND (x = 1), FALSE) "
            "AND NOT COALESCE(COUNT(C.*) = 1, FALSE)"
        ),
    ),
    (
        "PATTERN (A+ D{0} C) DEFINE A AS x = 1",
        (
            "PATTERN (A+ D{0} C) SUBSET LOOP_A_C = (A, C) DEFINE A AS x = 1, "
            "C AS NOT COALESCE((x = 1), FALSE)"
        ),
    ),
    # Every row is A, so no row can be C.
    (
        "PATTERN (A+ C)",
        "PATTERN (A+ C) SUBSET LOOP_A_C = (A, C) DEFINE C AS NOT COALESCE(TRUE, FALSE)",
    ),
    ("PATTERN (A+? B? C{2} D?) DEFINE A AS TRUE", "PATTERN (A+? B?? C{2} D?) DEFINE A AS TRUE"),
]


@pytest.mark.parametrize(("clause", "expected"), CLAUSES)
def test_the_variable_after_a_loop_excludes_rows_of_the_loop(clause: str, expected: str) -> None:
    skip = "AFTER MATCH SKIP PAST LAST ROW "
    translation = translate_clause(skip + clause, PRODUCTS["flink"], PRODUCTS["spark"]).text
    assert translation.replace("`", "") == skip + expected.replace("`", "")
