"""Tables as Markdown that also reads well on a terminal, and sections of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

# The cells of a row of a table.
Row = Sequence[str]


def format_table(head: Row, rows: Iterable[Row], text_columns: int = 1) -> Iterator[str]:
    """Yield the lines of a Markdown table.

    >>> print("\\n".join(format_table(["query", "s"], [["scan", "1.25"]])))
    | query |    s |
    |-------|-----:|
    | scan  | 1.25 |

    Args:
        head: the headings of the columns.
        rows: the cells of each row.
        text_columns: the number of columns from the left that are text, and aligned left. The
            others are figures, and aligned right.
    """
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]

    def format_line(cells: Row) -> str:
        """Return the line of a row, with its cells padded to the widths of the columns."""
        padded = (
            cell.ljust(width) if column < text_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    yield format_line(lines[0])
    marks = (
        "-" * (width + 1) + ("-" if column < text_columns else ":")
        for column, width in enumerate(widths)
    )
    yield f"|{'|'.join(marks)}|"
    yield from map(format_line, lines[1:])


def replace_section(text: str, name: str, lines: Iterable[str]) -> str:
    """Return a document with other lines between the two marks of a section.

    >>> replace_section("<!-- a -->\\nold\\n<!-- end a -->", "a", ["new"])
    '<!-- a -->\\nnew\\n<!-- end a -->'
    """
    first_mark = f"<!-- {name} -->"
    last_mark = f"<!-- end {name} -->"
    assert first_mark in text, f"the document has no section {name}"
    before, _, section_and_after = text.partition(first_mark)
    assert last_mark in section_and_after, f"section {name} of the document does not end"
    _, _, after = section_and_after.partition(last_mark)
    return "\n".join([f"{before}{first_mark}", *lines, f"{last_mark}{after}"])


def write_section(path: Path, name: str, lines: Iterable[str]) -> None:
    """Replace the lines of a section of a file."""
    text = path.read_text(encoding="utf-8")
    path.write_text(replace_section(text, name, lines), encoding="utf-8")
