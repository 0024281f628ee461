"""Variables that always have a row before another variable."""

import pytest

from matchrec.plan.pattern import always_precedes
from matchrec.syntax.row_pattern import parse_row_pattern


@pytest.mark.parametrize(
    ("pattern", "members", "expected"),
    [
        ("A D", "A", True),
        ("A+ B* D", "A", True),
        ("A* D", "A", False),
        ("A{2,3}? D", "A", True),
        ("(A | B) D", "A", False),
        ("(A | B) D", "AB", True),
        ("(A D)? D", "A", False),
        ("(A D)+ D", "A", True),
        ("(D A)+", "A", False),
        ("D", "A", False),
        ("B C", "A", True),  # there is no D
        ("A | A D", "A", True),
        ("A | D", "A", False),
        ("PERMUTE(A, D)", "A", False),
        ("PERMUTE(A, B) D", "A", True),
        ("^ {- A -} () D $", "A", True),
    ],
)
def test_whether_members_always_have_a_row_before_d(
    pattern: str, members: str, expected: bool
) -> None:
    tree = parse_row_pattern(pattern)
    assert always_precedes(tree, frozenset(members), "D") is expected
