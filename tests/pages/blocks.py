"""Read the fenced blocks of a page, each with its output."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
READ_FOLDERS = ("docs", "sql_examples")  # blocks read files of the clone in these folders

BLOCK = re.compile(
    r'^```(?P<language>\w*)(?: title="(?P<title>[^"\n]+)")?\n(?P<code>.*?)^```$', re.M | re.S
)


class Block(NamedTuple):
    """A fenced block, and its output if the page shows it."""

    language: str
    code: str
    printed: str | None
    end: int  # the position of its end in the page


@contextmanager
def enter_temporary_clone() -> Iterator[None]:
    """Change to a temporary folder with the files of a clone that blocks read.

    Some blocks write files, such as pictures, to the current folder. So these files do not end up
    in the repository.
    """
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        for name in READ_FOLDERS:
            Path(folder, name).symlink_to(ROOT / name, target_is_directory=True)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that run, each with its output.

    A text block is the output of the block directly before it. After several sql blocks in a row,
    which write one query in several ways, it is the output of each of them.

    Signatures (py) and the examples of docstrings (pycon) are left out: another test runs them.
    Blocks with a title are left out, too: `read_files` returns them.
    """
    text = page.read_text(encoding="utf-8")
    matches = list(BLOCK.finditer(text))
    result: list[Block] = []
    printed: str | None = None
    for match, after in reversed(list(zip_longest(matches, matches[1:]))):
        if after is None or text[match.end() : after.start()].strip():
            printed = None
        elif after["language"] == "text":
            printed = after["code"]
        elif (match["language"], after["language"]) != ("sql", "sql"):
            printed = None
        if match["title"] is None and match["language"] not in ("text", "py", "pycon"):
            result.insert(0, Block(match["language"], match["code"], printed, match.end()))
    return result


def read_files(page: Path) -> dict[str, str]:
    """Return the blocks of a page with a title, which is the name of a file or a place.

    Blocks with one title are parts of one file.
    """
    files: dict[str, str] = {}
    for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if match["title"] is not None:
            files[match["title"]] = files.get(match["title"], "") + match["code"]
    return files
