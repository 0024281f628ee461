"""Tables as Markdown that also reads well on a terminal, and sections of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

Row = Sequence[str]


def table(head: Row, rows: Iterable[Row], words: int = 1) -> Iterator[str]:
    """A Markdown table. words: how many columns from the left are text; the others are figures."""
    lines = [[cell.replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]

    def line(cells: Row) -> str:
        padded = (
            cell.ljust(width) if place < words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    yield line(lines[0])
    marks = (
        "-" * (width + 1) + ("-" if place < words else ":") for place, width in enumerate(widths)
    )
    yield f"|{'|'.join(marks)}|"
    yield from map(line, lines[1:])


def with_section(text: str, name: str, lines: Iterable[str]) -> str:
    """The document with other lines between the marks of a section.

    >>> with_section("<!-- a -->\\nold\\n<!-- end a -->", "a", ["new"])
    '<!-- a -->\\nnew\\n<!-- end a -->'
    """
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    assert found, f"the document has no section {name}"
    assert closed, f"section {name} of the document does not end"
    return f"{before}{begin}\n" + "".join(f"{line}\n" for line in lines) + f"{end}{after}"


def write_section(path: Path, name: str, lines: Iterable[str]) -> None:
    """Writes a section of a file."""
    text = path.read_text(encoding="utf-8")
    path.write_text(with_section(text, name, lines), encoding="utf-8")
