"""Each term of the glossary has an owner, and modules begin with its words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "matchrec").rglob("*.py"))


class Entry(NamedTuple):
    """A line of the glossary."""

    term: str
    meaning: str
    source: str
    owner: str
    unused: tuple[str, ...]


def read_entries() -> list[Entry]:
    """Return the rows of all tables of the page, without the two lines at the top of each."""
    page = ROOT / "docs" / "contributing" / "glossary.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    return [
        Entry(term, meaning, source, owner.strip("`"), tuple(filter(None, unused.split(", "))))
        for term, meaning, source, owner, unused in rows
        if term not in ("term", "---")
    ]


@pytest.mark.parametrize("entry", read_entries(), ids=lambda entry: entry.term)
def test_a_term_has_one_sentence_a_source_and_an_owner(entry: Entry) -> None:
    assert re.fullmatch(r"[A-Z].*[^.]\.", entry.meaning)
    assert entry.source in ("standard", "SASE+", "Flink", "ours")
    assert (ROOT / "matchrec" / entry.owner).is_file()


def test_the_glossary_has_each_term_once() -> None:
    terms = [entry.term for entry in read_entries()]
    assert len(terms) == len(set(terms))


def test_modules_do_not_begin_with_unused_words() -> None:
    unused = "|".join(re.escape(word.lower()) for entry in read_entries() for word in entry.unused)
    for module in MODULES:
        first = module.read_text(encoding="utf-8").split("\n")[0].lower()
        assert first.startswith('"""'), module
        assert not re.search(rf"\b({unused})\b", first), module
