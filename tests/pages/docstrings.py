r"""Docstrings as the site shows them, for mkdocstrings: parameters as a list, examples as code.

>>> print(as_markdown("The sum.\n\na: one. b, c: the others.\n\nCounts.", ("a", "b", "c")))
The sum.
<BLANKLINE>
- **`a`**: one.
- **`b, c`**: the others.
<BLANKLINE>
Counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from griffe import Class, Extension, Function, Object


class Docstrings(Extension):
    """What mkdocstrings calls for every class and function."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Puts Markdown in place of a docstring."""
        if obj.docstring is not None and isinstance(obj, Class | Function):
            fields = obj.members if isinstance(obj, Class) else [one.name for one in obj.parameters]
            names = [name.removeprefix("*").removeprefix("*") for name in fields]
            obj.docstring.value = as_markdown(obj.docstring.value, names)


def as_markdown(docstring: str, names: Collection[str]) -> str:
    """A docstring of a function with parameters, or of a class with fields, of these names."""
    name = rf"(?:{'|'.join(names)})(?:\(\w+\)| \"\w+\")?" if names else "(?!)"
    named = re.compile(rf"(?:^|(?<=\.\s))({name}(?:, {name})*): ")
    return "\n\n".join(_paragraph(one, named) for one in docstring.split("\n\n"))


def _paragraph(text: str, named: re.Pattern[str]) -> str:
    if text.startswith(">>>"):
        return "```pycon\n" + text.replace("<BLANKLINE>", "") + "\n```"
    before, *items = named.split(text)
    lines = "\n".join(_items(items))
    return f"{before.rstrip()}\n\n{lines}".strip() if lines else text


def _items(found: list[str]) -> Iterator[str]:
    """Items of a list, from names and texts in turn."""
    for names, text in zip(found[::2], found[1::2], strict=True):
        yield f"- **`{names}`**: {' '.join(text.split())}"
