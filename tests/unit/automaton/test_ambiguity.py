import pytest

from matchrec.syntax.row_pattern import parse_row_pattern
from tests.tasks.compiled import compile_for_output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A B+ C", False),
        ("A* B* C*", False),
        ("(A+)+ B", False),
        ("(A | B)*", True),
        ("(A | A B)* C", True),
        ("(A | A A)* C", True),
        ("(A B)* C", False),
        ("(A B? | C)+", True),
        ("A{1,70}", True),
    ],
)
def test_loops_with_two_ways_of_one_length(text: str, expected: bool) -> None:
    assert compile_for_output(parse_row_pattern(text)).is_exponentially_ambiguous is expected
