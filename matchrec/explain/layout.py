"""Lay out texts: titles above indented lines, clauses below their numbers, and shortened lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import indent
from typing import NamedTuple

# The number of states that are listed.
MAX_STATES = 20


class ExplainedSection(NamedTuple):
    """A section of an explanation."""

    title: str
    lines: Iterable[str]  # can be read only once; a line can contain line breaks


def join_sections(sections: Iterable[ExplainedSection]) -> str:
    """Return sections as text: each title, and below it the lines, indented.

    A section without lines does not appear.

    >>> window = ExplainedSection("window", ["4 rows"])
    >>> print(join_sections([window, ExplainedSection("stream", [])]))
    window
      4 rows
    """
    section_texts = []
    for title, lines in sections:
        text = "\n".join(lines)
        if text:
            section_texts.append(f"{title}\n{indent(text, '  ')}")
    return "\n".join(section_texts)


def join_clauses(clauses: Mapping[int, str]) -> str:
    """Return the texts of clauses, each below its number. A single clause has no number."""
    if len(clauses) == 1:
        return next(iter(clauses.values()))
    texts = (f"clause {number}\n{indent(text, '  ')}" for number, text in clauses.items())
    return "\n\n".join(texts)


def limit_lines(texts: Iterable[str], more: str) -> Iterator[str]:
    """Yield the first MAX_STATES texts of a list of states, then how many more there are.

    A loop with a counter has as many states as it counts, so there can be thousands.

    Args:
        texts: a text for each state.
        more: the words after the number of states that are left out.
    """
    all_texts = list(texts)
    yield from all_texts[:MAX_STATES]
    if len(all_texts) > MAX_STATES:
        yield f"... {len(all_texts) - MAX_STATES:,} {more}"
