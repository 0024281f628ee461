"""What Sail says against a query, in Spark's words: a name of the condition, a name, a place."""

from __future__ import annotations

import re

NAMED = r"(?:ObjectName\(\[(?P<parts>[^\]]*)\]\)|`?(?P<name>[\w.]+)`?)"
SAID = {
    rf"attribute {NAMED} is missing": "UNRESOLVED_COLUMN",
    rf"ambiguous attribute: {NAMED}": "AMBIGUOUS_REFERENCE",
    rf"unknown function: {NAMED}": "UNRESOLVED_ROUTINE",
    rf"Table or view not found: {NAMED}": "TABLE_OR_VIEW_NOT_FOUND",
}
"""What Sail says of a name, and Spark's name for that."""


def condition_of(said: str) -> tuple[str, str] | None:
    """Spark's condition and the name that a refusal of Sail's is about; None of other text.

    >>> condition_of('attribute ObjectName([Identifier("A"), Identifier("x")]) is missing from')
    ('UNRESOLVED_COLUMN', 'A.x')
    >>> condition_of("unknown function: uper")
    ('UNRESOLVED_ROUTINE', 'uper')
    """
    for pattern, condition in SAID.items():
        found = re.search(pattern, said)
        if found is not None:
            parts = re.findall(r'Identifier\("([^"]*)"\)', found["parts"] or "")
            return condition, ".".join(parts) or found["name"]
    return None


SYNTAX = re.compile(r"found (?P<word>.+?) at (?P<start>\d+):(?P<end>\d+) expected .*", re.DOTALL)
"""What its parser says: a word, its characters, and a long list of what might stand there."""


def place_of(said: str) -> tuple[int, int] | None:
    """The characters of a text that Sail's parser stumbles over."""
    found = SYNTAX.search(said)
    return (int(found["start"]), int(found["end"])) if found else None


def sentence_of(said: str) -> str:
    """A refusal as Spark would begin it; text that is none of Sail's as it is.

    >>> sentence_of("invalid argument: found FROM at 0:4 expected 'SELECT', or '('")
    "Syntax error at or near 'FROM'"
    """
    found = SYNTAX.search(said)
    if found is not None:
        return f"Syntax error at or near '{found['word']}'"
    return said.removeprefix("invalid argument: ")
