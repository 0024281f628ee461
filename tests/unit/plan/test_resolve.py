"""One way to write a column."""

import pytest

from matchrec.plan.resolve import InputColumns

COLUMNS = InputColumns(("sym", "Price", "a b", "twice", "twice"), alias="t")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("sym", "`sym`"),
        (" SYM ", "`sym`"),
        ("t.sym", "`sym`"),
        ("T . `SYM`", "`sym`"),
        ("price", "`Price`"),
        ("`a b`", "`a b`"),
        ("u.sym", "u.sym"),
        ("sym.x", "sym.x"),
        ("twice", "twice"),
        ("sym + 1", "sym + 1"),
        ("nothing", "nothing"),
    ],
)
def test_canonical(text: str, canonical: str) -> None:
    assert COLUMNS.canonical(text) == canonical


def test_case_sensitive_names() -> None:
    columns = InputColumns(("a", "A"), case_sensitive=True)
    assert [columns.index(text) for text in ("a", "A", "b")] == [0, 1, None]
