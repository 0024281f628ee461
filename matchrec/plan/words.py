"""Lists of SQL words, such as the reserved words. They are read from `words.txt`."""

from __future__ import annotations

from matchrec.source import read_package_table


def _read_lists() -> dict[str, set[str]]:
    """Return the words of each list in `words.txt`, by the name of the list.

    A list may have several lines in the file.
    """
    lists: dict[str, set[str]] = {}
    for list_name, words in read_package_table("matchrec.plan", "words.txt"):
        lists.setdefault(list_name, set()).update(words.split())
    return lists


_LISTS = _read_lists()


def read_words(list_name: str) -> frozenset[str]:
    """Return the words of a list in `words.txt`.

    All words are in upper case, except names of our own operators, such as `chain`.

    >>> sorted(read_words("CONSTANT CALL"))[:3]
    ['ARRAY', 'CURDATE', 'CURRENT_CATALOG']
    """
    return frozenset(_LISTS[list_name])


# Lists that several modules need. A comment at each list in `words.txt` says what is in it.
RESERVED = read_words("RESERVED")
CURRENT_VALUES = read_words("CURRENT VALUE")
NONDETERMINISTIC = read_words("NONDETERMINISTIC")
NO_ALIAS_OF_SAIL = read_words("NO ALIAS OF SAIL")


def is_reserved(word: str) -> bool:
    """Return whether a word, in any case, needs quotes to be the name of a pattern variable."""
    return word.upper() in RESERVED
