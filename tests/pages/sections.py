r"""Docstrings in the Google style as Markdown, for the pages of the reference.

The arguments become a list, with their types and defaults, and the examples become code:

>>> print(as_markdown("Add numbers.\n\nArgs:\n    a: the first.\n    b: all the\n        others."))
Add numbers.
<BLANKLINE>
**Arguments:**
<BLANKLINE>
- `a`: the first.
- `b`: all the others.

>>> print(as_markdown("Add numbers.\n\nReturns:\n    The sum."))
Add numbers.
<BLANKLINE>
**Returns:** The sum.

>>> one = {"b": Value("int", "2")}
>>> print(as_markdown("Args:\n    b: the second.", one))
**Arguments:**
<BLANKLINE>
- `b` (`int`, default `2`): the second.

The path of a page of the reference becomes a link:

>>> print(as_markdown("docs/reference/error_codes.md lists all codes."))
[Error codes](error_codes.md) lists all codes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

REFERENCE = Path(__file__).parent.parent.parent / "docs" / "reference"
PAGE_PATH = re.compile(r"\bdocs/reference/(\w+\.md)\b")
SECTION = re.compile(r"(?P<title>Args|Attributes|Returns|Raises):\n(?P<content>.*)", re.S)
ITEM = re.compile(r"^(?P<name>\w+): ", re.M)  # other lines of an item are indented
TITLES = {"Args": "Arguments"}  # titles of sections that differ from the docstring


class Value(NamedTuple):
    """The type and the default of an argument or attribute, as the source writes them."""

    type: str | None = None
    default: str | None = None

    def __str__(self) -> str:
        """Return the text after the name in a list, such as " (`int`, default `2`)"."""
        parts = [
            f"`{self.type}`" if self.type else "",
            self.default and f"default `{self.default}`",
        ]
        text = ", ".join(part for part in parts if part)
        return f" ({text})" if text else ""


def as_markdown(docstring: str, values: Mapping[str, Value] | None = None) -> str:
    """Return a docstring in the Google style as Markdown.

    Args:
        docstring: the text, without indentation.
        values: for each argument or attribute, its type and default.
    """
    paragraphs = docstring.strip().split("\n\n")
    markdown = "\n\n".join(_paragraph(paragraph, values or {}) for paragraph in paragraphs)
    return _link_pages(markdown)


def _paragraph(text: str, values: Mapping[str, Value]) -> str:
    """Return one paragraph of a docstring as Markdown: a section, an example or plain text."""
    if text.startswith(">>>"):
        return "```pycon\n" + text.replace("<BLANKLINE>", "") + "\n```"
    section = SECTION.fullmatch(text)
    return text if section is None else _section(section["title"], section["content"], values)


def _link_pages(text: str) -> str:
    """Return a text with a link, as from a page of the reference, for each path of such a page."""
    return PAGE_PATH.sub(lambda path: f"[{read_title(path[1])}]({path[1]})", text)


def read_title(page: str) -> str:
    """Return the title of a page of the reference."""
    first_line, *_ = (REFERENCE / page).read_text(encoding="utf-8").splitlines()
    return first_line.removeprefix("# ")


def _section(title: str, content: str, values: Mapping[str, Value]) -> str:
    """Return a section of a docstring as Markdown: a list of its items, or its sentence."""
    before, *items = ITEM.split(dedent(content))
    heading = f"**{TITLES.get(title, title)}:**"
    if before:
        return f"{heading} {' '.join(content.split())}"
    lines = [
        f"- `{name}`{values.get(name, Value())}: {' '.join(text.split())}"
        for name, text in zip(items[::2], items[1::2], strict=True)
    ]
    return "\n".join([heading, "", *lines])
