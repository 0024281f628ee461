"""Tables as Markdown that also reads well on a terminal, and sections of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

Row = Sequence[str]


def format_table(head: Row, rows: Iterable[Row], words: int = 1) -> Iterator[str]:
    """Yield the lines of a Markdown table.

    Args:
        head: the headings of the columns.
        rows: the cells of each row.
        words: how many columns from the left are text, aligned left; figures are aligned right.
    """
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]

    def format_line(cells: Row) -> str:
        padded = (
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    yield format_line(lines[0])
    marks = (
        "-" * (width + 1) + ("-" if column < words else ":") for column, width in enumerate(widths)
    )
    yield f"|{'|'.join(marks)}|"
    yield from map(format_line, lines[1:])


def replace_section(text: str, name: str, lines: Iterable[str]) -> str:
    """Return the document with other lines between the marks of a section.

    >>> with_section("<!-- a -->\\nold\\n<!-- end a -->", "a", ["new"])
    '<!-- a -->\\nnew\\n<!-- end a -->'
    """
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    before, begin_mark, rest = text.partition(begin)
    _, end_mark, after = rest.partition(end)
    assert begin_mark, f"the document has no section {name}"
    assert end_mark, f"section {name} of the document does not end"
    return f"{before}{begin}\n" + "".join(f"{line}\n" for line in lines) + f"{end}{after}"


def write_section(path: Path, name: str, lines: Iterable[str]) -> None:
    """Replace the lines of a section of a file."""
    text = path.read_text(encoding="utf-8")
    path.write_text(replace_section(text, name, lines), encoding="utf-8")
