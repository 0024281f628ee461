"""What messages say that `dialect=` understands is understood."""

from __future__ import annotations

import pytest

from matchrec.errors.sql.foreign_names import CURES, READ_BY
from matchrec.frontends.dialects.products import PRODUCTS, SPARK
from matchrec.frontends.dialects.translate import translate_query

ARGUMENTS = ("x", "x, y", "s, 'x'", "'%Y', s", "x, y, x", "1, 2, 3, 4, 5, 6", "")
CLAUSE = (
    "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES {} AS m PATTERN (A) DEFINE A AS TRUE)"
)
NAMED = [(dialect, name) for dialect, names in READ_BY.items() for name in names.split()]


@pytest.mark.parametrize(("dialect", "name"), NAMED)
def test_the_dialect_reads_the_name(dialect: str, name: str) -> None:
    assert name in CURES
    calls = [f"{name}({arguments})" for arguments in ARGUMENTS]
    texts = [f"SELECT {call} FROM t" for call in calls]
    texts += [CLAUSE.format(call) for call in calls]
    assert any(f"{name}(" not in translated(text, dialect) for text in texts)


def translated(text: str, dialect: str) -> str:
    """The text as Spark SQL; itself where the dialect has no such arguments."""
    try:
        return translate_query(text, PRODUCTS[dialect], SPARK).text.upper()
    except (ValueError, IndexError):
        return text
