"""Read the fenced blocks of a page, each with its output."""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A fenced block, and its output if the page shows it."""

    language: str
    code: str
    printed: str | None
    end: int  # the position of its end in the page


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that run, each with its output.

    A text block is the output of the block directly before it. After several sql blocks in a row,
    which write one query in several ways, it is the output of each of them.

    Signatures (py) and the examples of docstrings (pycon) are left out: another test runs them.
    """
    text = page.read_text(encoding="utf-8")
    matches = list(BLOCK.finditer(text))
    result: list[Block] = []
    printed: str | None = None
    for match, after in reversed(list(zip_longest(matches, matches[1:]))):
        if after is None or text[match.end() : after.start()].strip():
            printed = None
        elif after[1] == "text":
            printed = after[2]
        elif (match[1], after[1]) != ("sql", "sql"):
            printed = None
        if match[1] not in ("text", "py", "pycon"):
            result.insert(0, Block(match[1], match[2], printed, match.end()))
    return result
