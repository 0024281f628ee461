r"""Docstrings as the site shows them, for mkdocstrings: parameters as a list, examples as code.

Sections are those of the Google style:

>>> print(as_markdown("Add numbers.\n\nArgs:\n    a: the first.\n    b: all the\n        others."))
Add numbers.
<BLANKLINE>
**Args:**
<BLANKLINE>
- **`a`**: the first.
- **`b`**: all the others.

>>> print(as_markdown("Add numbers.\n\nReturns:\n    The sum."))
Add numbers.
<BLANKLINE>
**Returns:** The sum.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

from griffe import Class, Extension, Function, Object

SECTION = re.compile(r"(?P<title>Args|Attributes|Returns|Raises):\n(?P<content>.*)", re.S)
ITEM = re.compile(r"^(?P<name>\w+): ", re.M)  # further lines of an item are indented


class Docstrings(Extension):
    """What mkdocstrings calls for every class and function."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Puts Markdown in place of a docstring."""
        if obj.docstring is not None and isinstance(obj, Class | Function):
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """Return a docstring in the Google style as Markdown."""
    return "\n\n".join(_paragraph(paragraph) for paragraph in docstring.split("\n\n"))


def _paragraph(text: str) -> str:
    if text.startswith(">>>"):
        return "```pycon\n" + text.replace("<BLANKLINE>", "") + "\n```"
    section = SECTION.fullmatch(text)
    return text if section is None else _section(section["title"], dedent(section["content"]))


def _section(title: str, content: str) -> str:
    """Return a section: a list of what it names, or its sentence."""
    before, *items = ITEM.split(content)
    if before:
        return f"**{title}:** {' '.join(content.split())}"
    lines = [
        f"- **`{name}`**: {' '.join(text.split())}"
        for name, text in zip(items[::2], items[1::2], strict=True)
    ]
    return "\n".join([f"**{title}:**", "", *lines])
