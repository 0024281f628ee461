"""Names of columns are resolved to one spelling."""

import pytest

from matchrec.plan.resolve import InputColumns, resolve_row_expression
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_row_expression
from matchrec.syntax.tokenize import read_tokens

COLUMNS = InputColumns(("sym", "Price", "a b", "twice", "twice"), alias="t")


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("sym", "`sym`"),
        (" SYM ", "`sym`"),
        ("t.sym", "`sym`"),
        ("T . `SYM`", "`sym`"),
        ("price", "`Price`"),
        ("`a b`", "`a b`"),
        ("u.sym", "u.sym"),
        ("u.t.sym", "u.t.sym"),
        ("sym.x", "sym.x"),
        ("twice", "twice"),
        ("sym + 1", "sym + 1"),
        ("(sym)", "(sym)"),
        ("nothing", "nothing"),
    ],
)
def test_a_column_has_the_same_text_however_it_is_written(text: str, resolved: str) -> None:
    written = parse_row_expression(read_tokens(text), ClausePart.PARTITION_BY)
    key = resolve_row_expression(written, COLUMNS)
    assert key.text == resolved
    assert COLUMNS.find_by_text(key.text) == COLUMNS.find(written.column_path)


def test_an_expression_is_not_the_column_without_a_name() -> None:
    """A column may have the name "", but an expression over columns has no name at all."""
    columns = InputColumns(("", "sym"))
    written = parse_row_expression(read_tokens("sym || 'x'"), ClausePart.PARTITION_BY)
    assert resolve_row_expression(written, columns).text == "sym || 'x'"


def test_case_sensitive_names() -> None:
    columns = InputColumns(("a", "A"), is_case_sensitive=True)
    assert [columns.find((name,)) for name in ("a", "A", "b")] == ["a", "A", None]
