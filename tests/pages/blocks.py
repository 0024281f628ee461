"""The fenced blocks of a page, each with what it prints."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A fenced block, and what it prints if the page says so."""

    language: str
    code: str
    printed: str | None
    end: int  # where the block ends in the page


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that run, each with what it prints.

    A text block is what the block right before it prints. After several sql blocks in a row, which
    write one query in several ways, it is what each of them prints.

    Left out are signatures (py), and the examples of docstrings (pycon), which another test runs.
    """
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    result: list[Block] = []
    printed: str | None = None
    for match, after in reversed(list(zip_longest(found, found[1:]))):
        if after is None or text[match.end() : after.start()].strip():
            printed = None
        elif after[1] == "text":
            printed = after[2]
        elif (match[1], after[1]) != ("sql", "sql"):
            printed = None
        if match[1] not in ("text", "py", "pycon"):
            result.insert(0, Block(match[1], match[2], printed, match.end()))
    return result
